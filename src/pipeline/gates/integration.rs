//! Phase 6: the same input gives the same bytes, again and after other work.

use crate::model::Logits;
use crate::pipeline::case::Case;
use crate::pipeline::device::Device;
use crate::pipeline::evidence::told;
use crate::pipeline::gate::Judgement;
use crate::pipeline::metric::{Bound, hard};
use crate::pipeline::prompts::Prompt;
use crate::tensor::NoTap;

/// Tokens that are decoded on each run.
const STEPS: usize = 8;

pub(super) fn repeat(case: &Case) -> Judgement {
    match repeated(case) {
        Ok(judgement) => judgement,
        Err(why) => Judgement::failed(why),
    }
}

fn repeated(case: &Case) -> Result<Judgement, String> {
    let sources = case.sources();
    let (short, long) = (sources.short(case.seed())?, case.long()?);
    let words = told(sources, &short, STEPS)?.ids;
    let others = told(sources, &long, STEPS)?.ids;
    sources.progress.say("the same prompt again, and after another one");
    // 1. Once, again, after another prompt, and on a device that was opened anew.
    let mut device = Device::open(&sources.deployment)?;
    let first = run(&mut device, &short, &words)?;
    let again = run(&mut device, &short, &words)?;
    run(&mut device, &long, &others)?;
    let after = run(&mut device, &short, &words)?;
    let mut fresh = Device::open(&sources.deployment)?;
    let anew = run(&mut fresh, &short, &words)?;
    // 2. Bytes, not numbers: a NaN equals nothing, and -0 is not 0.
    let differ = |other: &[u32]| {
        let off = first.iter().zip(other).filter(|(a, b)| a != b).count();
        (off + first.len().abs_diff(other.len())) as f64
    };
    let metrics = vec![
        hard("differs_again", differ(&again), Bound::Exactly(0.0)),
        hard("differs_after_another", differ(&after), Bound::Exactly(0.0)),
        hard("differs_anew", differ(&anew), Bound::Exactly(0.0)),
    ];
    let headline = format!("4 runs of {} logits", first.len());
    Ok(Judgement { cases: 4, metrics, headline, ..Judgement::default() })
}

fn run(device: &mut Device, prompt: &Prompt, words: &[u32]) -> Result<Vec<u32>, String> {
    let mut logits = device.prefill(&prompt.ids, Logits::Last, &mut NoTap)?.data;
    for word in words.iter().take(words.len().saturating_sub(1)) {
        logits.extend(device.step(*word, &mut NoTap)?);
    }
    Ok(logits.into_iter().map(f32::to_bits).collect())
}
