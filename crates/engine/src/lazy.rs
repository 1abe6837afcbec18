//! Lazy targets: read on a thread of their own, and dealt out to the workers.

use std::sync::mpsc::{Receiver, sync_channel};

use workload::Target;

/// Lazy targets that may wait for one worker.
const LAZY_MAX: usize = 1024;

/// Targets that come one by one (`-lazy`). It runs on a thread of its own and may block; an error ends the attack and
/// is reported by the caller of [`Run`](crate::Run), which made the iterator. An item that is an error makes a hit as well: it fails with
/// the error's text.
pub type LazyTargets = Box<dyn Iterator<Item = Result<Target, String>> + Send>;

/// A worker's share of lazy targets.
#[derive(Debug)]
pub(crate) struct LazyShard {
    pub(crate) targets: Receiver<Box<Result<Target, String>>>,
    /// None was there when the last hit wanted one.
    pub(crate) starved: bool,
}

impl LazyShard {
    /// How many of `due` hits had a target here; how many more would have come is unknown. Takes them out.
    pub(crate) fn count_waiting(&self, due: u64) -> u64 {
        let most = usize::try_from(due).unwrap_or(LAZY_MAX).min(LAZY_MAX);
        self.targets.try_iter().take(most).count() as u64
    }
}

/// Deals lazy targets out to the workers in turn, so that hit `k` gets target `k`.
pub(crate) fn lazy_lanes(
    lazy: Option<LazyTargets>,
    workers: usize,
) -> std::io::Result<Vec<LazyShard>> {
    let Some(targets) = lazy else { return Ok(Vec::new()) };
    let (mut senders, mut lanes) = (Vec::new(), Vec::new());
    for _ in 0..workers {
        let (sender, receiver) = sync_channel(LAZY_MAX);
        senders.push(sender);
        lanes.push(LazyShard { targets: receiver, starved: false });
    }
    lanes.reverse();
    std::thread::Builder::new().name("brunt-targets".to_owned()).spawn(move || {
        for (target, sender) in targets.zip(senders.iter().cycle()) {
            if sender.send(Box::new(target)).is_err() {
                return;
            }
        }
    })?;
    Ok(lanes)
}
