//! `Neighbours`: what runs on this machine beside the bench, by the CPU time it takes. A table that was measured beside others is shown
//! and not published.

use std::collections::HashMap;
use std::fs;
use std::thread;
use std::time::Duration;

/// How long the machine is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// A machine is quiet where all others together take at most this share of one core.
const QUIET_MAX: f64 = 0.10;
/// Programs that are named, at most.
const NAMED_MAX: usize = 3;
/// USER_HZ, in which the kernel shows CPU times: 100 on all of Linux' architectures (`man 5 proc`).
const TICKS_PER_S: f64 = 100.0;

/// CPU time that others took while nothing of the bench ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Neighbours {
    /// In shares of one core.
    share: f64,
    /// The programs with most of it: `rustc 97 %`.
    programs: Vec<String>,
}

impl Neighbours {
    /// Looks for a second, while nothing of the bench is at work.
    pub(super) fn look() -> Self {
        let (busy, programs) = (busy_ticks(), program_ticks());
        thread::sleep(LOOK);
        let (busy_after, programs_after) = (busy_ticks(), program_ticks());
        let per_core = |ticks: u64| ticks as f64 / TICKS_PER_S / LOOK.as_secs_f64();
        let mut taken: Vec<(u64, String)> = programs_after
            .into_iter()
            .map(|(pid, (name, ticks))| {
                let before = programs.get(&pid).map_or(0, |(_, ticks)| *ticks);
                (ticks.saturating_sub(before), name)
            })
            .filter(|(ticks, _)| *ticks > 0)
            .collect();
        taken.sort_by(|one, other| other.cmp(one));
        taken.truncate(NAMED_MAX);
        let name = |(ticks, name)| format!("{name} {:.0} %", per_core(ticks) * 100.0);
        Self {
            share: per_core(busy_after.saturating_sub(busy)),
            programs: taken.into_iter().map(name).collect(),
        }
    }

    /// The busier of two looks.
    pub(super) fn or_busier(self, other: Self) -> Self {
        if other.share > self.share { other } else { self }
    }

    /// Why a table from this machine is not to be published; `None` where it was quiet.
    pub(super) fn objection(&self) -> Option<String> {
        (self.share > QUIET_MAX).then(|| {
            let programs = match self.programs.is_empty() {
                true => "no program that can be seen".to_owned(),
                false => self.programs.join(", "),
            };
            format!("{:.0} % of a core went to others: {programs}", self.share * 100.0)
        })
    }

    /// For the heading: how quiet it was.
    pub(super) fn words(&self) -> String {
        format!("beside it at most {:.0} % of a core", self.share * 100.0)
    }
}

/// Ticks in which a core was at work, its hypervisor's thefts included.
fn busy_ticks() -> u64 {
    busy_in(&fs::read_to_string("/proc/stat").unwrap_or_default())
}

/// `cpu  user nice system idle iowait irq softirq steal …`: all but idle and iowait.
fn busy_in(stat: &str) -> u64 {
    let line = stat.lines().next().unwrap_or_default();
    let numbers = line.split_whitespace().skip(1).take(8).map(|word| word.parse().unwrap_or(0));
    let busy = numbers.enumerate().filter(|(at, _)| ![3, 4].contains(at));
    busy.map(|(_, ticks): (usize, u64)| ticks).sum()
}

/// Name and ticks of each process, by its number.
fn program_ticks() -> HashMap<u32, (String, u64)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        Some((pid, ticks_in(&fs::read_to_string(entry.path().join("stat")).ok()?)?))
    });
    processes.collect()
}

/// `pid (name) state … utime stime …`: the 14th and 15th field of `man 5 proc_pid_stat`.
fn ticks_in(stat: &str) -> Option<(String, u64)> {
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some((name.to_owned(), next()? + next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_kernel_are_read() {
        assert_eq!(busy_in("cpu  1 2 3 400 50 6 7 8 9 0\ncpu0 1 1 1 1\n"), 27);
        assert_eq!(busy_in(""), 0);
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194560 1 2 3 4 120 30 0 0 20 0 1 0 5";
        assert_eq!(ticks_in(stat), Some(("a (b) c".to_owned(), 150)));
        assert_eq!(ticks_in("7 (a) S 1"), None);
    }

    #[test]
    fn a_busy_machine_is_objected_to_by_name() {
        let quiet = Neighbours { share: 0.03, programs: vec!["sshd 3 %".to_owned()] };
        assert_eq!(quiet.objection(), None);
        let busy = Neighbours { share: 0.97, programs: vec!["rustc 95 %".to_owned()] };
        let worst = quiet.or_busier(busy);
        let expect = "97 % of a core went to others: rustc 95 %";
        assert_eq!(worst.objection().as_deref(), Some(expect));
        assert_eq!(worst.words(), "beside it at most 97 % of a core");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_at_work_is_seen() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
            .expect("a shell");
        let seen = Neighbours::look();
        child.kill().expect("it runs");
        child.wait().expect("its end");
        // Others may be at work as well, so its own share is not certain.
        assert!(seen.objection().is_some_and(|text| text.contains('%')), "{seen:?}");
    }
}
