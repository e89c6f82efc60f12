//! Judges a footprint. Pure, total, and the only place that does.

use super::footprint::Footprint;
use super::rules::Rules;
use crate::session::{Autonomy, Grant, Ruling};
use crate::workspace::Path;

/// Takes off the footprint what the stop allows, then what was granted; asks about what is left.
pub fn rule(autonomy: Autonomy, rules: &Rules, granted: &[Grant], footprint: &Footprint) -> Ruling {
    if let Some(path) = footprint.writes.iter().find(|path| path.is_in(&rules.sealed)) {
        return Ruling::Deny { why: format!("`{path}` is sealed: no call may write it") };
    }
    let beyond = beyond_stop(autonomy, rules, footprint.clone());
    if beyond.is_empty() {
        return Ruling::Allow { why: format!("within `{autonomy}`") };
    }
    let left = granted.iter().fold(beyond, beyond_grant);
    if left.is_empty() {
        return Ruling::Allow { why: "granted for this session".to_owned() };
    }
    Ruling::Ask { why: left.to_string() }
}

/// What no stop takes off here, every stop asks about.
fn beyond_stop(autonomy: Autonomy, rules: &Rules, mut footprint: Footprint) -> Footprint {
    footprint.reads.clear();
    if footprint.spends <= rules.budget {
        footprint.spends = 0;
    }
    if autonomy >= Autonomy::Guide {
        footprint.simulates = false;
        footprint.judges = None;
    }
    if autonomy >= Autonomy::Edit {
        let is_free = |path: &Path| path.is_in(&rules.edit_scope) && !path.is_in(&rules.guarded);
        footprint.writes.retain(|path| !is_free(path));
    }
    if autonomy >= Autonomy::Phase {
        footprint.runs = None;
    }
    if autonomy >= Autonomy::Auto {
        footprint.writes.retain(|path| path.is_in(&rules.guarded));
        footprint.enters = None;
    }
    footprint
}

/// Part by part: what one grant leaves, another may cover.
fn beyond_grant(mut footprint: Footprint, grant: &Grant) -> Footprint {
    footprint.simulates &= !grant.simulates;
    footprint.judges.take_if(|gate| grant.judges.as_ref() == Some(gate));
    footprint.enters.take_if(|phase| grant.enters == Some(*phase));
    footprint.writes.retain(|path| !path.is_in(&grant.writes));
    let covers =
        |first: &Vec<String>, words: &[String]| !first.is_empty() && words.starts_with(first);
    footprint.runs.take_if(|words| grant.runs.as_ref().is_some_and(|first| covers(first, words)));
    footprint
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::GateId;
    use crate::policy::Presence;
    use crate::session::Autonomy::{Auto, Edit, Guide, Observe};
    use crate::session::Phase;
    use crate::workspace::Settings;

    fn rules() -> Rules {
        Rules { budget: 5, ..Rules::of(&Settings::of("tiny-llama"), Presence::Attended) }
    }

    fn writes(path: &str) -> Footprint {
        Footprint { writes: vec![Path::new(path).unwrap()], ..Footprint::default() }
    }

    fn runs(command: &str) -> Footprint {
        let words = command.split(' ').map(str::to_owned).collect();
        Footprint { runs: Some(words), ..Footprint::default() }
    }

    /// From which stop on a footprint goes ahead alone, and from which with the grant below.
    fn check(footprint: &Footprint, alone: Option<Autonomy>, granted: Option<Autonomy>) {
        let grant = [Grant {
            simulates: true,
            judges: Some(GateId::from("logits")),
            writes: vec!["program".into()],
            runs: Some(vec!["make".into(), "run".into()]),
            enters: Some(Phase::Decode),
        }];
        let empty = [Grant { runs: Some(Vec::new()), ..Grant::default() }];
        for (grants, from) in [(&[][..], alone), (&empty, alone), (&grant, granted)] {
            for stop in Autonomy::ALL {
                let ruling = rule(stop, &rules(), grants, footprint);
                let is_free = from.is_some_and(|from| from <= stop);
                assert_eq!(matches!(ruling, Ruling::Allow { .. }), is_free, "{stop} {footprint}");
            }
        }
    }

    #[test]
    fn each_stop_frees_its_own() {
        let nothing = Footprint::default;
        let reads = vec![Path::new("plan.md").unwrap()];
        check(&Footprint { reads, ..nothing() }, Some(Observe), Some(Observe));
        check(&Footprint { simulates: true, ..nothing() }, Some(Guide), Some(Observe));
        let judges = |gate: &str| Footprint { judges: Some(gate.into()), ..nothing() };
        check(&judges("logits"), Some(Guide), Some(Observe));
        check(&judges("tokens"), Some(Guide), Some(Guide));
        check(&writes("program/decode.toml"), Some(Edit), Some(Observe));
        check(&writes("plan.md"), Some(Edit), Some(Edit));
        check(&writes("programs/decode.toml"), Some(Auto), Some(Auto));
        check(&runs("make run"), Some(Autonomy::Phase), Some(Observe));
        check(&runs("make clean"), Some(Autonomy::Phase), Some(Autonomy::Phase));
        let enters = |phase| Footprint { enters: Some(phase), ..nothing() };
        check(&enters(Phase::Decode), Some(Auto), Some(Observe));
        check(&enters(Phase::Prefill), Some(Auto), Some(Auto));
    }

    #[test]
    fn some_things_ask_at_every_stop_whatever_is_granted() {
        let nothing = Footprint::default;
        check(&Footprint { loosens: vec!["logits".into()], ..nothing() }, None, None);
        check(&Footprint { reaches: vec!["example.org".into()], ..nothing() }, None, None);
        check(&Footprint { spends: 6, ..nothing() }, None, None);
        check(&Footprint { spends: 5, ..nothing() }, Some(Observe), Some(Observe));
        check(&writes("pilotfish.toml"), None, None);
        check(&writes(".git/config"), None, None);
    }

    #[test]
    fn a_ruling_says_what_is_left() {
        let both = Footprint { runs: runs("make run").runs, ..writes("program/decode.toml") };
        let ask = |why: &str| Ruling::Ask { why: why.into() };
        assert_eq!(rule(Edit, &rules(), &[], &both), ask("runs `make run`"));
        for path in [".pilotfish/receipts/head", ".pilotfish/baseline/prefill.toml", "reports/a.md"]
        {
            let grant = Grant { writes: vec!["**".into()], ..Grant::default() };
            let ruling = rule(Auto, &rules(), &[grant], &writes(path));
            assert!(matches!(ruling, Ruling::Deny { .. }), "{path}: {ruling:?}");
        }
    }

    #[test]
    fn what_always_offers_covers_the_call_and_no_other_kind() {
        let call = Footprint { simulates: true, ..writes("program/decode.toml") };
        let grant = call.grant().unwrap();
        let covered = |footprint: &Footprint| {
            let ruling = rule(Observe, &rules(), std::slice::from_ref(&grant), footprint);
            matches!(ruling, Ruling::Allow { .. })
        };
        assert!(covered(&call));
        assert!(!covered(&writes("program/prefill.toml")) && !covered(&runs("make run")));
        assert_eq!(Footprint { spends: 1, ..call }.grant(), None);
        assert_eq!(grant.to_string(), "check, simulate and profile, write `program/decode.toml`");
    }
}
