//! The terminal: taken, drawn on through a cell buffer only, and given back on every way out.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::panic;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode, is_raw_mode_enabled,
};
use crossterm::{execute, queue};
use ratatui::backend::{Backend as _, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::error::TuiError;
use super::widget::scrub;

type Backend = CrosstermBackend<BufWriter<Stdout>>;

pub(super) struct Terminal {
    inner: ratatui::Terminal<Backend>,
    /// The last frame: an equal one sends no byte.
    shown: Option<(Buffer, Option<Position>)>,
}

impl Terminal {
    pub(super) fn take() -> Result<Self, TuiError> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Err(TuiError::NoTerminal);
        }
        watch_panics();
        let entered = enter().and_then(|()| {
            let backend = CrosstermBackend::new(BufWriter::with_capacity(1 << 16, io::stdout()));
            ratatui::Terminal::new(backend)
        });
        match entered {
            Ok(inner) => Ok(Self { inner, shown: None }),
            Err(error) => {
                leave();
                Err(error.into())
            }
        }
    }

    /// Sends what differs from the last frame, all at once for terminals that can.
    pub(super) fn draw(
        &mut self,
        paint: impl FnOnce(&mut Buffer) -> Option<Position>,
    ) -> io::Result<()> {
        let size = self.inner.size()?;
        let mut buffer = Buffer::empty(Rect::new(0, 0, size.width, size.height));
        let cursor = paint(&mut buffer);
        scrub(&mut buffer);
        if self.shown.as_ref().is_some_and(|shown| shown.0 == buffer && shown.1 == cursor) {
            return Ok(());
        }
        queue!(self.inner.backend_mut(), BeginSynchronizedUpdate)?;
        self.inner.draw(|frame| {
            if frame.area() == buffer.area {
                frame.buffer_mut().clone_from(&buffer);
            }
            if let Some(cursor) = cursor {
                frame.set_cursor_position(cursor);
            }
        })?;
        execute!(self.inner.backend_mut(), EndSynchronizedUpdate)?;
        self.shown = Some((buffer, cursor));
        Ok(())
    }

    /// The next frame is sent whole: something else may have written meanwhile.
    pub(super) fn forget(&mut self) -> io::Result<()> {
        self.shown = None;
        // Not the terminal's own `clear`: that asks where the cursor is and waits for an answer
        // that some terminals never give.
        self.inner.backend_mut().clear()?;
        self.inner.current_buffer_mut().reset();
        self.inner.swap_buffers();
        Ok(())
    }

    /// Runs something that needs the terminal for itself.
    pub(super) fn lend<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        leave();
        let done = work();
        enter()?;
        self.forget()?;
        Ok(done)
    }

    /// Back to the shell until it brings us to the front again.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        // The whole group, as the terminal's own Ctrl-Z does: a parent in it waits with us.
        self.lend(|| Command::new("sh").args(["-c", "kill -s TSTP 0"]).status()).map(|_| ())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        leave();
        if !thread::panicking() {
            drop(panic::take_hook());
        }
    }
}

/// Whether the terminal is ours. Given back twice, it would put the cursor where it was at the
/// first time, and what was said since would be overwritten.
static TAKEN: AtomicBool = AtomicBool::new(false);

fn enter() -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, EnableMouseCapture)
}

/// Gives back all that was taken, whatever of it was taken; the alternate screen last, so that
/// nothing of the rest is seen. A terminal that is gone cannot be told, and need not.
fn leave() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    let _ = queue!(out, EndSynchronizedUpdate, DisableMouseCapture, DisableBracketedPaste, Show);
    let _ = queue!(out, LeaveAlternateScreen);
    let _ = out.flush();
    let _ = disable_raw_mode();
}

/// A panic here gives the terminal back before it speaks. One elsewhere ends a task, not the
/// screen, so it may not write on it.
fn watch_panics() {
    let (here, before) = (thread::current().id(), panic::take_hook());
    panic::set_hook(Box::new(move |about| {
        if thread::current().id() == here {
            leave();
        } else if is_raw_mode_enabled().unwrap_or(false) {
            return;
        }
        before(about);
    }));
}
