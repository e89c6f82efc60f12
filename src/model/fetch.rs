//! Fetches a checkpoint from a hub: goes on where it broke off, keeps what its hash proves.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use reqwest::header::{AUTHORIZATION, RANGE};
use reqwest::{Client, Response, StatusCode};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::base::{FileError, Progress, Stop, file};
use crate::model::ModelError;

/// Where checkpoints are, and who asks.
#[derive(Clone, Debug)]
pub struct Hub {
    /// `https://huggingface.co`, or a mirror of it.
    pub endpoint: String,
    /// Sent to that host alone.
    pub token: Option<String>,
    /// Below which each repository gets a folder.
    pub cache: PathBuf,
}

/// What was fetched: written last, so that a folder with it is whole.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Manifest {
    revision: String,
    files: BTreeMap<String, Wanted>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Wanted {
    bytes: u64,
    /// Of large files; a hub tells no hash that we can check of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

const MANIFEST: &str = "fetched.json";
/// What a checkpoint is read from, besides its weights.
const BESIDE: [&str; 4] =
    ["config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"];
/// How often a connection may break before we give up.
const TRIES: usize = 4;
/// The most that the list of a repository, or a manifest, may take.
const MOST_LIST: u64 = 16 << 20;

impl Hub {
    /// The folder of a repository: `org--name`.
    pub fn folder(&self, repository: &str) -> PathBuf {
        self.cache.join(repository.replace('/', "--"))
    }

    /// A checkpoint that was fetched whole before: no network is needed for it.
    pub fn fetched(&self, repository: &str) -> Option<PathBuf> {
        let folder = self.folder(repository);
        let manifest = file::read(&folder.join(MANIFEST), MOST_LIST).ok()?;
        let manifest: Manifest = serde_json::from_slice(&manifest).ok()?;
        let whole = |(name, wanted): (&String, &Wanted)| {
            fs::metadata(folder.join(name)).is_ok_and(|about| about.len() == wanted.bytes)
        };
        manifest.files.iter().all(whole).then_some(folder)
    }

    /// Fetches what is missing of a repository, and returns its folder.
    pub async fn fetch(
        &self,
        repository: &str,
        progress: &Progress,
        stop: &Stop,
    ) -> Result<PathBuf, ModelError> {
        check_name(repository)?;
        if let Some(folder) = self.fetched(repository) {
            return Ok(folder);
        }
        let errand = Errand { hub: self, repository, client: client(), progress, stop };
        let folder = self.folder(repository);
        let manifest = errand.list().await?;
        for (name, wanted) in &manifest.files {
            errand.bring(&folder, name, wanted, &manifest.revision).await?;
        }
        let bytes = serde_json::to_vec_pretty(&manifest).unwrap_or_default();
        let staging = folder.join("staging");
        let kept = file::replace(&folder.join(MANIFEST), &bytes, &staging, "tool-write");
        kept.map_err(|error| errand.failed(&error))?;
        let _ = fs::remove_dir(staging);
        Ok(folder)
    }
}

/// `org/name` in the letters that a hub allows: it becomes part of a path and of an address.
fn check_name(repository: &str) -> Result<(), ModelError> {
    let plain = |part: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        !part.is_empty() && !part.starts_with('.') && part.chars().all(allowed)
    };
    match repository.split('/').collect::<Vec<_>>()[..] {
        [org, name] if plain(org) && plain(name) => Ok(()),
        _ => Err(ModelError::Fetch {
            what: format!("hf:{repository}"),
            message: "it is no name of a repository".into(),
            hint: "write `hf:org/name`, such as `hf:HuggingFaceTB/SmolLM2-135M-Instruct`".into(),
        }),
    }
}

fn client() -> Client {
    // Only the first call installs it; a second finds it there.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::new()
}

struct Errand<'a> {
    hub: &'a Hub,
    repository: &'a str,
    client: Client,
    progress: &'a Progress,
    stop: &'a Stop,
}

