//! The three screens: a live session, a recorded one, and what there is to choose from.

use std::fs;
use std::future::pending;
use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::mpsc::{self, error::TryRecvError};

use super::app::App;
use super::browser::Browser;
use super::choice::{Choice, Shelf};
use super::effect::Effect;
use super::error::TuiError;
use super::load::{Loader, Wanted};
use super::setup::Setup;
use super::slot::Slot;
use super::stage::{Fetch, Scene, Stage, Woken};
use crate::base::CallId;
use crate::runtime::{Handle, Request, Update, always};
use crate::session::{Answer, Artifacts, Replay};

/// Shows a live session until the person leaves it.
pub async fn run(handle: Handle, setup: Setup) -> Result<(), TuiError> {
    let Ok(feed) = handle.subscribe().await else { return Ok(()) };
    let loader = loader(handle.folder(), Some(handle.workspace()));
    let mut stage = Stage::open(Arc::clone(&setup.clock), loader)?;
    let mut app = App::live(feed.state, &setup);
    let mut updates = Some(feed.updates);
    let mut at_once = true;
    loop {
        stage.show(&mut app, at_once)?;
        at_once = false;
        let woken = tokio::select! {
            biased;
            woken = stage.wait(&mut app) => woken,
            update = next(&mut updates) => {
                take(update, &mut updates, &handle, &mut app, &stage).await;
                stage.touch();
                continue;
            }
        };
        let effects = match woken {
            Woken::Gone => return Ok(()),
            Woken::Changed => continue,
            Woken::Asked(effects) => effects,
        };
        at_once = true;
        for effect in effects {
            if matches!(effect, Effect::Quit | Effect::Choose(_)) {
                return Ok(());
            }
            carry(effect, &handle, &setup, &mut app, &mut stage).await?;
        }
    }
}

/// Shows the session in this folder, event by event.
pub async fn replay(folder: &Path, setup: Setup) -> Result<Option<Choice>, TuiError> {
    let (replay, findings) = Replay::open(folder)?;
    // `<workspace>/.pilotfish/sessions/<id>`; a recording has no workspace around it.
    let root = folder.ancestors().nth(3).filter(|root| root.join(".pilotfish/sessions").is_dir());
    let stage = Stage::open(Arc::clone(&setup.clock), loader(folder, root))?;
    let entries = replay.entries().to_vec();
    let app = App::recorded(folder.to_owned(), entries, &setup).with_flaws(&findings);
    look(app, stage).await
}

/// Shows sessions, recordings and models to choose from.
pub async fn browse(shelf: Shelf, setup: Setup) -> Result<Option<Choice>, TuiError> {
    let nothing: Fetch = Arc::new(|_: &Wanted| super::load::Got::Missing(String::new()));
    let stage = Stage::open(Arc::clone(&setup.clock), nothing)?;
    look(Browser::new(shelf, &setup), stage).await
}

/// A screen that only looks: it ends with a choice, or without.
async fn look(mut scene: impl Scene, mut stage: Stage) -> Result<Option<Choice>, TuiError> {
    loop {
        stage.show(&mut scene, true)?;
        let effects = match stage.wait(&mut scene).await {
            Woken::Gone => return Ok(None),
            Woken::Changed => continue,
            Woken::Asked(effects) => effects,
        };
        for effect in effects {
            match effect {
                Effect::Quit => return Ok(None),
                Effect::Choose(choice) => return Ok(Some(choice)),
                Effect::Suspend => stage.suspend()?,
                Effect::Redraw => stage.redraw()?,
                Effect::Ask(_)
                | Effect::Show { .. }
                | Effect::EditDocument(_)
                | Effect::EditProposal { .. }
                | Effect::EditDraft(_) => (),
            }
        }
    }
}

fn loader(session: &Path, workspace: Option<&Path>) -> Fetch {
    let loader = Loader {
        workspace: workspace.map(Path::to_owned),
        session: session.to_owned(),
        granting: Arc::new(always),
    };
    Arc::new(move |wanted| loader.fetch(wanted))
}

