//! What a worker asks of its thread and process: a core of its own, punctual timers, its CPU time, descriptors. What the
//! process was given at its start: signals that are ignored, a standard output that is closed. And what a command asks of
//! its terminal.
//!
//! The system may refuse each; the caller gets the error and reports it.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use stdx::Nanos;

/// The cores this process may run on, by number, in order. Empty where the system does not report them.
#[must_use]
pub fn allowed_cores() -> Vec<usize> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: an all-zero cpu_set_t is a valid empty set, and the kernel writes at most its size.
        let (result, set) = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            (libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set), set)
        };
        if result != 0 {
            return Vec::new();
        }
        let limit = libc::CPU_SETSIZE as usize;
        // SAFETY: the index is below CPU_SETSIZE.
        (0..limit).filter(|&core| unsafe { libc::CPU_ISSET(core, &set) }).collect()
    }
    #[cfg(not(target_os = "linux"))]
    Vec::new()
}

/// Limits what the process takes ([`stdx::limit_memory`]). Within 1 GiB, blocks of 128 KiB and more go back to the system as soon
/// as they are freed, which costs a call and a page fault each time; musl gives them back in any case.
pub fn limit_memory(limit_bytes: u64) {
    stdx::limit_memory(usize::try_from(limit_bytes).unwrap_or(usize::MAX));
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if limit_bytes <= SCARCE_BYTES {
        // By itself, glibc keeps blocks up to the size of the largest that was freed (mallopt(3), "dynamic mmap threshold").
        // SAFETY: it sets a number of the allocator, under the allocator's lock.
        unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES) };
    }
}

/// Memory is scarce within this limit.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SCARCE_BYTES: u64 = 1 << 30;
/// Blocks from this size on are large: where glibc begins.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BYTES: libc::c_int = 128 << 10;

/// Pins the calling thread to a core.
///
/// # Errors
/// The core is not ours, or the system has no such call.
pub fn pin_thread(core: usize) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        if core >= libc::CPU_SETSIZE as usize {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        // SAFETY: an all-zero cpu_set_t is a valid empty set; the core is below CPU_SETSIZE.
        let result = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(core, &mut set);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
        };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = core;
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Puts the calling thread into the real-time class (round robin, lowest priority in it).
///
/// # Errors
/// The process has no right to it (`CAP_SYS_NICE`), or the system has no such class.
pub fn make_thread_real_time() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: `sched_param` is plain data and outlives the call; 0 names the calling thread.
        let result = unsafe {
            let mut param: libc::sched_param = std::mem::zeroed();
            param.sched_priority = 1;
            libc::sched_setscheduler(0, libc::SCHED_RR, &raw const param)
        };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
    #[cfg(not(target_os = "linux"))]
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether the calling thread is in a real-time class.
#[must_use]
pub fn is_thread_real_time() -> bool {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: takes one integer and touches nothing of ours; 0 names the calling thread.
        let class = unsafe { libc::sched_getscheduler(0) };
        class == libc::SCHED_RR || class == libc::SCHED_FIFO
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// Asks the kernel to end the calling thread's sleeps on time (timer slack of 1 ns instead of 50 µs).
pub fn make_timers_punctual() {
    #[cfg(target_os = "linux")]
    // SAFETY: PR_SET_TIMERSLACK takes one integer and touches nothing of ours.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong, 0, 0, 0);
    }
}

/// The number of a network interface, which a zone of an IPv6 address names: by its name, or as it is. RFC 4007, 11.2.
#[must_use]
pub fn zone_index(zone: &str) -> Option<u32> {
    zone.parse().ok().or_else(|| nix::net::if_::if_nametoindex(zone).ok())
}

