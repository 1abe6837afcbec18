//! `Pace`: how long rows wait for the system. It reads no clock: it is handed times.

use std::time::Duration;

use crate::Encoding;

/// How long rows wait before they are handed to the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// At most so long.
    most: Duration,
    /// Workers hand over their rows all at about the same moment: when no more come for this long, they are handed to the
    /// system, so that a `kill -9` costs what workers have and nothing else.
    quiet: Duration,
    /// But not more often than this: a message of few rows is large for what it holds.
    least: Duration,
    /// After this much of the run they wait as those of a file do.
    until: Option<Duration>,
    /// After this much of the run they wait for [`NIGHT`].
    night_from: Duration,
}

/// How long rows of a long run wait: of a night's file their messages would be a third.
const NIGHT: Duration = Duration::from_secs(2);

impl Pace {
    /// That of files: messages of a second.
    pub const FILE: Self = Self {
        most: Duration::from_secs(1),
        quiet: Duration::from_millis(20),
        least: Duration::from_millis(500),
        until: None,
        night_from: Duration::from_secs(600),
    };

    /// That of pipes: with what rows wait for in a worker they are there within 100 ms, since Ctrl-C ends the reader too, and
    /// what it has not read by then is lost. A message of few rows has 3 kB in Arrow, so that a night of them would be large:
    /// there it ends when a second is a third of a percent of the run.
    #[must_use]
    pub const fn pipe(encoding: Encoding) -> Self {
        Self {
            most: Duration::from_millis(40),
            quiet: Duration::from_millis(5),
            least: Duration::from_millis(35),
            until: match encoding {
                Encoding::Arrow | Encoding::Parquet => Some(Duration::from_secs(300)),
                Encoding::Csv | Encoding::Json | Encoding::Gob => None,
            },
            night_from: Duration::MAX,
        }
    }

    /// The pace at this time of a run.
    #[must_use]
    pub(crate) fn at(self, elapsed: Duration) -> Self {
        let pace = if self.until.is_some_and(|until| elapsed >= until) { Self::FILE } else { self };
        match elapsed >= pace.night_from {
            true => Self { most: NIGHT, least: NIGHT, ..pace },
            false => pace,
        }
    }

    /// How long what is no row waits at most.
    pub(crate) fn others(self) -> Duration {
        self.most.max(Duration::from_secs(1))
    }

    /// How long to wait for the next batch, with rows that the system does not have yet: the last of those before were handed
    /// to it so long ago.
    pub(crate) fn wait(self, since: Duration) -> Duration {
        self.most.saturating_sub(since).min(self.quiet)
    }

    /// Whether rows are handed to the system now: `since` as above, and whether no batch came while it was waited for one.
    pub(crate) fn is_due(self, since: Duration, came: Came) -> bool {
        since >= self.most || (came == Came::Nothing && since >= self.least)
    }
}

/// What came while a batch was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    Rows,
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 41: a pipe's rows came at the ends of blocks of a second, and an interrupted pipeline had 98 of 128.
    #[test]
    fn rows_of_a_pipe_are_due_within_50_ms() {
        let millis = Duration::from_millis;
        for encoding in Encoding::ALL {
            let pipe = Pace::pipe(encoding).at(millis(2_600));
            assert!(pipe.is_due(millis(40), Came::Rows) && pipe.is_due(millis(35), Came::Nothing));
            assert!(pipe.wait(Duration::ZERO) <= millis(5));
            assert_eq!(pipe.wait(millis(50)), Duration::ZERO);
        }
        assert!(!Pace::FILE.is_due(millis(400), Came::Nothing));
        assert!(Pace::FILE.is_due(millis(500), Came::Nothing));
    }

    #[test]
    fn a_night_in_arrow_has_messages_of_two_seconds() {
        let (minute, hour) = (Duration::from_secs(360), Duration::from_secs(3600));
        assert_eq!(Pace::pipe(Encoding::Arrow).at(minute), Pace::FILE);
        assert_eq!(Pace::pipe(Encoding::Arrow).at(hour), Pace::FILE.at(hour));
        assert!(!Pace::FILE.at(hour).is_due(Duration::from_millis(1_900), Came::Nothing));
        assert_eq!(Pace::pipe(Encoding::Gob).at(hour), Pace::pipe(Encoding::Gob));
    }
}
