//! Where a test may kill the process: named points that cost nothing unless one is armed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::finding::Finding;
use super::text::nearest;

/// Every moment at which losing the process must lose nothing, in the order in which they pass.
pub const POINTS: [&str; 9] = [
    "before-append",
    "append-torn",
    "append-sync",
    "sync-effect",
    "tool-write",
    "artifact-write",
    "artifact-fact",
    "document-replace",
    "judge",
];

/// The one armed point. A crash is a property of the process, so this is too; only `cli` arms it,
/// from `PILOTFISH_CRASH`, and only tests set that.
static ARMED: OnceLock<Armed> = OnceLock::new();

struct Armed {
    point: &'static str,
    /// How many times the point is still passed unharmed.
    left: AtomicU64,
}

/// Arms `point:n`: the process dies when it reaches the point for the n-th time, counted from 1.
pub fn arm(words: &str) -> Result<(), Finding> {
    let (name, count) = words.split_once(':').unwrap_or((words, "1"));
    let refuse =
        |message: String, hint: String| Err(Finding::error("PILOTFISH_CRASH", message).hint(hint));
    let Some(point) = POINTS.into_iter().find(|point| *point == name) else {
        let near = nearest(name, POINTS).unwrap_or(POINTS[0]);
        return refuse(format!("there is no point `{name}`"), format!("did you mean `{near}`?"));
    };
    let Some(count) = count.parse::<u64>().ok().filter(|count| *count > 0) else {
        return refuse(format!("`{count}` is not a count"), "write `point:n`, n from 1".into());
    };
    let _ = ARMED.set(Armed { point, left: AtomicU64::new(count - 1) });
    Ok(())
}

/// Dies here, without unwinding or flushing, if this is the moment.
pub fn reach(point: &str) {
    reach_after(point, || ());
}

/// As [`reach`], doing the damage first: half a line written, for one.
pub fn reach_after(point: &str, damage: impl FnOnce()) {
    debug_assert!(POINTS.contains(&point), "`{point}` is not a known point");
    let Some(armed) = ARMED.get().filter(|armed| armed.point == point) else { return };
    let left = armed.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
    if left.is_err() {
        damage();
        std::process::abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_in_the_name_is_told() {
        let told = arm("append-sink:3").unwrap_err();
        assert_eq!(told.hint.as_deref(), Some("did you mean `append-sync`?"));
        assert!(arm("judge:0").is_err());
        assert!(arm("judge:x").is_err());
        reach("judge"); // Not armed: nothing happens.
    }
}
