//! What a face holds of a live session: it sends requests, and takes in what has happened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::request::Request;
use super::update::Update;
use crate::base::SessionId;
use crate::session::{Entry, State};

/// Cheap to clone. When the last one is dropped the session ends: its work is stopped, its log
/// stays as it is and can be resumed.
#[derive(Clone, Debug)]
pub struct Handle {
    place: Arc<Place>,
    wishes: mpsc::Sender<Wish>,
}

/// Where a session lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub id: SessionId,
    /// The root of the workspace.
    pub workspace: PathBuf,
    /// The folder of the session: its log, and the artifacts that the state names.
    pub folder: PathBuf,
}

/// The session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session has ended")]
pub struct Ended;

/// The state as it is, and what happens from now on.
///
/// The queue is bounded. A face that lags misses drafts; one that lags far enough to miss a fact
/// finds its feed closed instead, and subscribes again.
#[derive(Debug)]
pub struct Feed {
    pub state: State,
    /// The facts that the state is the fold of.
    pub past: Vec<Arc<Entry>>,
    pub updates: mpsc::Receiver<Update>,
}

/// What reaches the session's own task.
#[derive(Debug)]
pub(super) enum Wish {
    Request(Request),
    Subscribe(oneshot::Sender<Feed>),
}

const WISHES: usize = 64;

impl Handle {
    pub(super) fn new(place: Place) -> (Self, mpsc::Receiver<Wish>) {
        let (wishes, receiver) = mpsc::channel(WISHES);
        (Self { place: Arc::new(place), wishes }, receiver)
    }

    pub fn id(&self) -> &SessionId {
        &self.place.id
    }

    pub fn workspace(&self) -> &Path {
        &self.place.workspace
    }

    pub fn folder(&self) -> &Path {
        &self.place.folder
    }

    pub async fn send(&self, request: Request) -> Result<(), Ended> {
        self.wishes.send(Wish::Request(request)).await.map_err(|_| Ended)
    }

    /// For a face that must not wait; `Ended` also when the session is too busy to listen.
    pub fn try_send(&self, request: Request) -> Result<(), Ended> {
        self.wishes.try_send(Wish::Request(request)).map_err(|_| Ended)
    }

    pub async fn subscribe(&self) -> Result<Feed, Ended> {
        let (sender, feed) = oneshot::channel();
        self.wishes.send(Wish::Subscribe(sender)).await.map_err(|_| Ended)?;
        feed.await.map_err(|_| Ended)
    }
}
