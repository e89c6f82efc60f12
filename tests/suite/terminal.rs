//! The screen in a real terminal: given back on every way out, and never spoken to by a text.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pilotfish::base::{Clock, SessionId, SystemClock, Time};
use pilotfish::session::{Author, Event, Store};
use pilotfish::tui::{self, Setup};

use crate::child;
use crate::readme::root;
use crate::term::Term;

const SIZE: (u16, u16) = (100, 30);

fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_pilotfish"))
}

fn recording() -> String {
    root().join("sessions/tiny-llama").display().to_string()
}

fn replay(folder: &Path) -> Term {
    let term = Term::open(&program(), &["replay", &recording()], folder, SIZE, &[]);
    term.wait_for("tiny-llama → sim");
    term
}

/// A name, and what is done to leave.
type Way<'a> = (&'a str, &'a dyn Fn(&mut Term));

#[test]
fn every_way_out_gives_the_terminal_back() {
    let folder = tempfile::tempdir().unwrap();
    let ways: [Way<'_>; 6] = [
        ("q", &|term| term.keys("q")),
        ("ctrl-c", &|term| term.keys("\u{3}")),
        ("SIGTERM", &|term| term.signal("TERM")),
        ("SIGHUP", &|term| term.signal("HUP")),
        ("SIGINT", &|term| term.signal("INT")),
        ("help, then SIGTERM", &|term| {
            term.keys("?");
            term.wait_for("esc closes");
            term.signal("TERM");
        }),
    ];
    for (name, leave) in ways {
        let mut term = replay(folder.path());
        assert!(term.taken().contains(&"the alternate screen"), "{name}");
        assert!(term.taken().contains(&"raw mode"), "{name}");
        leave(&mut term);
        term.end();
        assert_eq!(term.taken(), [""; 0], "{name}");
    }
}

#[test]
fn a_panic_gives_the_terminal_back_and_speaks_after() {
    let folder = tempfile::tempdir().unwrap();
    let command = child::command("panic", folder.path());
    let words: Vec<&str> = command.get_args().map(|word| word.to_str().unwrap()).collect();
    let vars: Vec<(&str, &str)> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_str().unwrap(), value?.to_str().unwrap())))
        .collect();
    let mut term = Term::open(Path::new(command.get_program()), &words, folder.path(), SIZE, &vars);
    term.end();
    assert_eq!(term.taken(), [""; 0]);
    assert!(term.screen().contains("the clock stopped"), "{}", term.screen());
}

/// The clock of a screen that is to panic while it draws.
struct Stopping(AtomicU64);

impl Clock for Stopping {
    fn now(&self) -> Time {
        assert!(self.0.fetch_add(1, Ordering::Relaxed) < 2, "the clock stopped");
        SystemClock.now()
    }
}

/// Run by the child: a screen that panics at its second frame.
pub fn panic() {
    let clock = Arc::new(Stopping(AtomicU64::new(0)));
    let setup = Setup::of(clock, |_| None);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _ = runtime.block_on(tui::replay(&root().join("sessions/tiny-llama"), setup));
}

#[test]
fn a_resized_terminal_is_filled_anew() {
    let folder = tempfile::tempdir().unwrap();
    let mut term = replay(folder.path());
    for step in 0..60 {
        term.resize((40 + step * 3, 12 + step));
    }
    term.resize((160, 40));
    term.wait("filled", |term| {
        let screen = term.screen();
        let first = screen.lines().next().unwrap_or_default();
        first.contains("tiny-llama → sim") && first.contains("AUTO") && screen.contains("q leave")
    });
    term.keys("q");
    term.end();
    assert_eq!(term.taken(), [""; 0]);
}

#[test]
fn a_stopped_screen_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "set -m; '{}' replay '{}'; echo STOPPED; read line; fg; echo LEFT",
        program().display(),
        recording()
    );
    let mut term = Term::open(Path::new("/bin/sh"), &["-c", &script], folder.path(), SIZE, &[]);
    term.wait_for("tiny-llama → sim");
    term.keys("\u{1a}");
    term.wait_for("STOPPED");
    assert_eq!(term.taken(), [""; 0]);
    term.keys("\n");
    term.wait_for("tiny-llama → sim");
    assert!(term.taken().contains(&"the alternate screen"));
    term.keys("q");
    term.wait_for("LEFT");
    assert_eq!(term.taken(), [""; 0]);
    term.end();
}

/// What a text may try: titles, the clipboard, clearing, leaving the screen, C1 bytes, marks that
/// turn the direction, and what never ends.
const EVIL: &str = "a\u{1b}]0;owned\u{7}b\u{1b}[2Jc\u{1b}[?1049ld\u{9b}31me\u{202e}f\u{2066}g\u{8}h\ri\
    \u{1b}Pq\u{1b}\\j\u{1b}]52;c;b3duZWQ=\u{7}k\u{0}l\u{1b}_x\u{1b}\\m\u{90}n\u{1b}]8;;http://x\u{1b}";

#[test]
fn no_text_speaks_to_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::of(folder.path().join("sessions"));
    let (mut log, _) = store.create(&SessionId::from("evil")).unwrap();
    let opened = Event::Opened {
        model: EVIL.to_owned(),
        target: EVIL.to_owned(),
        agent: EVIL.to_owned(),
        seq: 512,
        tokens: 64,
        seed: 0,
        version: "1".to_owned(),
    };
    let note = Event::Noted { kind: EVIL.to_owned(), text: EVIL.to_owned(), artifacts: Vec::new() };
    let facts = [
        (Author::System, opened),
        (Author::User, Event::UserSaid { text: EVIL.to_owned() }),
        (
            Author::Agent,
            Event::AgentSaid { text: format!("{EVIL}\n\n```\n{EVIL}\n```\n| {EVIL} |\n|-|\n") },
        ),
        (Author::System, note),
    ];
    for (by, event) in facts {
        log.append(Time::default(), by, event).unwrap();
    }
    let session = folder.path().join("sessions/evil");
    fs::write(folder.path().join("plan.md"), EVIL).unwrap();
    let words = ["replay", session.to_str().unwrap()];
    let mut term = Term::open(&program(), &words, folder.path(), SIZE, &[]);
    term.wait_for("4/4");
    for pane in ["1", "2", "3", "4", "5", "0", "]", "\r"] {
        term.keys(pane);
    }
    term.keys("q");
    term.end();
    let bytes = term.bytes();
    let text = String::from_utf8(bytes).unwrap();
    // Ours are these, and nothing else: CSI sequences, never a string or a C1 control.
    for (at, _) in text.match_indices('\u{1b}') {
        let next = text[at + 1..].chars().next();
        assert!(matches!(next, Some('[' | '7' | '8')), "ESC {next:?} at byte {at}");
    }
    for forbidden in
        ["\u{7}", "\u{8}", "\u{0}", "\u{9b}", "\u{90}", "\u{202e}", "\u{2066}", "\u{1b}[2Jc"]
    {
        assert!(!text.contains(forbidden), "{forbidden:?} reached the terminal");
    }
    assert_eq!(text.matches("\u{1b}[?1049l").count(), 1, "only our own leaving");
    assert!(text.contains("owned"), "the text itself is shown");
}
