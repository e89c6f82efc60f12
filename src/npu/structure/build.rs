//! Builds the published program of a network: the naive one, and the moves that were made on it.

use super::groups::{GLUE, groups, is_fused};
use crate::base::Finding;
use crate::model::Stage;
use crate::npu::array::Array;
use crate::npu::lower::{Outline, lower};
use crate::npu::moves::{self, Merge, Place, Site};
use crate::npu::program::{HostKind, Layout, Program, Work};

/// The widest head that attention takes sequence-first.
const MOST_SEQ_FIRST: usize = 64;

/// The program that hand-tuned deployments of such a network run. `seq` counts in prefill alone,
/// `capacity` is that of the KV cache, both in tokens.
pub fn structured(
    outline: &Outline,
    array: &Array,
    stage: Stage,
    seq: usize,
    capacity: usize,
) -> Result<Program, Finding> {
    let (program, findings) = lower(outline, array, stage, seq, capacity);
    if let Some(error) = findings.into_iter().find(Finding::is_error) {
        return Err(error);
    }
    let mut build = Build { program, array };
    build.pair_heads()?;
    if stage == Stage::Prefill {
        build.attend(outline.head_dim)?;
    }
    build.make("move-to-npu", &place("lm_head"))?;
    if stage == Stage::Decode && !is_fused(outline) {
        for glue in GLUE {
            build.make("move-to-host", &place(glue))?;
        }
    }
    for group in groups(outline, stage) {
        let dispatches = group.parts.iter().map(|part| (*part).to_owned()).collect();
        let merge = Merge { dispatches, name: group.name.to_owned() };
        build.make("merge-dispatches", &Site::Merge(merge))?;
    }
    build.everywhere("make-static")?;
    build.keep_inside()?;
    Ok(build.program)
}

fn place(dispatch: &str) -> Site {
    Site::Place(Place { dispatch: dispatch.to_owned(), ..Place::default() })
}

struct Build<'a> {
    program: Program,
    array: &'a Array,
}

impl Build<'_> {
    fn make(&mut self, name: &str, site: &Site) -> Result<(), Finding> {
        let made = moves::find(name).ok_or_else(|| moves::unknown(name))?;
        self.program = made.apply(&self.program, site, self.array)?;
        Ok(())
    }

    /// Makes a move at its first site until it has none left.
    fn everywhere(&mut self, name: &str) -> Result<(), Finding> {
        let made = moves::find(name).ok_or_else(|| moves::unknown(name))?;
        while let Some(site) = made.sites(&self.program, self.array).first() {
            self.program = made.apply(&self.program, site, self.array)?;
        }
        Ok(())
    }

    /// What one call makes and reads itself is never copied; what goes to the next call is.
    fn keep_inside(&mut self) -> Result<(), Finding> {
        let made =
            moves::find("mark-intermediate").ok_or_else(|| moves::unknown("mark-intermediate"))?;
        for site in made.sites(&self.program, self.array) {
            let Site::Reside(mut reside) = site else { continue };
            reside.buffers.retain(|name| self.calls_with(name) == 1);
            if !reside.buffers.is_empty() {
                self.program = made.apply(&self.program, &Site::Reside(reside), self.array)?;
            }
        }
        Ok(())
    }

    /// How many calls of the array name a buffer.
    fn calls_with(&self, buffer: &str) -> usize {
        let names = |work: &Work| match work {
            Work::Launches(launches) => launches
                .iter()
                .any(|l| l.inputs.iter().chain(&l.outputs).any(|name| name == buffer)),
            Work::Host(_) => false,
        };
        self.program.dispatches.iter().filter(|dispatch| names(&dispatch.work)).count()
    }

    /// Attention on the array takes two heads at a time.
    fn pair_heads(&mut self) -> Result<(), Finding> {
        if self.program.heads.is_multiple_of(2) {
            return Ok(());
        }
        let made = moves::find("pad-heads").ok_or_else(|| moves::unknown("pad-heads"))?;
        match made.sites(&self.program, self.array).first() {
            Some(site) => self.make("pad-heads", site),
            None => Ok(()),
        }
    }

    fn attend(&mut self, head_dim: usize) -> Result<(), Finding> {
        let on_host = |program: &Program| {
            let all = program.dispatches.iter();
            all.clone().find(|d| d.is_host(HostKind::Attention)).map(|d| d.name.clone())
        };
        let Some(dispatch) = on_host(&self.program) else { return Ok(()) };
        let layout = if head_dim <= MOST_SEQ_FIRST { Layout::SeqFirst } else { Layout::HeadsFirst };
        let place = Place { dispatch, layout: Some(layout), ..Place::default() };
        self.make("move-to-npu", &Site::Place(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::published;
    use crate::npu::check::check;
    use crate::npu::program::{Residency, Scope};

    /// Array calls of a layer in prefill and in decode, as published.
    const CALLS: [(&str, usize, usize); 9] = [
        ("llama-3.2-1b", 3, 2),
        ("llama-3.2-3b", 3, 5),
        ("smollm2-1.7b", 3, 2),
        ("qwen2.5-0.5b", 4, 5),
        ("qwen2.5-1.5b", 6, 5),
        ("qwen2.5-3b", 7, 5),
        ("qwen3-0.6b", 3, 2),
        ("qwen3-1.7b", 3, 2),
        ("qwen3-4b", 7, 5),
    ];

    fn of(name: &str, stage: Stage) -> Program {
        let outline = Outline::new(name, &published(name).unwrap());
        structured(&outline, &Array::xdna2(), stage, 2048, 2560).unwrap()
    }

    #[test]
    fn nine_networks_have_their_published_calls() {
        for (name, prefill, decode) in CALLS {
            for (stage, expected) in [(Stage::Prefill, prefill), (Stage::Decode, decode)] {
                let program = of(name, stage);
                let calls = program.dispatches.iter().filter(|dispatch| {
                    dispatch.scope == Scope::Layer && matches!(dispatch.work, Work::Launches(_))
                });
                assert_eq!(calls.count(), expected, "{name} {stage}");
                for finding in check(&program, &Array::xdna2()) {
                    assert!(!finding.is_error(), "{name} {stage}: {finding}");
                }
            }
        }
    }

    #[test]
    fn a_value_between_two_calls_is_copied() {
        let program = of("qwen2.5-1.5b", Stage::Prefill);
        let residency = |name: &str| program.buffer(name).unwrap().residency;
        assert_eq!(residency("gate"), Residency::Activation);
        assert_eq!(residency("o"), Residency::Intermediate);
        assert_eq!(residency("ffn_gate.weight"), Residency::Static);
    }

    #[test]
    fn odd_heads_are_paired() {
        let config = published("smollm2-1.7b").unwrap();
        let odd = Outline { heads: 9, kv_heads: 3, hidden: 576, ..Outline::new("odd", &config) };
        let program = structured(&odd, &Array::xdna2(), Stage::Prefill, 512, 640).unwrap();
        assert_eq!(program.heads, 12);
    }
}
