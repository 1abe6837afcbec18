//! `EventFd`: how other threads wake the owner of a ring: an eventfd, which the ring polls.

#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::sync::Arc;

use crate::mailbox::Wake;

/// An eventfd, shared by the ring and its wakers.
#[derive(Clone, Debug)]
pub(super) struct EventFd(Arc<File>);

impl EventFd {
    /// # Errors
    /// The system has no descriptor left for it.
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: the call touches nothing of ours.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just made, and has no other owner.
        Ok(Self(Arc::new(unsafe { File::from_raw_fd(fd) })))
    }

    pub(super) fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Clears the wake-ups there were.
    pub(super) fn clear(&self) {
        // It is empty where they were cleared before.
        (&*self.0).read_exact(&mut [0; 8]).ok();
    }
}

impl Wake for EventFd {
    fn wake(&self) -> io::Result<()> {
        (&*self.0).write_all(&1u64.to_ne_bytes())
    }
}
