//! `ServingThreads`: how many requests a process can work on at once, where its threads or its title say so: Puma names the threads
//! of its pool, and Unicorn, Pitchfork, PHP-FPM and Passenger have processes that take one request each. Of others it is not known.

use std::fs;
use std::path::Path;

/// Threads of one process whose names are read.
const THREADS_MAX: usize = 256;
/// Samples between two looks at the names of as many threads: a thread has its name only a moment after it began.
const LOOK_EVERY: u32 = 5;

/// The count of one process, and when it was made.
#[derive(Debug, Default)]
pub(super) struct ServingThreads {
    counted: Option<f64>,
    /// The process' threads then.
    threads: u64,
    /// Samples since then.
    samples: u32,
}

impl ServingThreads {
    /// The present count for a process of so many threads.
    pub(super) fn count(&mut self, folder: &Path, threads: u64) -> Option<f64> {
        self.samples = self.samples.saturating_sub(1);
        if self.samples == 0 || threads != self.threads {
            self.counted = by_title(folder).or_else(|| pool_threads(folder));
            (self.threads, self.samples) = (threads, LOOK_EVERY);
        }
        self.counted
    }
}

/// One, where the process takes one request at a time and its title says so.
fn by_title(folder: &Path) -> Option<f64> {
    const WORKERS: [&str; 6] = [
        "unicorn worker[",
        "unicorn_rails worker[",
        "php-fpm: pool ",
        "php-fpm: worker ",
        "Passenger RubyApp: ",
        "Passenger WsgiApp: ",
    ];
    let text = fs::read(folder.join("cmdline")).ok()?;
    let title = String::from_utf8_lossy(&text);
    let is_pitchfork = title.starts_with("pitchfork ") && title.contains(" worker[");
    (is_pitchfork || WORKERS.iter().any(|word| title.starts_with(word))).then_some(1.0)
}

/// The threads of Puma's pool: `puma srv tp 001`, or `puma threadpool` of older versions.
fn pool_threads(folder: &Path) -> Option<f64> {
    let entries = fs::read_dir(folder.join("task")).ok()?.flatten().take(THREADS_MAX);
    let is_pool = |entry: &fs::DirEntry| {
        let name = fs::read(entry.path().join("comm")).unwrap_or_default();
        let name = String::from_utf8_lossy(&name);
        let rest = name.strip_prefix("puma ").unwrap_or_default();
        rest.contains("tp ") || rest.starts_with("threadpool")
    };
    let count = entries.filter(is_pool).count();
    // Puma begins threads as it needs them: a single one does not tell how many there may be.
    (count > 1).then_some(count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_file::tests::Scratch;

    #[test]
    fn threads_and_titles_that_serve_are_counted() {
        let scratch = Scratch::new("serving-threads");
        let names = ["ruby", "puma srv tp 001", "puma srv tp 002", "puma reactor", "puma srv"];
        for (at, name) in names.iter().enumerate() {
            scratch.write(&format!("7/task/{at}/comm"), &format!("{name}\n"));
        }
        let mut threads = ServingThreads::default();
        assert_eq!(threads.count(&scratch.0.join("7"), 5), Some(2.0));
        scratch.write("7/task/9/comm", "puma srv tp 003\n");
        assert_eq!(threads.count(&scratch.0.join("7"), 5), Some(2.0), "as many: not yet again");
        assert_eq!(threads.count(&scratch.0.join("7"), 6), Some(3.0));
        scratch.write("6/task/1/comm", "puma srv tp 001\n");
        assert_eq!(ServingThreads::default().count(&scratch.0.join("6"), 1), None);
        let titles = [
            ("unicorn worker[0] -c unicorn.rb", Some(1.0)),
            ("unicorn master -c unicorn.rb", None),
            ("php-fpm: pool www", Some(1.0)),
            ("php-fpm: master process (/etc/php-fpm.conf)", None),
            ("Passenger RubyApp: /srv/app (production)", Some(1.0)),
            ("pitchfork worker[1] (gen:0) - waiting", Some(1.0)),
            ("rainbows worker[0]", None),
            ("node\0server.js", None),
        ];
        for (title, expected) in titles {
            scratch.write("8/cmdline", title);
            let count = ServingThreads::default().count(&scratch.0.join("8"), 1);
            assert_eq!(count, expected, "{title}");
        }
    }
}