/// The memory of the machine, or of the control group (v2) that the process is in, where that is less; `None` where the system does
/// not say. In bytes.
#[must_use]
pub fn memory() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = machine.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let total = total.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)?;
    let group = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = group.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/").to_owned();
    let limits = std::path::Path::new(&group).ancestors().filter_map(|group| {
        let group = group.strip_prefix("/").ok()?;
        let max = std::path::Path::new("/sys/fs/cgroup").join(group).join("memory.max");
        std::fs::read_to_string(max).ok()?.trim().parse::<u64>().ok()
    });
    Some(limits.fold(total, u64::min))
}

/// CPU time, user and system, of the calling thread.
#[must_use]
pub fn thread_cpu_time() -> Nanos {
    // SAFETY: an all-zero timespec is valid; the call writes it and nothing else.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time);
        time
    };
    Nanos(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}

/// Raises the process's limit of open descriptors to the hard one; gives the limit now in force.
///
/// # Errors
/// The system does not report the limits.
pub fn raise_descriptor_limit() -> io::Result<u64> {
    // SAFETY: an all-zero rlimit is valid; both calls read or write it and nothing else.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) != 0 {
            return Err(io::Error::last_os_error());
        }
        let soft = limit.rlim_cur;
        limit.rlim_cur = limit.rlim_max;
        // Refused (macOS caps it below "unlimited"): the soft limit stays in force.
        if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) == 0 {
            Ok(limit.rlim_max)
        } else {
            Ok(soft)
        }
    }
}

/// Whether this process ignores a signal, by its number: `nohup` has it ignore SIGHUP, for instance.
#[must_use]
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: an all-zero sigaction is valid; with no new action the call only writes the old one into it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Whether standard output was closed when this process began (`>&-`). Before `main`, Rust's runtime opens `/dev/null` in the
/// place of what is closed, where all that is written is lost without an error.
#[must_use]
pub fn stdout_was_closed() -> bool {
    // The reference keeps the linker from removing it.
    std::hint::black_box(&CHECK_STDOUT);
    STDOUT_WAS_CLOSED.load(Ordering::Relaxed)
}

static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

// SAFETY: the system calls the functions of this section once each, before the runtime and `main`; this one needs neither.
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
static CHECK_STDOUT: extern "C" fn() = check_stdout;

extern "C" fn check_stdout() {
    // SAFETY: F_GETFD takes no argument and touches no memory of ours.
    let is_closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1;
    STDOUT_WAS_CLOSED.store(is_closed, Ordering::Relaxed);
}

/// How many columns and rows the terminal behind a stream has now; `None` where it is not a terminal, or its size is unknown.
#[must_use]
pub fn terminal_size(stream: &impl AsFd) -> Option<(u16, u16)> {
    // SAFETY: an all-zero winsize is a valid one, and the kernel writes at most its size; the descriptor is borrowed, and its owner
    // keeps it open for that time.
    let (result, size) = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        (libc::ioctl(stream.as_fd().as_raw_fd(), libc::TIOCGWINSZ, &raw mut size), size)
    };
    (result == 0 && size.ws_col > 0).then_some((size.ws_col, size.ws_row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_ignored_and_nothing_closed_here() {
        assert!(!is_ignored(libc::SIGTERM) && !stdout_was_closed());
    }

    #[test]
    fn a_thread_can_be_pinned_to_an_allowed_core() {
        let cores = allowed_cores();
        let core = *cores.last().expect("linux tells its cores");
        std::thread::spawn(move || {
            pin_thread(core).expect("the core is ours");
            assert_eq!(allowed_cores(), [core]);
        })
        .join()
        .expect("pinning thread");
    }

    #[test]
    fn cpu_time_grows_with_work() {
        let before = thread_cpu_time();
        let mut rng = stdx::Prng::new(1);
        let sum = (0..2_000_000).fold(0u64, |sum, _| sum ^ rng.next_u64());
        assert!(thread_cpu_time() > before, "{sum}");
    }

    #[test]
    fn the_descriptor_limit_is_known() {
        assert!(raise_descriptor_limit().expect("limits are told") >= 64);
    }

    #[test]
    fn a_file_is_no_terminal() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(terminal_size(&file), None);
    }
}
