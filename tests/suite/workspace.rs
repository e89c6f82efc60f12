//! The files of a workspace and the processes in it, where the machine has a say.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use pilotfish::base::Stop;
use pilotfish::workspace::{Command, End, Finished, Sandbox, Workspace};

use crate::{child, need};

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn run(command: Command) -> Finished {
    block_on(command.run(&Stop::never(), |_, _| ())).unwrap()
}

/// In a child: opens a workspace that cannot be written, and tells what it hears.
pub fn create(folder: &Path) {
    let told = Workspace::create(folder).map(|_| ()).unwrap_err();
    println!("told: {}", told.to_string().replace('\n', " "));
}

#[test]
fn a_workspace_that_is_read_only_is_told_before_anything_begins() {
    let Some(mount) = need::tmpfs("ro") else { return };
    let folder = tempfile::tempdir().unwrap();
    let words: Vec<&str> = mount.iter().map(String::as_str).collect();
    let output = child::wrapped(&words, "create", folder.path()).output().unwrap();
    let told = child::told(&output).concat();
    assert!(told.contains("cannot create") && told.contains(".pilotfish"), "{told}");
    assert!(told.contains("Read-only file system") && told.contains("hint: make it"), "{told}");
}

/// In a child: runs a command that would go on for long, until somebody kills us.
pub fn hold(folder: &Path) {
    let command = Command::new(["sh", "-c", "echo told: $$; exec sleep 600"], folder);
    let heard = |_, bytes: &[u8]| print!("{}", String::from_utf8_lossy(bytes));
    let _ = block_on(command.run(&Stop::never(), heard));
}

#[test]
fn a_command_ends_with_the_process_that_runs_it_however_that_ends() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = child::command("hold", folder.path());
    let mut holder = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    let pid = lines.find_map(|line| Some(line.unwrap().split_once("told: ")?.1.to_owned()));
    let stat = format!("/proc/{}/stat", pid.unwrap().trim());
    let is_alive = || {
        let stat = fs::read_to_string(&stat).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z") && !stat.contains(") X")
    };
    assert!(is_alive());
    holder.kill().unwrap(); // With SIGKILL: it can clean nothing up.
    holder.wait().unwrap();
    let began = Instant::now();
    while is_alive() {
        assert!(began.elapsed() < Duration::from_secs(20), "the command outlives its parent");
        std::thread::yield_now();
    }
}

#[test]
fn a_sandbox_closes_the_network_or_says_that_it_cannot() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let folder = tempfile::tempdir().unwrap();
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected");
    let bash = || Command::new(["bash", "-c", &script], folder.path());
    let open = run(bash().sandbox(Sandbox::new().read(folder.path()).with_network()));
    assert_eq!((&open.out[..], open.confined.tcp), (&b"connected\n"[..], false));
    let closed = run(bash().sandbox(Sandbox::new().read(folder.path())));
    assert_eq!(closed.out.is_empty(), closed.confined.tcp, "{}", closed.confined);
    assert!(closed.confined.tcp || closed.confined.lacks.is_some());
    eprintln!("here a child is {}", closed.confined);
}

#[test]
fn a_sandbox_keeps_secrets_of_the_environment_and_of_other_processes() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("env | grep -c CARGO; cat /proc/{}/environ | wc -c", std::process::id());
    let finished = run(Command::new(["sh", "-c", &script], folder.path()).sandbox(Sandbox::new()));
    assert_eq!(finished.end, End::Exited(0));
    let told = String::from_utf8(finished.out).unwrap();
    assert!(told.starts_with("0\n"), "{told}");
    if finished.confined.files {
        assert_eq!(told.lines().nth(1).map(str::trim), Some("0"), "{told}");
    }
}
