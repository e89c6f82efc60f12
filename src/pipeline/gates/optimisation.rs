//! Phases 4 and 5: faster than before on the same workload, and not faster than possible.

use crate::pipeline::case::Case;
use crate::pipeline::gate::Judgement;
use crate::pipeline::metric::{Bound, hard, recorded};

pub(super) fn faster(case: &Case) -> Judgement {
    let times = match case.times(case.stage()) {
        Ok(Some(times)) => times,
        Ok(None) => return Judgement::failed("nothing was timed"),
        Err(why) => return Judgement::failed(why),
    };
    let (before, now) = (&times.baseline, &times.present);
    let same = f64::from(u8::from(before.workload == now.workload));
    let gain = before.time_us / now.time_us;
    let mut metrics = vec![
        hard("time_us", now.time_us, Bound::Below(before.time_us)),
        hard("of_floor", now.time_us / times.floor_us, Bound::AtLeast(1.0 - 1e-3)),
        hard("same_workload", same, Bound::Exactly(1.0)),
        recorded("baseline_us", before.time_us),
        recorded("floor_us", times.floor_us),
        recorded("times_faster", gain),
        recorded("dispatches_per_layer", now.dispatches_per_layer as f64),
        recorded("calibration_error_pct", times.error_percent),
    ];
    for (which, timed) in [("baseline", before), ("now", now)] {
        let parts = timed.parts.iter();
        metrics.extend(parts.map(|(part, us)| recorded(format!("{which}_{part}_us"), *us)));
    }
    let headline = format!(
        "{}: {:.3} ms predicted (± {} %), {gain:.2} times faster than {:.3} ms, floor {:.3} ms",
        times.stage,
        now.time_us / 1e3,
        times.error_percent,
        before.time_us / 1e3,
        times.floor_us / 1e3,
    );
    let judgement = Judgement { cases: 1, metrics, headline, ..Judgement::default() };
    judgement.note("workload", &now.workload).note("baseline", &before.workload)
}
