//! `Measured`: what one program cost: CPU time as the kernel counted it when the child was reaped, the peak of its resident
//! memory, wall time, and what it printed. One child at a time; every child has a time limit.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// What one program cost and printed.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    /// CPU time, user and system, of the program and all its threads.
    pub(super) cpu: Duration,
    /// The most memory it had resident, as last seen (`VmHWM`, looked at every 5 ms); bytes.
    pub(super) rss_bytes: u64,
    /// From its start to its end.
    pub(super) wall: Duration,
    /// What it printed on stdout and stderr, one after the other.
    pub(super) output: String,
}

/// How often the child's memory is looked at and its end is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Runs `words` (the program first) with its output kept in files of `dir`, and measures it.
///
/// # Errors
/// It cannot be started, it ended with failure, or it did not end within `limit` and was killed.
pub(super) fn run(dir: &Path, words: &[String], limit: Duration) -> Result<Measured> {
    let (program, arguments) = words.split_first().context("an empty command")?;
    let (out, err) = (dir.join("child.out"), dir.join("child.err"));
    let before = children_cpu()?;
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .spawn()
        .with_context(|| format!("starting {program}"))?;
    let (ended, rss_bytes) = wait(&mut child, start, limit)?;
    let wall = start.elapsed();
    let output = printed(&out)? + &printed(&err)?;
    if ended != ChildEnd::Well {
        let tail: String = output.lines().rev().take(3).collect::<Vec<_>>().join(" | ");
        bail!("`{}` {ended:?} after {wall:.1?}: {tail}", words.join(" "));
    }
    let cpu = children_cpu()?.saturating_sub(before);
    Ok(Measured { cpu, rss_bytes, wall, output })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChildEnd {
    Well,
    Failed,
    TimedOut,
}

/// Waits for the child's end; kills it after `limit`. Gives the most memory seen.
fn wait(child: &mut Child, start: Instant, limit: Duration) -> Result<(ChildEnd, u64)> {
    let mut rss_bytes = 0;
    loop {
        rss_bytes = rss_bytes.max(resident_peak(child.id()));
        if let Some(status) = child.try_wait().context("waiting for a child")? {
            return Ok((
                if status.success() { ChildEnd::Well } else { ChildEnd::Failed },
                rss_bytes,
            ));
        }
        if start.elapsed() > limit {
            child.kill().context("killing a child")?;
            child.wait().context("waiting for a killed child")?;
            return Ok((ChildEnd::TimedOut, rss_bytes));
        }
        thread::sleep(LOOK_EVERY);
    }
}

fn printed(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// CPU time of all children that were waited for. Children run one at a time, so a difference is one child's.
fn children_cpu() -> Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("getrusage")?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(u64::try_from(micros).unwrap_or(0)))
}

/// `VmHWM` of a process in bytes; 0 where there is none (it ended, or this is no Linux).
fn resident_peak(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    peak_in(&status)
}

fn peak_in(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.splitn(3, ' ').map(str::to_owned).collect()
    }

    // One test, since CPU time is a difference over all of this process's children.
    #[test]
    fn a_child_is_measured_and_bounded() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("measure");
        fs::create_dir_all(&dir).unwrap();
        let busy =
            "sh -c i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo done; echo late >&2";
        let measured = run(&dir, &words(busy), Duration::from_secs(60)).unwrap();
        assert!(measured.cpu > Duration::from_millis(1), "{measured:?}");
        assert!(measured.wall >= measured.cpu / 2, "{measured:?}");
        assert_eq!(measured.output, "done\nlate\n");

        let failed = run(&dir, &words("sh -c echo why; exit 3"), Duration::from_secs(60));
        assert!(failed.unwrap_err().to_string().contains("Failed"));
        let endless = run(&dir, &words("sh -c exec sleep 60"), Duration::from_millis(50));
        assert!(endless.unwrap_err().to_string().contains("TimedOut"));
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn the_peak_is_read_in_bytes() {
        assert_eq!(peak_in("Name:\twrk\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n"), 2048 * 1024);
        assert_eq!(peak_in("Name:\tzombie\n"), 0);
    }
}