#[derive(Deserialize)]
struct Listing {
    sha: String,
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
struct Sibling {
    rfilename: String,
    size: Option<u64>,
    lfs: Option<Large>,
}

#[derive(Deserialize)]
struct Large {
    sha256: String,
    size: u64,
}

impl Errand<'_> {
    /// Which files there are, and what they must be.
    async fn list(&self) -> Result<Manifest, ModelError> {
        let Self { hub, repository, .. } = self;
        let address = format!("{}/api/models/{repository}/revision/main?blobs=true", hub.endpoint);
        let response = self.get(&address, 0).await?;
        let text = response.bytes().await.map_err(|error| self.failed(&Plain(&error)))?;
        let listing: Listing = serde_json::from_slice(&text)
            .map_err(|error| self.failed(&format!("the hub's list makes no sense: {error}")))?;
        let Listing { sha: revision, siblings } = listing;
        let is_wanted = |name: &str| {
            let weights =
                name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json");
            BESIDE.contains(&name) || (weights && !name.contains('/'))
        };
        let wanted = siblings.into_iter().filter(|sibling| is_wanted(&sibling.rfilename));
        let files = wanted.map(|sibling| {
            let bytes = sibling.lfs.as_ref().map(|large| large.size).or(sibling.size);
            let sha256 = sibling.lfs.map(|large| large.sha256);
            (sibling.rfilename, Wanted { bytes: bytes.unwrap_or_default(), sha256 })
        });
        let files: BTreeMap<_, _> = files.collect();
        for needed in ["config.json", ".safetensors"] {
            if !files.keys().any(|name| name.ends_with(needed)) {
                return Err(ModelError::Fetch {
                    what: format!("hf:{repository}"),
                    message: format!("the repository has no `{needed}`"),
                    hint: "name one that holds a Hugging Face checkpoint in safetensors".into(),
                });
            }
        }
        Ok(Manifest { revision, files })
    }

    /// Brings one file, unless it is there; what came of it before counts.
    async fn bring(
        &self,
        folder: &Path,
        name: &str,
        wanted: &Wanted,
        revision: &str,
    ) -> Result<(), ModelError> {
        let place = folder.join(name);
        if fs::metadata(&place).is_ok_and(|about| about.len() == wanted.bytes)
            && self.is_right(&place, wanted)?
        {
            return Ok(());
        }
        file::create_folder(folder).map_err(|error| self.failed(&error))?;
        let part = folder.join(format!("{name}.part"));
        let Self { hub, repository, .. } = self;
        let address = format!("{}/{repository}/resolve/{revision}/{name}", hub.endpoint);
        let mut tried = 0;
        loop {
            tried += 1;
            match self.go_on(&address, name, &part, wanted).await {
                Ok(()) => break,
                Err(Broken::Off(why)) if tried < TRIES => {
                    self.progress.say(&format!("{name}: {why}, going on"));
                }
                Err(Broken::Off(why)) => return Err(self.failed(&why)),
                Err(Broken::For(error)) => return Err(error),
            }
        }
        if !self.is_right(&part, wanted)? {
            let _ = fs::remove_file(&part); // It would never become right.
            let message = format!("`{name}` has not the hash that the hub tells");
            return Err(self.failed(&message));
        }
        fs::rename(&part, &place).map_err(|error| self.io("write", &place, error))
    }

