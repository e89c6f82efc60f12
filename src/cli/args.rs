//! The words of the command line.

use clap::{Parser, Subcommand};

use super::browse::Browse;
use super::completions::Completions;
use super::deploy::Deploy;
use super::fmt::Fmt;
use super::fork::Fork;
use super::gate::Gates;
use super::judge::Judge;
use super::model::Models;
use super::npu::Npu;
use super::oracle::Oracle;
use super::replay::Replay;
use super::resume::Resume;
use super::schema::Schema;
use super::skills::Skills;
use super::status::Status;

/// A terminal copilot that takes a language model from its checkpoint to a fast, proven deployment
/// on a spatial NPU.
#[derive(Parser)]
#[command(
    name = "pilotfish",
    version,
    after_help = "Exit codes: 0 pass, 1 a gate failed, 2 usage or input, 3 blocked: a person is needed.\n\
        Without a command, in a terminal: the screen with recent sessions and models.\n\n\
        Examples:\n  \
        pilotfish deploy tiny-llama --headless --autonomy auto\n  \
        pilotfish deploy tiny-llama --workspace by-hand\n  \
        pilotfish judge by-hand"
)]
pub(super) struct Args {
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Subcommand)]
pub(super) enum Command {
    Deploy(Deploy),
    #[command(visible_alias = "open")]
    Resume(Resume),
    Replay(Replay),
    Fork(Fork),
    Browse(Browse),
    Status(Status),
    Judge(Judge),
    Gate(Gates),
    Oracle(Oracle),
    Npu(Npu),
    Skills(Skills),
    Model(Models),
    Fmt(Fmt),
    Schema(Schema),
    Completions(Completions),
}
