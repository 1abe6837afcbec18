//! `Poller`: waits on mio's selector, to the microsecond; one file a system.

#[cfg(target_os = "linux")]
mod epoll;
#[cfg(not(target_os = "linux"))]
mod portable;
mod raw;

#[cfg(target_os = "linux")]
pub(super) use epoll::{BACKEND, Poller};
#[cfg(not(target_os = "linux"))]
pub(super) use portable::{BACKEND, Poller};
pub(super) use raw::{Raw, WAKER};
