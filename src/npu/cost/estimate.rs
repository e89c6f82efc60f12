//! How far a predicted time may be off: 80 % intervals by class of kernel.

use std::collections::BTreeMap;

use serde::Serialize;

use super::program::cost;
use super::rows::{Row, predict};
use crate::npu::array::Array;
use crate::npu::class::{Class, class_of};
use crate::npu::program::{Launch, Program, Scope, Work};

/// A predicted time in microseconds, with the interval that eight of ten measurements would hit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    pub us: f64,
    pub low_us: f64,
    pub high_us: f64,
    /// A launch lies outside the sizes that were measured: the interval is a guess.
    pub extrapolated: bool,
}

/// What the host does was published in round figures, from one or two networks: calls and copies
/// were given as 60 to 145 µs and as 16 to 20 GB/s.
const HOST: f64 = 0.2;

/// Of a class that nobody measured.
const UNKNOWN: Half = Half { low: 0.35, high: 0.35 };

/// Half-widths as shares of the time.
#[derive(Clone, Copy)]
struct Half {
    low: f64,
    high: f64,
}

impl Half {
    fn of(class: Option<&Class>) -> Self {
        class.map_or(UNKNOWN, |class| Self {
            low: (1.0 - class.low.exp()).max(0.0),
            high: (class.high.exp() - 1.0).max(0.0),
        })
    }
}

/// Of one row of a table.
pub fn estimate_row(row: &Row, array: &Array) -> Estimate {
    let us = predict(row, array);
    let class = array.classes.get(class_of(&row.launch.kernel));
    let half = Half::of(class);
    Estimate {
        us,
        low_us: us * (1.0 - half.low),
        high_us: us * (1.0 + half.high),
        extrapolated: class.is_none_or(|class| !class.holds(&row.launch)),
    }
}

/// Of one call of a program. Launches of one class are off together, classes by themselves.
pub fn estimate(program: &Program, array: &Array, context: usize) -> Estimate {
    let parts = parts(program, array, context);
    let (mut low, mut high, mut us) = (0.0, 0.0, 0.0);
    for (class, part) in &parts.time {
        let half = half(class, array);
        us += part;
        low += (part * half.low).powi(2);
        high += (part * half.high).powi(2);
    }
    let (low_us, high_us) = (us - f64::sqrt(low), us + f64::sqrt(high));
    Estimate { us, low_us, high_us, extrapolated: parts.extrapolated }
}

/// What a change of a program saves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gain {
    pub us: f64,
    /// Half-width of the 80 % interval of the difference. What both programs do alike cancels out.
    pub half_us: f64,
}

impl Gain {
    /// Whether the difference is larger than what the prediction may be off by.
    pub fn is_resolvable(&self) -> bool {
        self.us.abs() > self.half_us
    }
}

/// The difference of two programs: positive where `after` is faster.
pub fn gain(before: &Program, after: &Program, array: &Array, context: usize) -> Gain {
    let (was, is) = (parts(before, array, context), parts(after, array, context));
    // A launch that both have is off by the same in both; one that only one has is off by itself.
    let mut left: BTreeMap<&String, (&Timed, f64)> = BTreeMap::new();
    for (parts, sign) in [(&was, 1.0), (&is, -1.0)] {
        for (key, timed) in &parts.launches {
            left.entry(key).or_insert((timed, 0.0)).1 += sign * timed.count;
        }
    }
    let mut square = 0.0;
    for (timed, count) in left.into_values() {
        let half = half(timed.class, array);
        square += (count * timed.us * half.low.max(half.high)).powi(2);
    }
    let host = was.time.get("").copied().unwrap_or(0.0) - is.time.get("").copied().unwrap_or(0.0);
    square += (host * HOST).powi(2);
    let total = |parts: &Parts| parts.time.values().sum::<f64>();
    Gain { us: total(&was) - total(&is), half_us: square.sqrt() }
}

fn half(class: &str, array: &Array) -> Half {
    if class.is_empty() {
        return Half { low: HOST, high: HOST };
    }
    Half::of(array.classes.get(class))
}

/// The time of a program by class; that of the host, of calls and of copies under no name.
#[derive(Default)]
struct Parts {
    time: BTreeMap<&'static str, f64>,
    launches: BTreeMap<String, Timed>,
    extrapolated: bool,
}

/// One launch, and how often it runs.
struct Timed {
    class: &'static str,
    us: f64,
    count: f64,
}

fn parts(program: &Program, array: &Array, context: usize) -> Parts {
    let profile = cost(program, array, context);
    let mut parts = Parts::default();
    for (dispatch, step) in program.dispatches.iter().zip(&profile.steps) {
        let times = if step.scope == Scope::Layer { program.layers } else { 1 } as f64;
        let launches: &[Launch] = match &dispatch.work {
            Work::Launches(launches) => launches,
            Work::Host(_) => &[],
        };
        let mut on_array = 0.0;
        for (launch, timed) in launches.iter().zip(&step.kernels) {
            let class = class_of(&launch.kernel);
            let us = timed.total_us();
            on_array += us;
            *parts.time.entry(class).or_default() += us * times;
            let known = array.classes.get(class);
            parts.extrapolated |= known.is_none_or(|class| !class.holds(launch));
            let key = format!("{:?} {:?} {:?}", launch.kernel, launch.tile, launch.herd);
            let entry = parts.launches.entry(key).or_insert(Timed { class, us, count: 0.0 });
            entry.count += times;
        }
        *parts.time.entry("").or_default() += (step.cost.total() - on_array) * times;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Stage, published};
    use crate::npu::lower::{Outline, lower};
    use crate::npu::structure::structured;

    fn programs() -> [Program; 2] {
        let outline = Outline::new("llama-3.2-1b", &published("llama-3.2-1b").unwrap());
        let array = Array::xdna2();
        let naive = lower(&outline, &array, Stage::Prefill, 2048, 2048).0;
        [naive, structured(&outline, &array, Stage::Prefill, 2048, 2048).unwrap()]
    }

    #[test]
    fn an_interval_holds_its_time_and_is_narrower_than_its_widest_class() {
        let array = Array::xdna2();
        for program in programs() {
            let whole = estimate(&program, &array, 64);
            let us = cost(&program, &array, 64).total_us();
            assert!((whole.us / us - 1.0).abs() < 1e-9);
            assert!(whole.low_us < us && us < whole.high_us && whole.low_us > 0.6 * us);
        }
    }

    #[test]
    fn what_stays_the_same_is_no_doubt() {
        let array = Array::xdna2();
        let [naive, tuned] = programs();
        let none = gain(&naive, &naive, &array, 64);
        assert_eq!((none.us, none.half_us), (0.0, 0.0));
        assert!(!none.is_resolvable());
        let much = gain(&naive, &tuned, &array, 64);
        assert!(much.is_resolvable() && much.us > 0.0);
        assert!((gain(&tuned, &naive, &array, 64).us + much.us).abs() < 1e-6);
    }
}
