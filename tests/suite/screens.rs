//! The screen as cells: whole at every size, the same however it came there, and careful with keys.

use std::path::Path;
use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pilotfish::base::{CallId, SessionId, StillClock, Time};
use pilotfish::runtime::{Request, Update};
use pilotfish::session::{
    Answer, Author, Autonomy, Entry, Event, Log, Replay, Ruling, State, Store, ToolCall,
};
use pilotfish::tui::{App, Effect, Setup};
use rand::{RngExt, SeedableRng};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use crate::readme::root;

const SIZES: [(u16, u16); 5] = [(40, 12), (60, 20), (80, 24), (120, 36), (200, 60)];

fn setup() -> Setup {
    Setup::of(Arc::new(StillClock(at(0))), |_| None)
}

fn at(millis: u64) -> Time {
    Time::from_millis(1_800_000_000_000 + millis)
}

fn recorded(name: &str) -> App {
    let folder = root().join("sessions").join(name);
    let (replay, _) = Replay::open(&folder).unwrap();
    App::recorded(folder, replay.entries().to_vec(), &setup())
}

fn draw(app: &mut App, (width, height): (u16, u16), now: Time) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    app.draw(&mut buffer, now);
    buffer
}

pub fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut x = buffer.area.left();
        let mut line = String::new();
        while x < buffer.area.right() {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            x += (symbol.width() as u16).max(1);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn key(app: &mut App, code: KeyCode, now: Time) -> Vec<Effect> {
    app.press(KeyEvent::new(code, KeyModifiers::NONE), now)
}

fn keys(app: &mut App, keys: &str, now: Time) -> Vec<Effect> {
    keys.chars().flat_map(|letter| key(app, KeyCode::Char(letter), now)).collect()
}

#[test]
fn every_pane_is_whole_at_every_size() {
    for name in ["tiny-llama", "tiny-qwen2", "tiny-qwen3"] {
        let mut app = recorded(name);
        for (pane, words) in [
            ("0", ""),
            ("1", "Plan"),
            ("2", "Issues"),
            ("3", "Traj"),
            ("4", "Prof"),
            ("5", "Gates"),
        ] {
            keys(&mut app, pane, at(0));
            for size in SIZES {
                let text = text(&draw(&mut app, size, at(0)));
                assert!(text.contains("0✓ 1✓ 2✓"), "{name} {pane} {size:?}\n{text}");
                assert!(text.contains("AUTO"), "{name} {pane} {size:?}\n{text}");
                assert!(size.0 < 60 || text.contains(words), "{name} {pane} {size:?}\n{text}");
                assert!(text.lines().all(|line| line.width() <= usize::from(size.0)));
            }
        }
    }
}

#[test]
fn a_screen_is_the_same_however_it_came_there() {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(7);
    let mut app = recorded("tiny-qwen3");
    for _ in 0..60 {
        let size = (random.random_range(1..220), random.random_range(1..70));
        draw(&mut app, size, at(0));
    }
    for size in SIZES {
        assert_eq!(draw(&mut app, size, at(0)), draw(&mut recorded("tiny-qwen3"), size, at(0)));
    }
}

#[test]
fn scrubbing_back_and_forth_ends_where_it_began() {
    let mut app = recorded("tiny-llama");
    let end = draw(&mut app, (120, 40), at(0));
    for _ in 0..9 {
        keys(&mut app, "p", at(0));
    }
    let begin = text(&draw(&mut app, (120, 40), at(0)));
    assert!(begin.contains("0●"), "{begin}");
    for _ in 0..3 {
        keys(&mut app, "l", at(0));
    }
    key(&mut app, KeyCode::End, at(0));
    assert_eq!(draw(&mut app, (120, 40), at(0)), end);
}

/// A session in which a call waits for an answer.
struct Asking {
    app: App,
    log: Log,
    _folder: tempfile::TempDir,
}

impl Asking {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (log, _) = Store::of(folder.path()).create(&SessionId::from("s")).unwrap();
        let app = App::live(State::default(), &setup());
        let mut asking = Self { app, log, _folder: folder };
        asking.tell(Author::System, opened(), at(0));
        asking
    }

    fn tell(&mut self, by: Author, event: Event, now: Time) -> Arc<Entry> {
        let entry = self.log.append(now, by, event).unwrap();
        self.app.take(&Update::Fact(Arc::clone(&entry)), now);
        entry
    }

    fn ask(&mut self, id: &str, now: Time) {
        let args = json!({ "path": "plan.md", "text": "x" });
        let call = ToolCall { id: CallId::from(id), tool: "write".to_owned(), args };
        self.tell(Author::Agent, Event::Called(call), now);
        let ruling = Ruling::Ask { why: "writes `plan.md`".to_owned() };
        self.tell(Author::System, Event::Ruled { call: CallId::from(id), ruling }, now);
    }

    fn draw(&mut self, now: Time) -> String {
        text(&draw(&mut self.app, (90, 30), now))
    }
}

