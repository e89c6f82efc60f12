//! The group of processes that a child leads: what ends it, ends all of them.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::mpsc::Sender;

/// Ends the group when dropped, and lets go of the thread that started it.
#[derive(Debug)]
pub(super) struct Group {
    leader: Option<u32>,
    _thread: Sender<()>,
}

/// Makes a child the leader of a group of its own, and has the system end it when the thread that
/// starts it ends.
#[expect(unsafe_code, reason = "only a call between fork and exec can ask for that")]
pub(super) fn lead(command: &mut Command) {
    command.process_group(0);
    // SAFETY: the closure makes one system call, which touches no memory of ours and takes no lock.
    unsafe {
        command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
}

impl Group {
    pub(super) fn of(leader: Option<u32>, thread: Sender<()>) -> Self {
        Self { leader, _thread: thread }
    }
}

impl Drop for Group {
    #[expect(unsafe_code, reason = "the standard library ends one process, not a group")]
    fn drop(&mut self) {
        let Some(leader) = self.leader.and_then(|leader| i32::try_from(leader).ok()) else {
            return;
        };
        // SAFETY: a system call on a number; the worst it can do is to find nobody.
        unsafe {
            libc::kill(-leader, libc::SIGKILL);
        }
    }
}
