//! How long a search still takes, in words.

use stdx::Nanos;
use study::seek::TimeLeft;

/// `about 1m20s left`, or `at most 3m0s left` where it cannot be foreseen.
pub(super) fn words(left: TimeLeft) -> String {
    match left.about {
        Some(about) => format!("about {} left", coarse(about)),
        None => format!("at most {} left", coarse(left.at_most)),
    }
}

/// The name of a step while it runs: `step 3 (1m20s left)`.
#[must_use]
pub fn step_name(number: usize, left: Option<TimeLeft>) -> String {
    match left {
        None => format!("step {number}"),
        Some(left) => {
            format!("step {number} ({} left)", coarse(left.about.unwrap_or(left.at_most)))
        }
    }
}

/// A time as no more precise than it is known: whole seconds below a minute, tens of them below an hour, then minutes.
fn coarse(time: Nanos) -> Nanos {
    let seconds = time.as_secs_f64();
    let unit = match seconds {
        ..60.0 => 1.0,
        ..3600.0 => 10.0,
        _ => 60.0,
    };
    Nanos::from_secs_f64((seconds / unit).round().max(1.0) * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_precise_as_they_are_known() {
        let check = |about: Option<u64>, at_most: u64, text: &str| {
            let about = about.map(Nanos::from_millis);
            let left = TimeLeft { about, at_most: Nanos::from_millis(at_most) };
            assert_eq!(words(left), text);
        };
        check(Some(100), 9_000, "about 1s left");
        check(Some(47_400), 90_000, "about 47s left");
        check(Some(83_000), 90_000, "about 1m20s left");
        check(None, 900_000, "at most 15m0s left");
        check(None, 7_250_000, "at most 2h1m0s left");
        let left = TimeLeft { about: None, at_most: Nanos::from_secs(80) };
        assert_eq!(step_name(3, Some(left)), "step 3 (1m20s left)");
        assert_eq!(step_name(1, None), "step 1");
    }
}