    /// Adds to a part what is missing of it.
    async fn go_on(
        &self,
        address: &str,
        name: &str,
        part: &Path,
        wanted: &Wanted,
    ) -> Result<(), Broken> {
        let mut have = fs::metadata(part).map_or(0, |about| about.len());
        if have > wanted.bytes {
            let _ = fs::remove_file(part);
            have = 0;
        }
        if have == wanted.bytes && part.exists() {
            return Ok(());
        }
        let mut response = self.get(address, have).await?;
        // A hub that knows no ranges sends the whole again.
        let from_start = response.status() != StatusCode::PARTIAL_CONTENT;
        let mut options = OpenOptions::new();
        let opened =
            options.create(true).write(true).append(!from_start).truncate(from_start).open(part);
        let mut out = opened.map_err(|error| self.io("write", part, error))?;
        if from_start {
            have = 0;
        }
        let mut told = 0;
        while let Some(chunk) =
            response.chunk().await.map_err(|error| Broken::Off(error.to_string()))?
        {
            if self.stop.is_wanted() {
                return Err(ModelError::Stopped.into());
            }
            out.write_all(&chunk).map_err(|error| self.io("write", part, error))?;
            have += chunk.len() as u64;
            let percent = have * 100 / wanted.bytes.max(1);
            if percent >= told + 10 {
                told = percent;
                self.progress
                    .say(&format!("{name}: {percent} % of {:.1} MB", wanted.bytes as f64 / 1e6));
            }
        }
        out.sync_all().map_err(|error| self.io("write", part, error))?;
        match have.cmp(&wanted.bytes) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Less => Err(Broken::Off("the connection ended early".into())),
            std::cmp::Ordering::Greater => {
                let _ = fs::remove_file(part);
                let message = format!("`{name}` is longer than the hub tells");
                Err(self.failed(&message).into())
            }
        }
    }

    async fn get(&self, address: &str, from: u64) -> Result<Response, ModelError> {
        let mut request = self.client.get(address);
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-"));
        }
        if let Some(token) = &self.hub.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        let response = request.send().await.map_err(|error| self.failed(&Plain(&error)))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let (message, hint) = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => (
                format!("the hub refuses it ({status})"),
                "accept its licence on the hub, and set `HF_TOKEN` to a token that may read it",
            ),
            StatusCode::NOT_FOUND => (
                format!("the hub has no such repository ({status})"),
                "look whether the name is right",
            ),
            _ => (format!("the hub answers {status}"), "try again later; what came so far is kept"),
        };
        let what = format!("hf:{}", self.repository);
        Err(ModelError::Fetch { what, message, hint: hint.into() })
    }

    /// Whether a file has the hash that it must have. One without has only its length.
    fn is_right(&self, place: &Path, wanted: &Wanted) -> Result<bool, ModelError> {
        let Some(sha256) = &wanted.sha256 else { return Ok(true) };
        let mut file = File::open(place).map_err(|error| self.io("read", place, error))?;
        let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
        loop {
            let read = file.read(&mut buffer).map_err(|error| self.io("read", place, error))?;
            if read == 0 {
                break;
            }
            hasher.update(&buffer[..read]);
        }
        let hash = format!("{:x}", hasher.finalize());
        Ok(hash == sha256.to_ascii_lowercase())
    }

    fn io(&self, verb: &'static str, place: &Path, error: io::Error) -> ModelError {
        self.failed(&FileError::new(verb, place, error))
    }

    /// With what can be done without the hub.
    fn failed(&self, why: &dyn std::fmt::Display) -> ModelError {
        let folder = self.hub.folder(self.repository);
        let message = why.to_string();
        let message = message.lines().next().unwrap_or_default().to_owned();
        ModelError::Fetch {
            what: format!("hf:{}", self.repository),
            message,
            hint: format!(
                "try again, it goes on where it broke off; or put `config.json`, `tokenizer.json` \
                 and the `.safetensors` files into a folder such as `{}` and name that folder",
                folder.display()
            ),
        }
    }
}

/// An error of the client with its causes, which alone tell what happened.
struct Plain<'a>(&'a reqwest::Error);

impl std::fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut told = self.0.to_string();
        let mut cause = std::error::Error::source(self.0);
        while let Some(error) = cause {
            told = format!("{told}: {error}");
            cause = error.source();
        }
        f.write_str(&told)
    }
}

/// Why a file did not come: the connection may be better next time, or nothing will be.
enum Broken {
    Off(String),
    For(ModelError),
}

impl From<ModelError> for Broken {
    fn from(error: ModelError) -> Self {
        Self::For(error)
    }
}
