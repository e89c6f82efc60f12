//! Phase 1: programs that the array accepts, and kernels that compute what they say.

use crate::base::Finding;
use crate::model::Stage;
use crate::npu::{Kernel, check};
use crate::pipeline::case::Case;
use crate::pipeline::evidence::{Alone, kernel_name, kernels_of};
use crate::pipeline::gate::Judgement;
use crate::pipeline::metric::{Bound, hard, recorded};
use crate::pipeline::probe::{Probe, probes};
use crate::tensor::Comparison;

pub(super) fn legality(case: &Case) -> Judgement {
    let deployment = &case.sources().deployment;
    let mut judgement = Judgement::default();
    for stage in Stage::ALL {
        let program = match deployment.program(stage) {
            Ok(program) => program,
            Err(why) => return Judgement::failed(why),
        };
        judgement.cases += program.dispatches.len();
        judgement.findings.extend(check(program, &deployment.array));
        let expected = match (stage, deployment.model()) {
            (_, Err(why)) => return Judgement::failed(why),
            (Stage::Prefill, Ok(model)) => (model.config.layers, deployment.settings.seq),
            (Stage::Decode, Ok(model)) => (model.config.layers, 1),
        };
        let fits = (program.layers, program.seq) == expected && program.stage == stage;
        if !fits || program.capacity < deployment.capacity() {
            let (layers, seq) = expected;
            let words = format!(
                "{} layers of {} tokens with room for {}; the deployment is {layers} layers of \
                 {seq} tokens with room for {}",
                program.layers,
                program.seq,
                program.capacity,
                deployment.capacity()
            );
            let place = format!("program/{stage}.toml");
            judgement.findings.push(Finding::error(place, words).rule("deployment"));
        }
    }
    let errors: Vec<&Finding> = judgement.findings.iter().filter(|f| f.is_error()).collect();
    judgement.metrics = vec![
        hard("errors", errors.len() as f64, Bound::Exactly(0.0)),
        recorded("warnings", (judgement.findings.len() - errors.len()) as f64),
    ];
    judgement.headline = match errors.first() {
        None => format!("{} dispatches, none breaks a rule", judgement.cases),
        Some(first) => format!("{} at {}: {}", first.rule, first.place, first.message),
    };
    judgement
}

pub(super) fn kernel(case: &Case) -> Judgement {
    let all = match case.kernels() {
        Ok(all) => all,
        Err(why) => return Judgement::failed(why),
    };
    let mut judgement = Judgement { cases: all.len(), ..Judgement::default() };
    let mut one_sided = 0;
    for alone in all.iter() {
        let compared = Comparison::of(&alone.expected, &alone.got);
        let device = Comparison::with_worst(&alone.expected, &alone.emulated, 0).mean_rel_l1;
        // A share that is no number is beyond: only what is within is asked for.
        let within = |at: &usize| alone.share(*at) <= 1.0;
        let beyond = (0..alone.expected.len()).filter(|at| !within(at)).count();
        judgement.findings.extend(furthest(alone));
        let pearson = match alone.kernel {
            Kernel::FlashAttention { .. } => 0.99,
            _ => 0.999,
        };
        let band = match alone.band {
            Some(band) if alone.is_two_sided() => {
                Bound::Within(device * (1.0 - band), device * (1.0 + band))
            }
            Some(band) => Bound::AtMost(device * (1.0 + band)),
            None => Bound::AtMost((2.0 * device).max(1e-5)),
        };
        one_sided += usize::from(!alone.is_two_sided());
        let name = &alone.name;
        judgement.metrics.extend([
            hard(format!("beyond_tolerance.{name}"), beyond as f64, Bound::Exactly(0.0)),
            hard(format!("pearson.{name}"), compared.pearson, Bound::AtLeast(pearson)),
            hard(format!("mean_rel_l1.{name}"), compared.mean_rel_l1, band),
            hard(format!("non_finite.{name}"), compared.non_finite as f64, Bound::Exactly(0.0)),
        ]);
        if let Some(published) = alone.kernel.published_error() {
            judgement.metrics.push(recorded(format!("published_mean_rel_l1.{name}"), published));
        }
    }
    judgement.headline = match judgement.weakest() {
        _ if all.is_empty() => "no kernel was judged".into(),
        Some(weakest) => format!(
            "{} kernels and shapes alone; the closest call is {}: {:.3e}, asked {}",
            all.len(),
            weakest.name,
            weakest.measured,
            weakest.threshold
        ),
        None => "no kernel was judged".into(),
    };
    judgement.note("one_sided", one_sided.to_string())
}

/// The element that is furthest beyond its tolerance, beside what the published rounding gives.
fn furthest(alone: &Alone) -> Option<Finding> {
    let shares = (0..alone.expected.len()).map(|at| (at, alone.share(at)));
    let (at, share) =
        shares.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, share)| *share > 1.0)?;
    let (row, column) = (at / alone.width.max(1), at % alone.width.max(1));
    let (expected, got, emulated) = (alone.expected[at], alone.got[at], alone.emulated[at]);
    let words = format!(
        "row {row}, column {column}: expected {expected:.5}, got {got:.5}, by the published \
         rounding {emulated:.5}: {share:.2} times what it may be off"
    );
    Some(Finding::note(alone.name.clone(), words).rule("kernel-tolerance"))
}

pub(super) fn probe(case: &Case) -> Judgement {
    let deployment = &case.sources().deployment;
    let mut judgement = Judgement::default();
    let (mut done, mut wrong): (usize, Vec<String>) = (0, Vec::new());
    for stage in Stage::ALL {
        let program = match deployment.program(stage) {
            Ok(program) => program,
            Err(why) => return Judgement::failed(why),
        };
        for kernel in kernels_of(program) {
            for probe in probes(&kernel, case.seed()) {
                let Probe { name, .. } = &probe;
                let name = format!("{name}.{}", kernel_name(&kernel));
                match probe.run(&kernel) {
                    Ok(0) => {}
                    Ok(count) => wrong.push(format!("{name}: {count} elements")),
                    Err(why) => return Judgement::failed(format!("{name}: {why}")),
                }
                done += 1;
            }
        }
    }
    judgement.cases = done;
    judgement.metrics = vec![hard("inexact", wrong.len() as f64, Bound::Exactly(0.0))];
    judgement.headline = match wrong.first() {
        None => format!("{done} probes came back bit for bit"),
        Some(first) => format!("{} of {done} probes are off, the first is {first}", wrong.len()),
    };
    judgement
}