fn opened() -> Event {
    Event::Opened {
        model: "m".to_owned(),
        target: "sim".to_owned(),
        agent: "playbook".to_owned(),
        seq: 512,
        tokens: 64,
        seed: 0,
        version: "1".to_owned(),
    }
}

fn answer(id: &str, answer: Answer) -> Effect {
    Effect::Ask(Request::Answer { call: CallId::from(id), answer })
}

#[test]
fn keys_typed_into_a_message_never_answer_a_call() {
    let mut asking = Asking::new();
    keys(&mut asking.app, "yes y", at(0));
    asking.ask("c1", at(100));
    // Typed on at twenty keys a second: all of it is text.
    for step in 0..40 {
        let now = at(120 + 50 * step);
        asking.draw(now);
        assert_eq!(keys(&mut asking.app, "y", now), []);
    }
    let last = 120 + 50 * 39;
    let seen = asking.draw(at(last + 399));
    assert!(seen.contains("pause a moment"), "{seen}");
    assert_eq!(keys(&mut asking.app, "y", at(last + 399)), []);
    let quiet = last + 399 + 400;
    let seen = asking.draw(at(quiet));
    assert!(seen.contains("y once"), "{seen}");
    assert!(seen.contains(&format!("yes y{}", "y".repeat(41))), "the draft stays\n{seen}");
    assert_eq!(keys(&mut asking.app, "y", at(quiet)), [answer("c1", Answer::Once)]);
}

#[test]
fn a_call_is_not_answered_before_it_was_seen() {
    let mut asking = Asking::new();
    asking.ask("c1", at(0));
    assert_eq!(keys(&mut asking.app, "y", at(5_000)), [], "it was never drawn");
    asking.draw(at(5_000));
    assert_eq!(keys(&mut asking.app, "y", at(5_399)), []);
    assert_eq!(keys(&mut asking.app, "y", at(5_400)), [answer("c1", Answer::Once)]);
}

#[test]
fn the_first_waiting_call_is_shown_until_it_is_answered() {
    let mut asking = Asking::new();
    asking.ask("c1", at(0));
    asking.ask("c2", at(0));
    let seen = asking.draw(at(1_000));
    assert!(seen.contains("1 more wait"), "{seen}");
    assert_eq!(keys(&mut asking.app, "y", at(2_000)), [answer("c1", Answer::Once)]);
    let answered = Event::Answered { call: CallId::from("c1"), answer: Answer::Once };
    asking.tell(Author::User, answered, at(2_000));
    // The next one has to be seen as well.
    assert_eq!(keys(&mut asking.app, "y", at(2_001)), []);
    asking.draw(at(2_010));
    assert_eq!(keys(&mut asking.app, "y", at(2_500)), [answer("c2", Answer::Once)]);
}

