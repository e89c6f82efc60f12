//! `deploy`: the main job.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::error::Problem;
use super::face::{self, Face};
use super::places;
use super::which::Which;
use crate::base::nearest;
use crate::pipeline::open_model;
use crate::runtime;
use crate::session::{Autonomy, Store};
use crate::workspace::{PRIVATE, SETTINGS, Settings};

/// Deploy a model: eight phases, each gate judged by an independent evaluator
#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 every gate and the evaluator pass, 1 a gate failed, 2 usage or \
    input, 3 blocked.\n\nExamples:\n  \
    pilotfish deploy tiny-llama\n  \
    pilotfish deploy tiny-llama --headless --autonomy auto --json\n  \
    pilotfish deploy smollm2.gguf --headless --autonomy auto --seq 512 --tokens 64"
)]
pub(super) struct Deploy {
    /// A bundled name, a folder or file (safetensors with config.json, GGUF), or hf:org/name
    model: String,
    /// Where programs run
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// The mind: playbook, or replay:<session>
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// How far it goes alone: observe, guide, edit, phase or auto
    #[arg(long, value_name = "STOP")]
    autonomy: Option<String>,
    /// The folder of the deployment; made if it is missing [default: <model>-xdna2]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Nobody is there: needs --autonomy auto
    #[arg(long)]
    headless: bool,
    /// One fact a line, the same lines as the session's log (with --headless)
    #[arg(long)]
    json: bool,
    /// Prompt tokens that prefill is compiled for
    #[arg(long, value_name = "N")]
    seq: Option<usize>,
    /// Tokens of the printed sample
    #[arg(long, value_name = "N")]
    tokens: Option<usize>,
    /// Only the first layers
    #[arg(long, value_name = "N")]
    layers: Option<usize>,
    /// Seeded weights in place of a checkpoint's: structure, numerics and time only
    #[arg(long)]
    synthetic: bool,
    /// Of inputs and of synthetic weights
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl Deploy {
    /// With the model alone, as the screen's home asks for it.
    pub(super) fn of(model: String) -> Self {
        Self {
            model,
            target: None,
            agent: None,
            autonomy: None,
            workspace: None,
            headless: false,
            json: false,
            seq: None,
            tokens: None,
            layers: None,
            synthetic: false,
            seed: None,
        }
    }

    pub(super) fn run(self) -> anyhow::Result<u8> {
        let face = Face::of(self.headless, self.json)?;
        let which = Which::of(&self.model, self.synthetic)?;
        let root = self.root(&which.short)?;
        let settings = self.settings(&root, which.model)?;
        face.agree(Autonomy::parse(&settings.autonomy).unwrap_or_default())?;
        // What cannot be opened is told before anything is written.
        open_model(&settings, &root).map_err(|error| Problem::model(&error))?;
        let world = places::world(face.presence())?;
        face::live(face, move || Ok(runtime::create(&root, &settings, &world)?))
    }

    /// Where the deployment goes. A workspace with a session is another deployment's.
    fn root(&self, short: &str) -> anyhow::Result<PathBuf> {
        let taken = |root: &Path| {
            let sessions = Store::of(root.join(PRIVATE).join("sessions"));
            sessions.folders().is_ok_and(|folders| !folders.is_empty())
        };
        if let Some(root) = &self.workspace {
            if taken(root) {
                let root = root.display();
                return Err(Problem::usage(
                    format!("there is a session in `{root}` already"),
                    format!(
                        "go on with it by `pilotfish resume {root}`, or choose another folder with `--workspace`"
                    ),
                ));
            }
            return Ok(root.clone());
        }
        let first = format!("{short}-xdna2");
        let names = std::iter::once(first.clone()).chain((2..).map(|n| format!("{first}-{n}")));
        let mut free = names.map(PathBuf::from).filter(|root| !taken(root));
        Ok(free.next().expect("there is no end to the names"))
    }

    /// What the workspace says already, and over it what was said on the command line.
    fn settings(&self, root: &Path, model: String) -> anyhow::Result<Settings> {
        let mut settings = match fs::read_to_string(root.join(SETTINGS)) {
            Ok(text) => {
                let (settings, findings) = Settings::parse(&text);
                // The command line says which model.
                let wrong = findings
                    .into_iter()
                    .find(|finding| finding.is_error() && !settings.model.is_empty());
                match wrong {
                    Some(finding) => return Err(Problem::usage(finding.to_string(), "")),
                    None => settings,
                }
            }
            Err(_) => Settings::of(""),
        };
        settings.model = model;
        if let Some(stop) = &self.autonomy {
            known_stop(stop)?.name().clone_into(&mut settings.autonomy);
        }
        settings.target = self.target.clone().unwrap_or(settings.target);
        settings.agent = self.agent.clone().unwrap_or(settings.agent);
        settings.seq = at_least_one("--seq", self.seq)?.unwrap_or(settings.seq);
        settings.tokens = at_least_one("--tokens", self.tokens)?.unwrap_or(settings.tokens);
        settings.layers = at_least_one("--layers", self.layers)?.or(settings.layers);
        settings.seed = self.seed.unwrap_or(settings.seed);
        settings.synthetic |= self.synthetic;
        Ok(settings)
    }
}

pub(super) fn known_stop(word: &str) -> anyhow::Result<Autonomy> {
    Autonomy::parse(word).ok_or_else(|| {
        let names = Autonomy::ALL.map(Autonomy::name);
        let hint = match nearest(word, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the stops are {}", names.join(", ")),
        };
        Problem::usage(format!("`--autonomy {word}`: there is no such stop"), hint)
    })
}

/// The most that a compiled sequence or a sample may have, as in the settings.
const MOST: usize = 1 << 20;

fn at_least_one(flag: &str, value: Option<usize>) -> anyhow::Result<Option<usize>> {
    match value {
        Some(0) => Err(Problem::usage(format!("`{flag} 0`: at least 1 is needed"), "")),
        Some(n) if n > MOST => Err(Problem::usage(format!("`{flag} {n}`: at most {MOST}"), "")),
        value => Ok(value),
    }
}
