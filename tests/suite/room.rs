//! A place of one's own for a run of the real program: a workspace, settings, and a short road.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pilotfish::session::{Replay, State, Store};
use tempfile::TempDir;

/// The moment at which everything happens.
pub const NOON: &str = "2026-01-01T12:00:00Z";

/// Nothing in it outlives the test.
pub struct Room {
    folder: TempDir,
}

impl Room {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// With a skill of its own that leads down a road of a few calls of every kind.
    pub fn with_short_road() -> Self {
        let room = Self::new();
        let skill = room.workspace().join("skills/deploy-model");
        fs::create_dir_all(&skill).unwrap();
        fs::write(skill.join("SKILL.md"), SKILL).unwrap();
        fs::write(skill.join("recipe.toml"), ROAD).unwrap();
        room
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn workspace(&self) -> PathBuf {
        self.path().join("workspace")
    }

    /// The real program, in this folder, knowing nothing of the person who runs the tests.
    pub fn pilotfish(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pilotfish"));
        command.args(words).current_dir(self.path()).stdin(Stdio::null());
        command.env("PILOTFISH_CLOCK", NOON).env_remove("PILOTFISH_CRASH");
        for name in ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "HOME"]
        {
            command.env(name, self.path().join("home"));
        }
        command
    }

    pub fn run(&self, words: &[&str]) -> Output {
        self.pilotfish(words).output().unwrap()
    }

    /// The folder of the newest session.
    pub fn session(&self) -> Option<PathBuf> {
        let sessions = Store::of(self.workspace().join(".pilotfish/sessions"));
        sessions.folders().unwrap().pop()
    }

    pub fn state(&self) -> State {
        Replay::open(&self.session().unwrap()).unwrap().0.state()
    }

    /// Every file of the workspace by its path from there, without those that `left_out` names.
    pub fn files(&self, left_out: impl Fn(&str) -> bool) -> BTreeMap<String, Vec<u8>> {
        let root = self.workspace();
        let mut files = BTreeMap::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for item in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let name = item.path().strip_prefix(&root).unwrap().display().to_string();
                if item.file_type().unwrap().is_dir() {
                    folders.push(item.path());
                } else if !left_out(&name) {
                    files.insert(name, fs::read(item.path()).unwrap());
                }
            }
        }
        files
    }
}

/// What a run said, for a test that fails.
pub fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr))
}

const SKILL: &str = "\
---
name: deploy-model
description: Leads a short way, for tests. Use it where a whole deployment would take too long.
---
# A short way
";

const ROAD: &str = r###"
[[step]]
do = "say"
text = "I go a short way with `{{ model }}`."

[[step]]
do = "document"
path = "plan.md"
section = "# Deployment of {{ model }}"
text = "A short way.\n\n- [ ] Phase 0 · CPU reference\n"

[[step]]
do = "document"
path = "issues.md"
section = "# Issues of {{ model }}"
text = "One section an issue."

[[step]]
do = "enter"
phase = "reference"

[[step]]
do = "call"
tool = "open_model"
save = "net"

[[step]]
do = "gate"
gate = "scope"

[[step]]
do = "gate"
gate = "weights"

[[step]]
do = "call"
tool = "floor"

[[step]]
do = "gate"
gate = "floor"

[[step]]
do = "call"
tool = "lower"

[[step]]
do = "call"
tool = "check"

[[step]]
do = "gate"
gate = "legality"

[[step]]
do = "call"
tool = "profile"
with = { stage = "decode", kind = "baseline", change = "the naive program" }

[[step]]
do = "call"
tool = "suggest"
with = { stage = "decode", moves = ["make-static"], limit = 4 }
save = "first"

[[step]]
do = "call"
tool = "apply_move"
with = { stage = "decode", move = "{{ first.suggestions[0].move }}", site = "{{ first.suggestions[0].site }}" }

[[step]]
do = "call"
tool = "undo_move"
with = { stage = "decode" }

[[step]]
do = "call"
tool = "apply_move"
with = { stage = "decode", move = "{{ first.suggestions[1].move }}", site = "{{ first.suggestions[1].site }}" }

[[step]]
do = "call"
tool = "profile"
with = { stage = "decode", kind = "kept", change = "one weight stays" }

[[step]]
do = "gate"
gate = "legality"

[[step]]
do = "call"
tool = "note"
with = { kind = "lesson", title = "A short way", text = "It is enough to be killed on." }

[[step]]
do = "call"
tool = "remember"
with = { text = "a short way of {{ model }}: {{ baseline.decode.total_us }} to {{ now.decode.total_us }} us" }

[[step]]
do = "document"
path = "perf_opt_traj.md"
section = "## Steps"
text = "| step | stage | after | receipt |\n|--:|---|--:|---|\n| 1 | decode | {{ now.decode.total_us }} | {{ gates.legality.receipt }} |\n"

[[step]]
do = "document"
path = "plan.md"
section = "## Phase 0 · CPU reference"
text = "Scope {{ gates.scope.verdict }}, receipt {{ gates.scope.receipt }}."

[[step]]
do = "document"
path = "plan.md"
mode = "tick"
text = "Phase 0 · CPU reference"
"###;
