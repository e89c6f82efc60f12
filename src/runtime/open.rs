//! Opens a session: a new one in a workspace, or one that goes on where its log ends.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use tokio::sync::mpsc;

use super::alive::Alive;
use super::brief;
use super::error::OpenError;
use super::handle::{Handle, Place};
use super::judge::Judge;
use super::live::{Live, Moved};
use super::mind::mind;
use super::perform::{Ears, Performer};
use super::request::{Input, Request};
use super::undo::Undo;
use super::watching;
use super::world::World;
use crate::base::{Finding, SessionId};
use crate::policy::Rules;
use crate::session::{Artifacts, Author, Autonomy, CallState, Event, Log, State, Store};
use crate::skills::{Library, Origin};
use crate::tools::{Kit, toolbox};
use crate::workspace::{PRIVATE, Path, SETTINGS, Settings, Workspace};

/// A session that lives, and what was odd about opening it.
#[derive(Debug)]
pub struct Opened {
    pub handle: Handle,
    pub findings: Vec<Finding>,
    /// How many facts there were before.
    pub past: u64,
}

/// Inputs that wait for the session's own task.
const INPUTS: usize = 256;
/// Drafts that wait to be passed on; more are lost.
const DRAFTS: usize = 256;

/// Begins a session in this folder, which is made if it is missing. Its settings are written
/// there; comments that a person wrote in them stay. Called inside a tokio runtime.
pub fn create(root: &FilePath, settings: &Settings, world: &World) -> Result<Opened, OpenError> {
    refuse_unbuilt(settings, world)?;
    let workspace = Workspace::create(root)?;
    let place = Path::new(SETTINGS).expect("a plain name");
    let old = if workspace.exists(&place) { workspace.text(&place)? } else { String::new() };
    let text = settings.write_into(&old)?;
    if text != old {
        workspace.write(&place, text.as_bytes(), None)?;
    }
    let id = world.ids.session(world.clock.now());
    let (log, artifacts) = Store::of(workspace.sessions()).create(&id)?;
    // A process may have died here before it had a session.
    workspace.sweep();
    let opening = Opening { id, workspace, settings, log, artifacts, findings: Vec::new() };
    opening.go_on(None, world)
}

/// Goes on with the session in this folder, with the settings of its workspace. `autonomy` moves
/// the slider first. Called inside a tokio runtime.
pub fn resume(
    folder: &FilePath,
    autonomy: Option<Autonomy>,
    world: &World,
) -> Result<Opened, OpenError> {
    let (workspace, settings, mut findings) = surroundings(folder)?;
    refuse_unbuilt(&settings, world)?;
    let (log, torn) = Log::open(folder)?;
    findings.extend(torn);
    workspace.sweep();
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let (id, artifacts) = (SessionId::from(&*name), Artifacts::of(folder));
    artifacts.sweep();
    let opening = Opening { id, workspace, settings: &settings, log, artifacts, findings };
    opening.go_on(autonomy, world)
}

/// The workspace that a session folder lies in, and its settings.
pub(super) fn surroundings(
    folder: &FilePath,
) -> Result<(Workspace, Settings, Vec<Finding>), OpenError> {
    let recording = || OpenError::Recording { folder: folder.to_owned() };
    let inside =
        folder.parent().filter(|sessions| sessions.ends_with(format!("{PRIVATE}/sessions")));
    let root = inside.and_then(|sessions| sessions.ancestors().nth(2)).ok_or_else(recording)?;
    let root = if root.as_os_str().is_empty() { FilePath::new(".") } else { root };
    let workspace = Workspace::open(root)?;
    let text = workspace.text(&Path::new(SETTINGS).expect("a plain name"))?;
    let (settings, mut findings) = Settings::parse(&text);
    if let Some(at) = findings.iter().position(Finding::is_error) {
        return Err(findings.swap_remove(at).into());
    }
    Ok((workspace, settings, findings))
}

/// What can never work is said before anything is written.
fn refuse_unbuilt(settings: &Settings, world: &World) -> Result<(), OpenError> {
    if settings.target != "sim" {
        return Err(OpenError::Target { spec: settings.target.clone() });
    }
    let library = Arc::new(Library::default());
    mind(&settings.agent, State::default().prompt, &library, world).map(drop)
}

/// All that a session is made of.
struct Opening<'a> {
    id: SessionId,
    workspace: Workspace,
    settings: &'a Settings,
    log: Log,
    artifacts: Artifacts,
    findings: Vec<Finding>,
}

