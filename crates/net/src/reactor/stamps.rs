//! `Stamps`: when bytes came, by the stamps that the kernel gives the segments they came in, on the run's clock.
//!
//! A stamp is of the wall clock, which may be set while the run goes on; the run's clock is monotonic. The kernel makes both of one
//! timekeeper, so their difference is constant but for that. Segments that wait unread on one socket are joined and have the stamp
//! of the last: a stamp is never before its bytes came, and never after they were read. Source: Documentation/networking/timestamping.rst.

#![allow(unsafe_code)]

use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Instant;

use stdx::Nanos;

/// Readings of both clocks of which the narrowest is taken.
const READINGS: usize = 8;
/// By how much a reading may differ from the offset, beyond the widths of both, before the wall clock counts as set: 2 µs.
const STEP_MIN_NS: u64 = 2_000;
/// Room for one control message: three time stamps, of which the first is the kernel's own.
const CONTROL_BYTES: usize = 64;

/// The wall clock's offset from the run's.
#[derive(Debug)]
pub(super) struct Stamps {
    offset: Offset,
    /// The wall clock was set since the last wait: what is unread may have come before or after it.
    is_doubtful: bool,
    /// The kernel stamps as long as one socket asks for it; were these the connections, it would switch with each of them.
    _holder: UdpSocket,
}

/// Wall clock minus run clock, and how far that may be wrong, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Offset {
    ns: i64,
    width: u64,
}

impl Stamps {
    /// Has the kernel stamp what comes.
    ///
    /// # Errors
    /// The system has no such stamps.
    pub(super) fn new(start: Instant) -> io::Result<Self> {
        let holder = UdpSocket::bind("127.0.0.1:0")?;
        enable(holder.as_raw_fd())?;
        Ok(Self { offset: narrowest(start), is_doubtful: false, _holder: holder })
    }

    /// Compares the clocks again; once a wait.
    pub(super) fn check(&mut self, start: Instant) {
        let found = reading(start);
        let may_differ = self.offset.width + found.width + STEP_MIN_NS;
        self.is_doubtful = found.ns.abs_diff(self.offset.ns) > may_differ;
        if self.is_doubtful {
            self.offset = narrowest(start);
        }
    }

    /// A stamp (Unix time, ns) on the run's clock; `None` where it cannot be relied on.
    pub(super) fn run_time(&self, wall_ns: i64) -> Option<Nanos> {
        let since = wall_ns.checked_sub(self.offset.ns).filter(|_| !self.is_doubtful)?;
        u64::try_from(since).ok().map(Nanos)
    }
}

