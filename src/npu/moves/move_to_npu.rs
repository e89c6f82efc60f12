//! `move-to-npu`: a host operator becomes a dispatch of the array.

use super::edit::{self, by_rule, dispatch_at, free_name, host, refuse, stated, wrong_site};
use super::moves::Move;
use super::pairs::{MOVE_TO_HOST, MOVE_TO_NPU as NAME};
use super::site::{Place, Site};
use super::{attention, head};
use crate::base::Finding;
use crate::model::Stage;
use crate::npu::array::Array;
use crate::npu::program::{Buffer, HostKind, HostOp, Kernel, Launch, Layout, Program, Tile, Work};

pub(super) struct MoveToNpu;

impl Move for MoveToNpu {
    fn name(&self) -> &'static str {
        NAME
    }

    fn doc(&self) -> &'static str {
        "Computes on the array what the host computed, where the shape allows it."
    }

    fn sites(&self, program: &Program, array: &Array) -> Vec<Site> {
        let hosts = program.dispatches.iter().filter(|dispatch| host(dispatch).is_some());
        let site =
            |name: &str| Site::Place(Place { dispatch: name.to_owned(), ..Place::default() });
        hosts
            .map(|dispatch| site(&dispatch.name))
            .filter(|site| self.apply(program, site, array).is_ok())
            .collect()
    }

    fn apply(&self, program: &Program, site: &Site, array: &Array) -> Result<Program, Finding> {
        let Site::Place(site) = site else { return Err(wrong_site(NAME)) };
        let at = dispatch_at(program, &site.dispatch)?;
        let Some(op) = host(&program.dispatches[at]).cloned() else {
            let text = format!("`{}` runs on the array already", site.dispatch);
            return Err(refuse(&site.dispatch, text, "name a dispatch of the host"));
        };
        let mut program = program.clone();
        match op.op {
            HostKind::Attention => {
                attends(&program, &site.dispatch)?;
                let layout = site.layout.unwrap_or(Layout::HeadsFirst);
                attention::to_array(&mut program, at, layout, site.name.as_deref())?;
            }
            HostKind::LmHead => {
                head::to_array(&mut program, at, array)?;
                restore(&mut program, at, site)?;
            }
            _ => {
                let launch = launch(&program, &op, &site.dispatch, array)?;
                program.dispatches[at].work = Work::Launches(vec![launch]);
                restore(&mut program, at, site)?;
            }
        }
        Ok(program)
    }

    fn inverse(&self, before: &Program, site: &Site) -> Result<(&'static str, Site), Finding> {
        let Site::Place(site) = site else { return Err(wrong_site(NAME)) };
        let at = dispatch_at(before, &site.dispatch)?;
        let mut back = Place { dispatch: site.dispatch.clone(), ..Place::default() };
        match host(&before.dispatches[at]).map(|op| (op.op, op)) {
            Some((HostKind::Attention, _)) => {
                let wanted = site.name.as_deref().unwrap_or("flash_attn");
                back.dispatch = free_name(wanted, before, &[&site.dispatch]);
                back.name = Some(site.dispatch.clone());
            }
            Some((HostKind::LmHead, op)) => {
                let logits = op.outputs.first().and_then(|name| before.buffer(name));
                back.width = logits.map(Buffer::elements);
            }
            _ => (),
        }
        Ok((MOVE_TO_HOST, Site::Place(back)))
    }

    fn opens(&self) -> &'static [&'static str] {
        &["align-layout", "make-static", "mark-intermediate"]
    }

    fn words(&self, program: &Program, site: &Site) -> String {
        let Site::Place(site) = site else { return NAME.to_owned() };
        let at = dispatch_at(program, &site.dispatch).ok();
        let op = at.and_then(|at| host(&program.dispatches[at])).map(|op| op.op);
        match op {
            Some(HostKind::Attention) => "attention runs on the array".to_owned(),
            Some(HostKind::LmHead) => "the LM head runs on the array".to_owned(),
            _ => format!("`{}` runs on the array", site.dispatch),
        }
    }
}

/// What attention must be for the array to take it.
fn attends(program: &Program, place: &str) -> Result<(), Finding> {
    let Program { seq, heads, kv_heads, head_dim, .. } = *program;
    if program.stage == Stage::Decode {
        let text = "attention of one query stays on the host: the kernel takes 256 at once";
        return Err(refuse(place, text, "leave it"));
    }
    if heads == 0 || heads % 2 != 0 || kv_heads == 0 || heads % kv_heads != 0 {
        let text = format!("{heads} query heads on {kv_heads} key heads do not go in pairs");
        return Err(refuse(place, text, "add phantom heads with `pad-heads` first"));
    }
    if head_dim != 64 && head_dim != 128 {
        let text = format!("head_dim {head_dim} was never measured");
        return Err(refuse(place, text, "64 and 128 are known to run"));
    }
    if seq == 0 || seq % 256 != 0 {
        let text = format!("{seq} tokens are no multiple of 256");
        return Err(refuse(place, text, "compile for 256, 512, 768 or more tokens"));
    }
    Ok(())
}

/// The kernel that does what a small host operator does.
fn launch(program: &Program, op: &HostOp, place: &str, array: &Array) -> Result<Launch, Finding> {
    let no = |text: &str| refuse(place, text, "leave it on the host");
    let size = |names: &[String], at: usize| {
        let name = names.get(at).ok_or_else(|| no("an operand is missing"))?;
        let buffer = program.buffer(name).ok_or_else(|| no("an operand is unknown"))?;
        Ok::<usize, Finding>(buffer.elements())
    };
    let rows = |width: usize| -> Result<usize, Finding> {
        size(&op.inputs, 0)?.checked_div(width).ok_or_else(|| no("an operand is empty"))
    };
    let kernel = match op.op {
        HostKind::RmsNorm => {
            let width = size(&op.inputs, 1)?;
            Kernel::RmsNorm { rows: rows(width)?, width }
        }
        HostKind::BiasAdd => {
            let width = size(&op.inputs, 1)?;
            Kernel::BiasAdd { rows: rows(width)?, width }
        }
        HostKind::Rope => {
            let width = program.head_dim;
            Kernel::Rope { rows: rows(width)?, width }
        }
        HostKind::SiluMul => Kernel::SiluMul { elements: size(&op.outputs, 0)? },
        HostKind::Add => Kernel::Add { elements: size(&op.outputs, 0)? },
        _ => return Err(no("no kernel does this")),
    };
    let tiling = by_rule(&kernel, program, array);
    let (herd, tile) =
        tiling.map_or(([1, 1], Tile::default()), |tiling| (tiling.herd, tiling.tile));
    let (inputs, outputs) = (op.inputs.clone(), op.outputs.clone());
    Ok(Launch { kernel, inputs, outputs, herd, tile })
}

/// Tilings that the site states, instead of those by rule.
fn restore(program: &mut Program, at: usize, site: &Place) -> Result<(), Finding> {
    let made: Vec<String> =
        edit::launches(&program.dispatches[at]).iter().map(|l| edit::makes(l).to_owned()).collect();
    for (index, made) in made.iter().enumerate() {
        if let Some(tiling) = stated(&site.tilings, made)? {
            edit::retile(program, at, index, tiling)?;
        }
    }
    Ok(())
}