impl Opening<'_> {
    fn go_on(mut self, autonomy: Option<Autonomy>, world: &World) -> Result<Opened, OpenError> {
        let past = self.log.next_seq();
        let skills = Arc::new(self.library(world));
        let rules = Rules::of(self.settings, world.presence);
        let clock = Arc::clone(&world.clock);
        let folder = self.log.folder().to_owned();
        let mut live = Live::new(self.log, rules.clone(), toolbox(), Arc::clone(&skills), clock);
        let driver = mind(&self.settings.agent, live.state().prompt, &skills, world)?;

        // 1. Files first: what a call without an end has left behind is put back.
        let undo = Undo::of(&folder, self.workspace.root());
        let ended = |state: &State, call: &_| {
            state.call(call).is_some_and(|record| matches!(record.state, CallState::Ended(_)))
        };
        undo.restore(|call| ended(live.state(), call))?;
        claim(&self.workspace, live.state());

        // 2. Then facts: how it began, or that it goes on; where the slider is; what a person has
        //    changed while nobody looked.
        let mut first = Vec::new();
        let mut step = |live: &mut Live, input| -> Result<(), OpenError> {
            let Moved { effects, .. } = live.step(input)?;
            first.extend(effects);
            Ok(())
        };
        if live.state().facts == 0 {
            live.append(beginning(self.settings, autonomy))?;
        } else if let Some(autonomy) = autonomy.filter(|stop| *stop != live.state().autonomy) {
            live.append(vec![(Author::User, Event::AutonomySet { autonomy })])?;
        }
        for (path, hash) in watching::changed(&self.workspace, live.state(), live.tools()) {
            let input = Input::Edited { path, hash };
            watching::keep(&self.workspace, &self.artifacts, &input);
            step(&mut live, input)?;
        }
        if live.state().prompt == State::default().prompt && !live.state().busy {
            let words = brief::words(live.state());
            step(&mut live, Input::Request(Request::Say(words)))?;
        } else if past > 0 {
            step(&mut live, Input::Resumed)?;
        }

        // 3. Then life.
        let (inputs, received) = mpsc::channel(INPUTS);
        let (sender, drafts) = mpsc::channel(DRAFTS);
        let root = self.workspace.root().to_owned();
        let kit = Kit::open(self.settings, self.workspace.clone(), self.artifacts.clone(), skills);
        let artifacts = self.artifacts.clone();
        let judge = Judge::new(world.exe.clone(), &root, self.artifacts);
        let eyes = watching::start(&self.workspace, rules.sealed, inputs.clone());
        let eyes = eyes.map_err(|finding| self.findings.push(finding)).ok();
        let ears = Ears { inputs, drafts: sender };
        let performer = Performer::new(driver, kit, judge, undo, ears);
        let place = Place { id: self.id, workspace: root, folder };
        let (handle, wishes) = Handle::new(place);
        let (workspace, feeds) = (self.workspace, Vec::new());
        let inputs = received;
        let alive = Alive {
            live,
            performer,
            workspace,
            artifacts,
            wishes,
            inputs,
            drafts,
            feeds,
            _eyes: eyes,
        };
        tokio::spawn(alive.run(first));
        Ok(Opened { handle, findings: self.findings, past })
    }

    fn library(&mut self, world: &World) -> Library {
        let (mut library, findings) = Library::shipped();
        self.findings.extend(findings);
        if let Some(folder) = &world.skills {
            self.findings.extend(library.add(folder, Origin::User));
        }
        let own: PathBuf = self.workspace.root().join("skills");
        self.findings.extend(library.add(&own, Origin::Workspace));
        library
    }
}

/// How every session begins.
fn beginning(settings: &Settings, autonomy: Option<Autonomy>) -> Vec<(Author, Event)> {
    let opened = Event::Opened {
        model: settings.model.clone(),
        target: settings.target.clone(),
        agent: settings.agent.clone(),
        seq: settings.seq,
        tokens: settings.tokens,
        seed: settings.seed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let autonomy = autonomy.or_else(|| Autonomy::parse(&settings.autonomy)).unwrap_or_default();
    vec![(Author::System, opened), (Author::User, Event::AutonomySet { autonomy })]
}

/// Files that stand as our own hand left them are known again.
fn claim(workspace: &Workspace, state: &State) {
    for (path, known) in &state.documents {
        let Ok(path) = Path::new(path) else { continue };
        if known.by != Author::User
            && workspace.hash(&path).ok().flatten().as_ref() == Some(&known.hash)
        {
            workspace.claim(&path, &known.hash);
        }
    }
}
