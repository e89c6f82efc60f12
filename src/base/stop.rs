//! Cooperative cancellation: work looks at a `Stop`, and dropping its guard stops the work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Handed to work, which looks at it now and then. One without a guard is never wanted.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

/// Kept by whoever waits for the work: dropping it is the only way to stop that work.
#[derive(Debug)]
#[must_use = "dropped at once, it stops the work before it starts"]
pub struct StopGuard(Arc<AtomicBool>);

impl Stop {
    /// A stop that nobody will ever want.
    pub fn never() -> Self {
        Self::default()
    }

    pub fn guarded() -> (StopGuard, Self) {
        let wanted = Arc::new(AtomicBool::new(false));
        (StopGuard(Arc::clone(&wanted)), Self(wanted))
    }

    pub fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_the_guard_stops_every_clone() {
        let (guard, stop) = Stop::guarded();
        let clone = stop.clone();
        assert!(!stop.is_wanted());
        drop(guard);
        assert!(stop.is_wanted() && clone.is_wanted());
    }
}
