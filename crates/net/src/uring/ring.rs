//! `Ring`: the kernel's two queues: what is asked of it, and what it has done. It knows operations, and no sockets' state.
//!
//! One thread submits and waits, and the kernel works for us only while we wait ([`IoUring`]'s deferred task run): measured
//! at 0.83 of wrk's CPU against 1.40 without the two.

#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use io_uring::types::{CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, cqueue, opcode, squeue};
use stdx::Nanos;

use super::inbox::Inbox;
use super::no_uring::NoUring;
use crate::io::Sock;

/// Operations that may wait for one submission; more are submitted in between.
const SUBMISSIONS: u32 = 256;
/// Completions the kernel has room for; past it they wait in its own memory, and come with the next wait.
const COMPLETIONS: u32 = 4096;
/// The group of the provided buffers; there is one.
const GROUP: u16 = 0;
/// How often the kernel is asked again at once when it has no memory for what we submit.
const RETRIES_MAX: u32 = 10;
/// How long a wait lasts at most while the kernel refuses what we submit: then it is asked again.
const REFUSED_PAUSE: Duration = Duration::from_millis(1);

/// The kind of an operation. It goes with the operation, and comes back with its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// Bytes came, again and again.
    Recv,
    /// Bytes could not all be sent. There is no completion of those that could.
    Send,
    /// The socket is connected, or has room again.
    Poll,
    /// Another thread woke us.
    Wake,
    /// An operation was called off.
    Cancel,
}

impl Op {
    const ALL: [Self; 5] = [Self::Recv, Self::Send, Self::Poll, Self::Wake, Self::Cancel];

    /// The number that stands for this operation on this socket: the socket's has its top byte free.
    fn tag(self, sock: Sock) -> u64 {
        (self as u64) << 56 | sock.0
    }
}

/// What the kernel did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Completion {
    pub(super) op: Op,
    pub(super) sock: Sock,
    /// Bytes, or a mask of poll; negative for an error number.
    pub(super) result: i32,
    /// The provided buffer that the bytes are in.
    pub(super) buffer: Option<u16>,
    /// The operation goes on.
    pub(super) more: bool,
}

/// How long a wait gathers completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WaitLimits {
    /// So many are enough.
    pub(super) want: u32,
    /// After this time one is enough.
    pub(super) window: Nanos,
}

/// The first completion ends the wait.
pub(super) const AT_ONCE: WaitLimits = WaitLimits { want: 1, window: Nanos::ZERO };

/// The kernel's two queues.
pub(super) struct Ring {
    uring: IoUring,
    /// The first wait makes the waiting thread the only one that may submit.
    enabled: bool,
    /// Operations that came while the kernel refused and its queue was full, in their order.
    backlog: VecDeque<squeue::Entry>,
    /// Calls that are to be refused as by a kernel without memory.
    #[cfg(test)]
    pub(super) refusals: u32,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").field("enabled", &self.enabled).finish_non_exhaustive()
    }
}

impl Ring {
    /// A ring that no thread owns yet, with these buffers for what is received.
    pub(super) fn new(inbox: &Inbox) -> Result<Self, NoUring> {
        let mut builder = IoUring::builder();
        builder.setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag();
        builder.setup_r_disabled().setup_submit_all().setup_cqsize(COMPLETIONS).dontfork();
        let uring: IoUring = builder.build(SUBMISSIONS).map_err(NoUring::Setup)?;
        let params = uring.params();
        if !params.is_feature_ext_arg() || !params.is_feature_skip_cqe_on_success() {
            return Err(NoUring::Old);
        }
        let (entries, count) = inbox.entries();
        // SAFETY: `count` is the number of entries, and they live in memory that does not move. They outlive the ring: the owner
        // of both (`Uring`) drops the ring first, and the ring ends all receiving before it goes.
        unsafe { uring.submitter().register_buf_ring_with_flags(entries, count, GROUP, 0) }
            .map_err(NoUring::Buffers)?;
        Ok(Self {
            uring,
            enabled: false,
            backlog: VecDeque::new(),
            #[cfg(test)]
            refusals: 0,
        })
    }

