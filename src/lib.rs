//! The map of the program. `tests/suite/architecture.rs` reads this table and holds the code to it.
//!
//! | floor | module    | what it is | may use |
//! |------:|-----------|------------|---------|
//! | 0 | base      | what any program needs: ids, clock, hash, stop, findings | |
//! | 1 | tensor    | numbers: dtypes, shapes, reference operators, comparison | base |
//! | 1 | session   | the log of facts, and the state folded from it | base |
//! | 1 | workspace | the files: documents, patches, snapshots, watching, processes, sandbox | base |
//! | 2 | model     | the network to deploy, and its FP32 oracle | base, tensor |
//! | 2 | policy    | what may happen without asking | base, session, workspace |
//! | 2 | skills    | written know-how, recipes, memory of results, and when each applies | base, session |
//! | 3 | npu       | the device: program, legality checks, simulator, costs, floors, moves, search | base, tensor, model |
//! | 3 | agent     | minds that choose the next call | base, session, workspace, skills |
//! | 4 | target    | where a program runs: simulator, compiler checkout, declared commands | base, tensor, workspace, model, npu |
//! | 5 | pipeline  | the eight phases, their gates, the evaluator | base, tensor, session, workspace, model, npu, target |
//! | 6 | tools     | hands that carry out a call | base, tensor, session, workspace, policy, skills, model, npu, target, pipeline |
//! | 7 | runtime   | one session, alive: decide, append, perform; the fleet | base, session, workspace, policy, skills, agent, pipeline, tools |
//! | 8 | tui       | the face for a person | base, session, workspace, policy, skills, npu, pipeline, runtime |
//! | 9 | cli       | every way in | base, tensor, session, workspace, model, policy, skills, npu, target, pipeline, runtime, tui |
//!
//! An arrow that is not in this table does not exist; a row may use rows of lower floors only.
//!
//! Absences that matter:
//! - `agent` and `tools` do not know each other: a mind sees `ToolSpec`s and says `ToolCall`s.
//! - `pipeline` knows no mind, and only `pipeline::evaluate` makes a verdict.
//! - `model` and `npu` do not know `session`: they return values, whoever called writes them down.
//! - `session` opens its own files and nothing else; `State::apply` cannot fail and cannot act.
//! - `tui` knows no `agent`, `tools`, `model` or `target`: it draws the state and sends requests.
//! - Only `cli` prints to stdout; only `tui::terminal` writes to the terminal.

pub mod base;

pub mod session;
pub mod tensor;
pub mod workspace;

pub mod model;
pub mod policy;
pub mod skills;

pub mod agent;
pub mod npu;

pub mod target;

pub mod pipeline;

pub mod tools;

pub mod runtime;

pub mod tui;

pub mod cli;