#[test]
fn a_no_has_words_and_leaves_the_draft() {
    let mut asking = Asking::new();
    keys(&mut asking.app, "a draft", at(0));
    asking.ask("c1", at(10));
    asking.draw(at(3_000));
    assert_eq!(keys(&mut asking.app, "n", at(4_000)), []);
    let seen = asking.draw(at(4_010));
    assert!(seen.contains("why not?"), "{seen}");
    keys(&mut asking.app, "not yet", at(4_100));
    let why = "not yet".to_owned();
    let effects = key(&mut asking.app, KeyCode::Enter, at(4_200));
    assert_eq!(effects, [answer("c1", Answer::Reject { why })]);
    assert!(asking.draw(at(4_300)).contains("a draft"));
}

#[test]
fn the_slider_moves_by_key_and_shows_what_the_log_says() {
    let mut asking = Asking::new();
    assert!(asking.draw(at(0)).contains("GUIDE"));
    let effects = keys(&mut asking.app, ">", at(0));
    assert_eq!(effects, [Effect::Ask(Request::SetAutonomy(Autonomy::Edit))]);
    // What is shown is what holds: the fact moves it, not the key.
    assert!(asking.draw(at(10)).contains("GUIDE"));
    asking.tell(Author::User, Event::AutonomySet { autonomy: Autonomy::Edit }, at(20));
    let seen = asking.draw(at(30));
    assert!(seen.contains("EDIT") && !seen.contains("GUIDE"), "{seen}");
}

#[test]
fn a_long_change_can_be_read_to_its_last_line() {
    let folder = tempfile::tempdir().unwrap();
    let line = |number| [format!("line {number}"), " word".repeat(40), "\n".to_owned()].concat();
    let long: String = (1..400).map(line).collect();
    let mut asking = Asking::new();
    let args = json!({ "path": "plan.md", "text": format!("{long}the very end") });
    let call = ToolCall { id: CallId::from("c1"), tool: "write".to_owned(), args };
    asking.tell(Author::Agent, Event::Called(call), at(0));
    let ruling = Ruling::Ask { why: "writes".to_owned() };
    asking.tell(Author::System, Event::Ruled { call: CallId::from("c1"), ruling }, at(0));
    asking.app.load(folder.path(), at(0));
    for size in [(24, 24), (72, 24), (200, 60)] {
        draw(&mut asking.app, size, at(1_000));
        for _ in 0..400 {
            key(&mut asking.app, KeyCode::PageDown, at(2_000));
        }
        let seen = text(&draw(&mut asking.app, size, at(3_000)));
        assert!(size.0 < 30 || seen.contains("the very end"), "{size:?}\n{seen}");
        assert!(seen.contains(if size.0 < 30 { "too small" } else { "y once" }), "{seen}");
    }
}

/// The picture in the README is drawn by the program from a recording.
#[test]
fn the_picture_in_the_readme_is_the_screen() {
    let mut app = recorded("tiny-llama");
    app.load(Path::new("."), at(0));
    keys(&mut app, "3", at(0));
    for _ in 0..3 {
        keys(&mut app, "p", at(0));
    }
    app.load(Path::new("."), at(0));
    let picture = text(&draw(&mut app, (140, 32), at(0)));
    crate::readme::generated("README.md", "screen", &format!("```text\n{picture}```\n"));
}

/// Of a log that breaks off, what is whole is shown, and that it is not all.
#[test]
fn a_recording_that_is_cut_short_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let log = std::fs::read(root().join("sessions/tiny-llama/log.jsonl")).unwrap();
    let mut half = log[..log.len() / 2].to_vec();
    half.extend(b"rubbish\n{\"v\":1}\n");
    std::fs::write(folder.path().join("log.jsonl"), half).unwrap();
    let (replay, findings) = Replay::open(folder.path()).unwrap();
    let entries = replay.entries().to_vec();
    assert!(!entries.is_empty());
    let mut app = App::recorded(folder.path().to_owned(), entries, &setup()).with_flaws(&findings);
    let shown = text(&draw(&mut app, (100, 30), Time::from_millis(0)));
    assert!(shown.contains("a recording, cut short"), "{shown}");
}