/// Has this socket's reads give the stamps of what they read.
///
/// # Errors
/// The system has no such stamps.
pub(crate) fn enable(fd: RawFd) -> io::Result<()> {
    let flags = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    // SAFETY: the option's value is an int that outlives the call.
    let result = unsafe {
        libc::setsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPING,
            std::ptr::from_ref(&flags).cast(),
            size_of_val(&flags) as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// As control messages are aligned.
#[repr(C, align(8))]
struct Control([u8; CONTROL_BYTES]);

/// Reads from a socket; also gives the stamp (Unix time, ns) of the last segment that it read from.
pub(crate) fn recv(fd: RawFd, buf: &mut [u8]) -> (io::Result<usize>, Option<i64>) {
    let mut control = Control([0; CONTROL_BYTES]);
    let mut part = libc::iovec { iov_base: buf.as_mut_ptr().cast(), iov_len: buf.len() };
    // SAFETY: an all-zero msghdr is one without parts; the fields that say otherwise are set below.
    let mut head: libc::msghdr = unsafe { std::mem::zeroed() };
    head.msg_iov = &raw mut part;
    head.msg_iovlen = 1;
    head.msg_control = control.0.as_mut_ptr().cast();
    head.msg_controllen = CONTROL_BYTES as _;
    // SAFETY: `head` points at `part` and `control`, and `part` at `buf`; all outlive the call, which writes within their lengths.
    let n = unsafe { libc::recvmsg(fd, &raw mut head, 0) };
    match usize::try_from(n) {
        Ok(n) => (Ok(n), stamp(&head)),
        Err(_) => (Err(io::Error::last_os_error()), None),
    }
}

/// The stamp among the control messages of a read.
fn stamp(head: &libc::msghdr) -> Option<i64> {
    // SAFETY: the kernel wrote whole control messages and their length into `head`, whose buffer the caller holds.
    let mut at = unsafe { libc::CMSG_FIRSTHDR(head) };
    while !at.is_null() {
        // SAFETY: as above: `at` points at a control message within the buffer.
        let message = unsafe { &*at };
        if message.cmsg_level == libc::SOL_SOCKET && message.cmsg_type == libc::SCM_TIMESTAMPING {
            // SAFETY: a message of this type holds three timespecs.
            let time = unsafe { libc::CMSG_DATA(at).cast::<libc::timespec>().read_unaligned() };
            return Some(unix_ns(time)).filter(|ns| *ns > 0);
        }
        // SAFETY: as above.
        at = unsafe { libc::CMSG_NXTHDR(head, at) };
    }
    None
}

#[expect(clippy::unnecessary_cast, reason = "both have 32 bits on some systems")]
fn unix_ns(time: libc::timespec) -> i64 {
    (time.tv_sec as i64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as i64)
}

/// The wall clock: Unix time in nanoseconds.
fn wall() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes `time`, which outlives it, and nothing else.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut time) };
    unix_ns(time)
}

/// One reading of both clocks.
fn reading(start: Instant) -> Offset {
    let run = || Nanos::from(start.elapsed()).0;
    let (before, wall, after) = (run(), wall(), run());
    let middle = before + (after - before) / 2;
    Offset { ns: wall.wrapping_sub(middle as i64), width: after - before }
}

fn narrowest(start: Instant) -> Offset {
    let mut best = reading(start);
    for _ in 1..READINGS {
        let next = reading(start);
        if next.width < best.width {
            best = next;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_that_is_set_makes_stamps_doubtful_once() {
        let start = Instant::now();
        let mut stamps = Stamps::new(start).unwrap();
        stamps.check(start);
        assert!(stamps.run_time(wall()).is_some());
        // As if the wall clock had been set forward by a second since.
        stamps.offset.ns -= 1_000_000_000;
        stamps.check(start);
        assert_eq!(stamps.run_time(wall()), None);
        stamps.check(start);
        let before = Nanos::from(start.elapsed());
        let found = stamps.run_time(wall()).unwrap();
        let after = Nanos::from(start.elapsed());
        let is_between = found + Nanos::MILLI > before && found < after + Nanos::MILLI;
        assert!(is_between, "{before:?} {found:?} {after:?}");
        assert_eq!(stamps.run_time(0), None, "before the run");
    }

    /// What lay unread for 5 ms has the stamp of when it came, and not of when it was read.
    #[test]
    fn a_stamp_is_of_when_it_came() {
        let start = Instant::now();
        let mut stamps = Stamps::new(start).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        enable(client.as_raw_fd()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let mut unread = Vec::new();
        for _ in 0..50 {
            let before = Nanos::from(start.elapsed());
            server.write_all(b"answer").unwrap();
            std::thread::park_timeout(Duration::from_millis(5));
            stamps.check(start);
            let (n, stamp) = recv(client.as_raw_fd(), &mut [0; 64]);
            let read = Nanos::from(start.elapsed());
            assert_eq!(n.unwrap(), 6);
            // The kernel begins to stamp a moment after it is asked to.
            let Some(at) = stamp.and_then(|stamp| stamps.run_time(stamp)) else { continue };
            // On a busy machine the kernel may deliver it after the call that sent it.
            assert!(at.0 + 2_000 >= before.0 && at <= read, "{at:?}");
            unread.push(read.saturating_sub(at));
        }
        unread.sort();
        assert!(unread.len() > 40, "{}", unread.len());
        assert!(unread[unread.len() / 2] > Nanos::from_millis(4), "{unread:?}");
    }
}
