//! A residual that the array wears away: the mind takes its additions to the host, and leaves them.

use pilotfish::npu::{HostKind, HostOp, Kernel, Program, Work};
use pilotfish::session::{Phase, Verdict};

use crate::gates::{judge, tiny};
use crate::mind::{Session, World, shipped};

/// Both additions of a layer, as `move-to-host` makes them.
fn add_on_host(program: &mut Program) {
    for dispatch in &mut program.dispatches {
        let Work::Launches(launches) = &dispatch.work else { continue };
        if let [launch] = launches.as_slice()
            && matches!(launch.kernel, Kernel::Add { .. })
        {
            let (inputs, outputs) = (launch.inputs.clone(), launch.outputs.clone());
            dispatch.work = Work::Host(HostOp { op: HostKind::Add, inputs, outputs });
        }
    }
}

#[test]
fn the_companion_rounds_where_the_program_adds_and_only_sinks_excuse_it() {
    let folder = tiny(add_on_host);
    let answer = judge(folder.path(), "block", Phase::Block);
    assert_eq!(answer.judged.verdict, Verdict::Pass, "{:#?}", answer.judged);
    let ratio = answer.judged.metrics.iter().find(|metric| metric.name.starts_with("r_ratio"));
    let ratio = ratio.unwrap().measured;
    assert!((ratio - 1.0).abs() < 0.1, "the companion floors where the host does not: {ratio}");
    // Nothing of this network outgrows the rest: the array would lose nothing.
    let answer = judge(folder.path(), "placement", Phase::Integration);
    assert_eq!(answer.judged.verdict, Verdict::Fail, "{:#?}", answer.judged);
    for stage in ["prefill", "decode"] {
        let words = format!("`add` of {stage} runs on the host");
        assert!(answer.report.contains(&words), "{}", answer.report);
    }
}

#[test]
fn additions_on_a_sink_go_to_the_host_and_stay_there() {
    let session = Session::run(shipped(), World::with_a_sink());
    assert_eq!(session.blocked, None);
    assert!(session.said().contains("→ skill `debug-residual-rounding`"));
    let moves = session.calls("apply_move");
    let of = |name: &str| moves.iter().filter(|args| args["move"] == name).collect::<Vec<_>>();
    assert_eq!(of("move-to-host").len(), 4, "both additions, in both stages");
    assert!(of("move-to-npu").iter().all(|args| args["site"] != "hidden"), "and not back");
    assert!(!of("move-to-npu").is_empty(), "other operators still go to the array");
    let judged = session.calls("gate").into_iter().filter(|args| args["id"] == "logits").count();
    assert_eq!(judged, 2, "once before and once after");
    let section = session.document("issues.md", "## Debugged with `debug-residual-rounding`");
    assert!(section.contains("additions of a layer go to the host"), "{section}");
}

#[test]
fn without_a_sink_nothing_is_moved() {
    let session = Session::run(shipped(), World::default());
    assert!(session.calls("apply_move").iter().all(|args| args["move"] != "move-to-host"));
    assert!(!session.said().contains("debug-residual-rounding"));
}
