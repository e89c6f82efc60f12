//! The session's own task: takes in what comes, moves, starts work, and tells the faces.

use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use super::effect::Effect;
use super::handle::{Feed, Wish};
use super::live::{Live, Moved};
use super::perform::Performer;
use super::request::{Input, Request};
use super::update::Update;
use super::watching;
use crate::base::crash;
use crate::session::{Artifacts, Event};
use crate::workspace::{Path, Workspace};

/// What a face may have waiting before it is taken to be asleep.
const FEED: usize = 4096;
/// What of it drafts leave free for facts.
const RESERVED: usize = 3072;

pub(super) struct Alive {
    pub live: Live,
    pub performer: Performer,
    pub workspace: Workspace,
    pub artifacts: Artifacts,
    pub wishes: mpsc::Receiver<Wish>,
    pub inputs: mpsc::Receiver<Input>,
    pub drafts: mpsc::Receiver<Update>,
    pub feeds: Vec<mpsc::Sender<Update>>,
    /// Kept while the session lives: dropped, nobody looks at the files any more.
    pub _eyes: Option<AbortOnDropHandle<()>>,
}

impl Alive {
    /// Lives until nobody holds a handle, or the log cannot be written. Work ends with it.
    pub(super) async fn run(mut self, first: Vec<Effect>) {
        for effect in first {
            self.performer.start(effect, &self.live);
        }
        loop {
            let goes_on = tokio::select! {
                biased;
                wish = self.wishes.recv() => match wish {
                    Some(wish) => self.grant(wish),
                    None => return,
                },
                Some(input) = self.inputs.recv() => self.step(input),
                Some(draft) = self.drafts.recv() => {
                    self.tell_draft(&draft);
                    Ok(())
                }
            };
            if let Err(broken) = goes_on {
                return self.lie_still(broken).await;
            }
        }
    }

    /// Nothing can happen any more; whoever still comes is told why.
    async fn lie_still(mut self, broken: Update) {
        self.performer.end();
        self.tell(&broken);
        while let Some(wish) = self.wishes.recv().await {
            if let Wish::Subscribe(answer) = wish {
                self.welcome(answer, Some(&broken));
            }
        }
    }

    fn welcome(&mut self, answer: oneshot::Sender<Feed>, first: Option<&Update>) {
        let (sender, updates) = mpsc::channel(FEED);
        if let Some(first) = first {
            let _ = sender.try_send(first.clone());
        }
        let (state, past) = (self.live.state().clone(), self.live.log().entries().to_vec());
        if answer.send(Feed { state, past, updates }).is_ok() {
            self.feeds.push(sender);
        }
    }

    /// What breaks the session comes back as the last update.
    fn grant(&mut self, wish: Wish) -> Result<(), Update> {
        match wish {
            Wish::Subscribe(answer) => {
                let idle = self.live.is_idle().then_some(&Update::Idle);
                self.welcome(answer, idle);
                Ok(())
            }
            Wish::Request(Request::Edited { path }) => match self.look(&path) {
                Some(input) => self.step(input),
                None => Ok(()),
            },
            Wish::Request(request) => self.step(Input::Request(request)),
        }
    }

    /// What a document is now; nothing if it is gone, or if we wrote it.
    fn look(&self, path: &str) -> Option<Input> {
        let place = Path::new(path).ok()?;
        let hash = self.workspace.hash(&place).ok()??;
        if self.workspace.is_own(&place, &hash) {
            return None;
        }
        Some(Input::Edited { path: place.to_string(), hash })
    }

    fn step(&mut self, input: Input) -> Result<(), Update> {
        watching::keep(&self.workspace, &self.artifacts, &input);
        let moved = self.live.step(input).map_err(|error| Update::Broken(error.to_string()));
        let Moved { facts, effects } = moved?;
        let moved = !facts.is_empty();
        for fact in facts {
            if let Event::Returned { call, .. } = &fact.event {
                self.performer.ended(call);
            }
            self.tell(&Update::Fact(fact));
        }
        crash::reach("sync-effect");
        for effect in effects {
            self.performer.start(effect, &self.live);
        }
        if moved && self.live.is_idle() {
            self.tell(&Update::Idle);
        }
        Ok(())
    }

    /// A face whose queue is full is let go: it must not miss a fact, so it subscribes again.
    fn tell(&mut self, update: &Update) {
        self.feeds.retain(|feed| feed.try_send(update.clone()).is_ok());
    }

    fn tell_draft(&mut self, draft: &Update) {
        for feed in &self.feeds {
            if feed.capacity() > RESERVED {
                let _ = feed.try_send(draft.clone());
            }
        }
    }
}
