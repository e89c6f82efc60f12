//! A live session and the face that it gets: the screen, lines for a person, or lines of JSON.

use std::env;
use std::io::{self, IsTerminal};
use std::sync::Arc;

use super::error::{Problem, mention};
use super::exit::BLOCKED;
use super::facts::Teller;
use super::output;
use super::places;
use super::sample;
use super::summary;
use crate::base::SystemClock;
use crate::policy::Presence;
use crate::runtime::{Handle, Opened, Outcome, Update, headless};
use crate::session::{Autonomy, State};
use crate::tui::{self, Setup};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Face {
    Screen,
    Lines,
    Json,
}

impl Face {
    pub(super) fn of(headless: bool, json: bool) -> anyhow::Result<Self> {
        match (headless, json) {
            (true, true) => Ok(Self::Json),
            (true, false) => Ok(Self::Lines),
            (false, true) => Err(Problem::usage(
                "`--json` needs `--headless`: the screen has the terminal for itself",
                "add `--headless --autonomy auto`",
            )),
            (false, false) if io::stdout().is_terminal() && io::stdin().is_terminal() => {
                Ok(Self::Screen)
            }
            (false, false) => Err(Problem::usage(
                "there is no terminal to draw on",
                "run it in a terminal, or add `--headless --autonomy auto`",
            )),
        }
    }

    pub(super) fn presence(self) -> Presence {
        if self == Self::Screen { Presence::Attended } else { Presence::Headless }
    }

    /// With nobody there, whatever asks would wait for ever.
    pub(super) fn agree(self, autonomy: Autonomy) -> anyhow::Result<()> {
        if self == Self::Screen || autonomy == Autonomy::Auto {
            return Ok(());
        }
        Err(Problem::usage(
            format!("`--headless` cannot ask anybody, and at `{autonomy}` it would have to"),
            "add `--autonomy auto`, or leave `--headless` out",
        ))
    }
}

/// Opens a session and stays with it until it ends or the person leaves.
pub(super) fn live(
    face: Face,
    open: impl FnOnce() -> anyhow::Result<Opened>,
) -> anyhow::Result<u8> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        let Opened { handle, findings, past } = open()?;
        // Only a convenience: that it cannot be noted stops nobody.
        let _ = places::workspaces().remember(handle.workspace());
        match face {
            Face::Screen => screen(handle).await,
            Face::Lines | Face::Json => {
                mention(&findings);
                alone(face, &handle, past).await
            }
        }
    });
    // Work that is still on its way is cut off: the log knows nothing of its end.
    runtime.shutdown_background();
    code
}

async fn screen(handle: Handle) -> anyhow::Result<u8> {
    let setup = Setup::of(Arc::new(SystemClock), |name| env::var(name).ok());
    let (place, folder) = (handle.workspace().to_owned(), handle.folder().to_owned());
    tui::run(handle, setup).await?;
    let (replay, _) = crate::session::Replay::open(&folder)?;
    let state = replay.state();
    for line in summary::ending(&state) {
        output::say(&line);
    }
    output::say(&format!("go on with `pilotfish resume {}`", place.display()));
    Ok(if state.busy { BLOCKED } else { Outcome::of(&state).code() })
}

async fn alone(face: Face, handle: &Handle, past: u64) -> anyhow::Result<u8> {
    let mut teller = Teller::default();
    let heard = headless(handle, |update| match (face, update) {
        (Face::Json, Update::Fact(fact)) if fact.seq >= past => output::raw(&fact.to_line()),
        (Face::Lines, Update::Fact(fact)) if fact.seq >= past => teller.tell(fact),
        (Face::Lines, Update::Fact(fact)) => teller.know(fact),
        _ => (),
    });
    let state = tokio::select! {
        heard = heard => heard.map_err(|cut| Problem::blocked(cut.to_string(), ""))?,
        _ = tokio::signal::ctrl_c() => return Err(interrupted(handle)),
    };
    if face == Face::Lines {
        conclude(handle, &state);
    }
    Ok(Outcome::of(&state).code())
}

/// What a person wants to see at the end: what it says, how fast it became, and whether it holds.
fn conclude(handle: &Handle, state: &State) {
    for line in sample::lines(state).unwrap_or_default() {
        output::say(&line);
    }
    for line in summary::table(state) {
        output::say(&line);
    }
    for line in summary::ending(state) {
        output::say(&line);
    }
    output::say(&format!("workspace: {}", handle.workspace().display()));
}

fn interrupted(handle: &Handle) -> anyhow::Error {
    let root = handle.workspace().display();
    Problem::blocked("interrupted", format!("go on with `pilotfish resume {root} --headless`"))
}
