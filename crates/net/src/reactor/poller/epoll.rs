//! `Poller` on Linux: `epoll_pwait2` on mio's own descriptor, since mio's wait rounds up to whole milliseconds.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::AsRawFd;

use stdx::Nanos;

use super::raw::{EVENTS_MAX, Raw};
use crate::io::Ready;

pub(crate) const BACKEND: &str = "epoll";

/// Longer sleeps are cut short by a 256th and waited for again: the kernel may end a sleep late by 0.1 % of its length
/// (`select_estimate_accuracy` in fs/select.c).
const SLACK_FROM: Nanos = Nanos::from_millis(2);

pub(crate) struct Poller {
    poll: mio::Poll,
    events: Vec<libc::epoll_event>,
    next: usize,
    len: usize,
}

impl std::fmt::Debug for Poller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Poller").field("unread", &(self.len - self.next)).finish_non_exhaustive()
    }
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        let poll = mio::Poll::new()?;
        let events = vec![libc::epoll_event { events: 0, u64: 0 }; EVENTS_MAX];
        Ok(Self { poll, events, next: 0, len: 0 })
    }

    pub(crate) fn registry(&self) -> &mio::Registry {
        self.poll.registry()
    }

    /// Sleeps at most `sleep`; it may return early without an event.
    pub(crate) fn wait(&mut self, sleep: Option<Nanos>) {
        debug_assert_eq!(self.next, self.len, "events were left unread");
        let sleep = sleep.map(|s| if s >= SLACK_FROM { s - s / 256 } else { s });
        let timeout = sleep.map(|s| libc::timespec {
            tv_sec: (s.0 / 1_000_000_000) as libc::time_t,
            tv_nsec: (s.0 % 1_000_000_000) as libc::c_long,
        });
        let timeout_ptr = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: `events` is owned by us and as long as we say; `timeout_ptr` is null or points at `timeout`, which
        // outlives the call; no signal mask is given. Invariant owner: this function.
        let n = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.poll.as_raw_fd(),
                self.events.as_mut_ptr(),
                self.events.len() as libc::c_int,
                timeout_ptr,
                std::ptr::null::<libc::sigset_t>(),
                size_of::<libc::sigset_t>(),
            )
        };
        if n >= 0 {
            return self.set_len(n);
        }
        match io::Error::last_os_error().kind() {
            // A signal ends the wait early, without events. Those that came are read now: a process that was stopped and goes on
            // is to see with one look at the clock how long it stood still and what waited meanwhile.
            io::ErrorKind::Interrupted if sleep != Some(Nanos::ZERO) => {
                self.wait(Some(Nanos::ZERO));
            }
            io::ErrorKind::Interrupted => self.set_len(0),
            // Any other error is a kernel's, or a sandbox's (which may say EPERM), that does not know the call.
            _ => self.wait_in_milliseconds(sleep),
        }
    }

    /// For kernels before 5.11, which have no `epoll_pwait2`: rounds down, so that it is never late; the rest is spun.
    fn wait_in_milliseconds(&mut self, sleep: Option<Nanos>) {
        let timeout = sleep.map_or(-1, |s| i32::try_from(s.0 / 1_000_000).unwrap_or(i32::MAX));
        // SAFETY: as above; the kernel writes at most `events.len()` entries.
        let n = unsafe {
            libc::epoll_wait(
                self.poll.as_raw_fd(),
                self.events.as_mut_ptr(),
                self.events.len() as libc::c_int,
                timeout,
            )
        };
        self.set_len(i64::from(n));
    }

    fn set_len(&mut self, n: i64) {
        self.next = 0;
        self.len = usize::try_from(n).unwrap_or(0);
    }

    pub(crate) fn next(&mut self) -> Option<Raw> {
        if self.next == self.len {
            return None;
        }
        let event = self.events[self.next];
        self.next += 1;
        let has = |bits: libc::c_int| event.events & bits as u32 != 0;
        let ready = Ready {
            readable: has(libc::EPOLLIN | libc::EPOLLPRI),
            writable: has(libc::EPOLLOUT),
            closed: has(libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR),
        };
        Some(Raw { token: event.u64, ready })
    }
}