async fn next(updates: &mut Option<mpsc::Receiver<Update>>) -> Option<Update> {
    match updates {
        Some(updates) => updates.recv().await,
        None => pending().await,
    }
}

/// Takes in all that has come. A feed that is lost is opened anew; an end is said.
async fn take(
    first: Option<Update>,
    updates: &mut Option<mpsc::Receiver<Update>>,
    handle: &Handle,
    app: &mut App,
    stage: &Stage,
) {
    let mut update = first;
    while let Some(one) = update {
        app.take(&one, stage.now());
        match updates.as_mut().map(mpsc::Receiver::try_recv) {
            Some(Ok(more)) => update = Some(more),
            Some(Err(TryRecvError::Empty)) => return,
            Some(Err(TryRecvError::Disconnected)) | None => break,
        }
    }
    match handle.subscribe().await {
        Ok(feed) => {
            app.restart(feed.state);
            *updates = Some(feed.updates);
        }
        Err(ended) => {
            app.take(&Update::Broken(ended.to_string()), stage.now());
            *updates = None;
        }
    }
}

async fn carry(
    effect: Effect,
    handle: &Handle,
    setup: &Setup,
    app: &mut App,
    stage: &mut Stage,
) -> Result<(), TuiError> {
    match effect {
        Effect::Ask(request) => ask(request, handle, app, stage).await,
        Effect::Suspend => stage.suspend()?,
        Effect::Redraw => stage.redraw()?,
        Effect::EditDocument(path) => {
            let file = handle.workspace().join(&path);
            let before = fs::read(&file).ok();
            let edited = stage.lend(&setup.editor, &file);
            if tell(edited, app, stage) && fs::read(&file).ok() != before {
                ask(Request::Edited { path }, handle, app, stage).await;
            }
        }
        Effect::EditProposal { call, path, text } => {
            let edited = edit(&path, &text, setup, stage);
            if let Some(text) = tell(edited, app, stage).filter(|edited| *edited != text) {
                match keep(&call, &path, &text, handle) {
                    Ok(answer) => ask(answer, handle, app, stage).await,
                    Err(error) => app.say(error, Slot::Bad, stage.now()),
                }
            }
        }
        Effect::EditDraft(text) => {
            let edited = edit("message.md", &text, setup, stage);
            if let Some(text) = tell(edited, app, stage) {
                app.composer.editor.set(text.trim_end());
            }
        }
        Effect::Show { .. } | Effect::Choose(_) | Effect::Quit => (),
    }
    Ok(())
}

async fn ask(request: Request, handle: &Handle, app: &mut App, stage: &Stage) {
    if let Err(ended) = handle.send(request).await {
        app.say(ended.to_string(), Slot::Bad, stage.now());
    }
}

/// What came of an editor, or the words why nothing did.
fn tell<T: Default>(done: io::Result<T>, app: &mut App, stage: &Stage) -> T {
    done.unwrap_or_else(|error| {
        let words = format!("the editor: {error}; set EDITOR to one that is there");
        app.say(words, Slot::Bad, stage.now());
        T::default()
    })
}

/// Has a text edited in a file of its own with the name's ending, so that editors know its kind.
fn edit(name: &str, text: &str, setup: &Setup, stage: &mut Stage) -> io::Result<Option<String>> {
    let folder = tempfile::Builder::new().prefix("pilotfish-edit-").tempdir()?;
    let name = Path::new(name).file_name().unwrap_or_default();
    let file = folder.path().join(name);
    fs::write(&file, text)?;
    if !stage.lend(&setup.editor, &file)? {
        return Ok(None);
    }
    fs::read_to_string(&file).map(Some)
}

/// The person's text is an artifact before it is an answer: nothing that was written is lost.
fn keep(call: &CallId, path: &str, text: &str, handle: &Handle) -> Result<Request, String> {
    let artifacts = Artifacts::of(handle.folder());
    let kept = artifacts.put("text", format!("{path}, edited by hand"), text.as_bytes());
    let kept = kept.map_err(|error| error.to_string())?;
    Ok(Request::Answer { call: call.clone(), answer: Answer::Edited(kept.hash) })
}
