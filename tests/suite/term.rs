//! The real program in a real pseudo-terminal, seen through a terminal emulator.

use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

pub struct Term {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    seen: Arc<Mutex<Seen>>,
}

struct Seen {
    parser: vt100::Parser,
    bytes: Vec<u8>,
}

/// Long enough for a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_mins(1);

impl Term {
    /// Runs a program in this folder, knowing nothing of the person who runs the tests.
    pub fn open(
        program: &Path,
        words: &[&str],
        folder: &Path,
        (columns, rows): (u16, u16),
        vars: &[(&str, &str)],
    ) -> Self {
        let size = PtySize { rows, cols: columns, ..PtySize::default() };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(program);
        command.args(words);
        command.cwd(folder);
        command.env_clear();
        for name in ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "HOME"]
        {
            command.env(name, folder.join("home"));
        }
        command.env("PATH", std::env::var_os("PATH").unwrap());
        for (name, value) in [("TERM", "xterm-256color"), ("COLORTERM", "truecolor")] {
            command.env(name, value);
        }
        for (name, value) in vars {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let parser = vt100::Parser::new(rows, columns, 0);
        let seen = Arc::new(Mutex::new(Seen { parser, bytes: Vec::new() }));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let heard = Arc::clone(&seen);
        thread::spawn(move || {
            let mut piece = [0; 1 << 14];
            // A pseudo-terminal whose other side is gone reads as an error.
            while let Ok(count @ 1..) = reader.read(&mut piece) {
                let mut seen = heard.lock().unwrap();
                seen.parser.process(&piece[..count]);
                seen.bytes.extend_from_slice(&piece[..count]);
            }
        });
        let writer = pair.master.take_writer().unwrap();
        Self { child, master: pair.master, writer, seen }
    }

    pub fn keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    pub fn screen(&self) -> String {
        self.seen.lock().unwrap().parser.screen().contents()
    }

    /// Everything that the program has written.
    pub fn bytes(&self) -> Vec<u8> {
        self.seen.lock().unwrap().bytes.clone()
    }

    pub fn wait(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !holds(self) {
            assert!(begun.elapsed() < PATIENCE, "never {what}:\n{}", self.screen());
            rest();
        }
    }

    pub fn wait_for(&self, words: &str) {
        self.wait(words, |term| term.screen().contains(words));
    }

    pub fn resize(&self, (columns, rows): (u16, u16)) {
        self.seen.lock().unwrap().parser.screen_mut().set_size(rows, columns);
        self.master.resize(PtySize { rows, cols: columns, ..PtySize::default() }).unwrap();
    }

    pub fn signal(&self, signal: &str) {
        let id = self.child.process_id().unwrap().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
    }

    /// Waits for the end of the program.
    pub fn end(&mut self) {
        let begun = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < PATIENCE, "does not end:\n{}", self.screen());
            rest();
        }
        // What it wrote last is still on its way to us.
        (0..5).for_each(|_| rest());
    }

    /// What of the terminal is still taken: nothing, once it was given back.
    pub fn taken(&self) -> Vec<&'static str> {
        let seen = self.seen.lock().unwrap();
        let screen = seen.parser.screen();
        let mouse = screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None;
        let modes = [
            (screen.alternate_screen(), "the alternate screen"),
            (screen.hide_cursor(), "the cursor is hidden"),
            (screen.bracketed_paste(), "bracketed paste"),
            (mouse, "the mouse"),
            (self.is_raw(), "raw mode"),
        ];
        modes.into_iter().filter(|(on, _)| *on).map(|(_, what)| what).collect()
    }

    fn is_raw(&self) -> bool {
        let tty = self.master.tty_name().unwrap();
        let modes = Command::new("stty").arg("-F").arg(tty).arg("-a").output().unwrap();
        String::from_utf8_lossy(&modes.stdout).contains("-icanon")
    }
}

#[expect(clippy::disallowed_methods, reason = "another process cannot be awaited")]
fn rest() {
    thread::sleep(Duration::from_millis(20));
}

impl Drop for Term {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
