//! What tests do in a process of their own: to be killed, to find a disk full, to leave children.

use std::env;
use std::path::Path;
use std::process::{Command, Output};

use crate::{session, terminal, workspace};

const WHAT: &str = "PILOTFISH_TEST_CHILD";
const WHERE: &str = "PILOTFISH_TEST_FOLDER";

/// This binary again, to do one thing in one folder. What it tells begins with `told: `.
pub fn command(what: &str, folder: &Path) -> Command {
    wrapped(&[], what, folder)
}

/// The same below another program, such as one that changes what the disk looks like.
pub fn wrapped(wrapper: &[&str], what: &str, folder: &Path) -> Command {
    let exe = env::current_exe().unwrap();
    let mut words = wrapper.iter().map(Into::into).collect::<Vec<std::ffi::OsString>>();
    words.push(exe.into());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(["child::child", "--exact", "--nocapture"]);
    command.env(WHAT, what).env(WHERE, folder).env_remove("PILOTFISH_CRASH");
    command
}

/// What a child told.
pub fn told(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(|line| Some(line.split_once("told: ")?.1.to_owned())).collect()
}

/// Not a test of its own: without its variable it has nothing to do.
#[test]
fn child() {
    let (Ok(what), Some(folder)) = (env::var(WHAT), env::var_os(WHERE)) else { return };
    let folder = Path::new(&folder);
    match what.split_once(' ').unwrap_or((&what, "")) {
        ("fill", _) => session::fill(folder),
        ("steps", crash) => session::steps(folder, crash),
        ("create", _) => workspace::create(folder),
        ("hold", _) => workspace::hold(folder),
        ("panic", _) => terminal::panic(),
        (other, _) => panic!("no child does `{other}`"),
    }
}