    /// Whether a wait can gather completions (Linux 6.12).
    pub(super) fn can_gather(&self) -> bool {
        self.uring.params().is_feature_min_timeout()
    }

    /// Receives until cancelled.
    pub(super) fn recv(&mut self, sock: Sock, fd: RawFd) {
        self.push(&opcode::RecvMulti::new(Fd(fd), GROUP).build(), Op::Recv, sock);
    }

    /// Completes once, when one of these events of `poll(2)` is there.
    pub(super) fn poll(&mut self, sock: Sock, fd: RawFd, events: i16) {
        let entry = opcode::PollAdd::new(Fd(fd), events as u32).build();
        self.push(&entry, Op::Poll, sock);
    }

    /// Completes an operation each time the event descriptor is written to.
    pub(super) fn poll_event_fd(&mut self, fd: RawFd) {
        let entry = opcode::PollAdd::new(Fd(fd), libc::POLLIN as u32).multi(true).build();
        self.push(&entry, Op::Wake, Sock(0));
    }

    /// Calls an operation off. Its last completion may come all the same, with or without bytes.
    pub(super) fn cancel(&mut self, op: Op, sock: Sock) {
        let entry = opcode::AsyncCancel::new(op.tag(sock)).build();
        self.push(&entry.flags(squeue::Flags::SKIP_SUCCESS), Op::Cancel, sock);
    }

    /// Sends what there is room for at once. A completion follows only if that was not all.
    ///
    /// # Safety
    /// The bytes stay where they are, as they are, and the descriptor stays open, until a [`Ring::wait`] has returned after
    /// which the ring is not [stalled](Ring::is_stalled). The kernel does not wait for room (`MSG_DONTWAIT`), so it reads
    /// them while they are submitted and never later.
    pub(super) unsafe fn send(&mut self, sock: Sock, fd: RawFd, bytes: &[u8]) {
        // Without MSG_WAITALL a part would count as a success, without a completion.
        let flags = libc::MSG_DONTWAIT | libc::MSG_WAITALL | libc::MSG_NOSIGNAL;
        let entry = opcode::Send::new(Fd(fd), bytes.as_ptr(), bytes.len() as u32).flags(flags);
        self.push(&entry.build().flags(squeue::Flags::SKIP_SUCCESS), Op::Send, sock);
    }

    fn push(&mut self, entry: &squeue::Entry, op: Op, sock: Sock) {
        let entry = entry.clone().user_data(op.tag(sock));
        if self.uring.submission().is_full() {
            self.submit();
        }
        // An entry that waits already goes first.
        if !self.backlog.is_empty() || self.enqueue(&entry).is_err() {
            self.backlog.push_back(entry);
        }
    }

    /// Puts an entry into the kernel's queue, if it has room.
    fn enqueue(&mut self, entry: &squeue::Entry) -> Result<(), squeue::PushError> {
        // SAFETY: no operation but `send` and `recv` points at memory. What `send` points at is its caller's promise;
        // `recv` takes the buffers registered by `new`.
        unsafe { self.uring.submission().push(entry) }
    }

    /// Whether the kernel has not taken all operations yet: it had no memory for them. It still has to read the bytes of those
    /// that send.
    pub(super) fn is_stalled(&mut self) -> bool {
        !self.backlog.is_empty() || !self.uring.submission().is_empty()
    }

    /// Hands over what was asked for, without waiting for anything to be done. Where the kernel refuses for long the ring is
    /// stalled afterwards.
    fn submit(&mut self) {
        self.enable();
        let mut refused = 0;
        while refused < RETRIES_MAX {
            while let Some(entry) = self.backlog.pop_front() {
                if self.enqueue(&entry).is_err() {
                    self.backlog.push_front(entry);
                    break;
                }
            }
            let waiting = self.uring.submission().len() as u32;
            if waiting == 0 {
                return;
            }
            if self.enter(waiting, 0, 0, None).is_err() {
                refused += 1;
                std::thread::yield_now();
            }
        }
    }

