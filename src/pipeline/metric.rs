//! One number beside its threshold, and how far the claim holds beyond it.

use crate::session::Metric;

/// What is asked of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound {
    AtLeast(f64),
    AtMost(f64),
    Below(f64),
    Exactly(f64),
    Within(f64, f64),
}

impl Bound {
    /// At least 0 if the bound holds, in units of the threshold; 0 on it.
    pub(super) fn margin(self, measured: f64) -> f64 {
        let unit = |threshold: f64| if threshold == 0.0 { 1.0 } else { threshold.abs() };
        match self {
            Self::AtLeast(least) => (measured - least) / unit(least),
            Self::AtMost(most) => (most - measured) / unit(most),
            Self::Below(most) => match (most - measured) / unit(most) {
                0.0 => -f64::EPSILON,
                margin => margin,
            },
            Self::Exactly(value) => -((measured - value).abs() / unit(value)),
            Self::Within(least, most) => {
                Self::AtLeast(least).margin(measured).min(Self::AtMost(most).margin(measured))
            }
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            Self::AtLeast(least) => format!(">= {least}"),
            Self::AtMost(most) => format!("<= {most}"),
            Self::Below(most) => format!("< {most}"),
            Self::Exactly(value) => format!("== {value}"),
            Self::Within(least, most) => format!("in [{least}, {most}]"),
        }
    }
}

/// A number that is judged.
pub(super) fn hard(name: impl Into<String>, measured: f64, bound: Bound) -> Metric {
    // `f64::min` forgets a NaN: what is not a number has no margin, whatever the bound.
    let margin = if measured.is_nan() { f64::NAN } else { bound.margin(measured) };
    Metric { name: name.into(), measured, threshold: bound.text(), margin, hard: true }
}

/// A number that is recorded beside a bound that does not decide.
pub(super) fn soft(name: impl Into<String>, measured: f64, bound: Bound) -> Metric {
    Metric { hard: false, ..hard(name, measured, bound) }
}

/// A number without a bound.
pub(super) fn recorded(name: impl Into<String>, measured: f64) -> Metric {
    Metric { name: name.into(), measured, threshold: String::new(), margin: 0.0, hard: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_negative_exactly_where_the_bound_breaks() {
        let check = |bound: Bound, measured: f64, holds: bool| {
            assert_eq!(hard("x", measured, bound).margin >= 0.0, holds, "{bound:?} {measured}");
        };
        check(Bound::AtLeast(0.99), 0.99, true);
        check(Bound::AtLeast(0.99), 0.9899, false);
        check(Bound::AtMost(0.6), 0.7, false);
        check(Bound::Below(5.0), 5.0, false);
        check(Bound::Below(5.0), 4.9, true);
        check(Bound::Exactly(0.0), 0.0, true);
        check(Bound::Exactly(0.0), 1.0, false);
        check(Bound::Within(0.7, 1.5), 1.6, false);
        check(Bound::Within(0.7, 1.5), 0.7, true);
        for bound in [Bound::AtLeast(0.0), Bound::Within(0.0, 1.0), Bound::Exactly(0.0)] {
            check(bound, f64::NAN, false);
        }
    }
}