    /// The system call: hands `waiting` operations over, and waits for `want` completions.
    fn enter(
        &mut self,
        waiting: u32,
        want: u32,
        flags: u32,
        args: Option<&SubmitArgs<'_, '_>>,
    ) -> io::Result<usize> {
        #[cfg(test)]
        if waiting > 0 && self.refusals > 0 {
            self.refusals -= 1;
            return Err(io::Error::from_raw_os_error(libc::EAGAIN));
        }
        let submitter = self.uring.submitter();
        // SAFETY: `args` borrows what it points at, and outlives the call; the queue's entries are good by `enqueue`.
        match args {
            Some(args) => unsafe { submitter.enter(waiting, want, flags, Some(args)) },
            None => unsafe { submitter.enter::<libc::sigset_t>(waiting, want, flags, None) },
        }
    }

    /// Hands over what was asked for, and sleeps until something is done, `sleep` at most. It may return early. Where it
    /// need not sleep it gathers nothing: gathering is to make of several sleeps one.
    pub(super) fn wait(&mut self, sleep: Option<Nanos>, gather: WaitLimits) {
        self.enable();
        let timeout = sleep.map(|s| Timespec::from(Duration::from(s)));
        let mut args = SubmitArgs::new();
        if let Some(timeout) = &timeout {
            args = args.timespec(timeout);
        }
        let mut want = if sleep == Some(Nanos::ZERO) { 0 } else { gather.want };
        if want > 1 {
            self.submit();
            if self.uring.submission().taskrun() {
                want = 1;
            } else {
                args = args.min_wait_usec((gather.window.0 / 1000) as u32);
            }
        }
        let waiting = self.uring.submission().len() as u32;
        let flags = EnterFlags::GETEVENTS | EnterFlags::EXT_ARG;
        // That the time is up, or that a signal came, is no failure.
        self.enter(waiting, want, flags.bits(), Some(&args)).ok();
        self.submit();
        if self.is_stalled() {
            self.pause(sleep);
        }
    }

    /// The kernel refuses. What it has done is fetched, since that may free what it lacks; then it is left alone for a moment.
    #[cold]
    fn pause(&mut self, sleep: Option<Nanos>) {
        self.enter(0, 0, EnterFlags::GETEVENTS.bits(), None).ok();
        let sleep = sleep.map_or(REFUSED_PAUSE, Duration::from);
        std::thread::sleep(sleep.min(REFUSED_PAUSE));
    }

    /// From now on this thread, and no other, submits and waits.
    fn enable(&mut self) {
        if !self.enabled {
            self.enabled = true;
            self.uring.submitter().register_enable_rings().expect("a new ring can be enabled");
        }
    }

    /// The next completion, in the order things were done.
    pub(super) fn next(&mut self) -> Option<Completion> {
        let entry = self.uring.completion().next()?;
        let tag = entry.user_data();
        let op = Op::ALL[(tag >> 56) as usize];
        Some(Completion {
            op,
            sock: Sock(tag & (u64::MAX >> 8)),
            result: entry.result(),
            buffer: cqueue::buffer_select(entry.flags()),
            more: cqueue::more(entry.flags()),
        })
    }

    /// Whether the kernel holds completions back that had no room.
    pub(super) fn holds_back(&mut self) -> bool {
        self.uring.submission().cq_overflow()
    }
}

impl Drop for Ring {
    /// Ends all receiving, so that the buffers can go.
    fn drop(&mut self) {
        if self.enabled {
            let all = self.uring.submitter().register_sync_cancel(None, CancelBuilder::any());
            // Where nothing was under way there is nothing to end. Another thread than the ring's own may not say it; the
            // kernel then calls everything off as the ring's descriptor closes.
            drop::<io::Result<()>>(all);
        }
    }
}
