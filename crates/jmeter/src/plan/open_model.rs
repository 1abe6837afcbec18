//! The schedule of an Open Model thread group: `rate(1/sec) random_arrivals(10 sec) pause(1 min)`.

use crate::random::Random;

/// Arrivals of a group at most.
const ARRIVALS_MAX: usize = 5_000_000;

/// The moments of the arrivals of a schedule, in milliseconds, by time.
///
/// # Errors
/// The schedule is none; the text says where.
pub(crate) fn arrivals(schedule: &str, random: &mut Random) -> Result<Vec<u64>, ScheduleError> {
    let steps = steps(schedule)?;
    let mut moments = Vec::new();
    let (mut at_s, mut rate) = (0.0, 0.0);
    for (index, step) in steps.iter().enumerate() {
        let Step::Arrivals { length_s, is_even } = *step else {
            match *step {
                Step::Rate(new) => rate = new,
                Step::Pause(length_s) => at_s += length_s,
                Step::Arrivals { .. } => {}
            }
            continue;
        };
        // A rate behind the arrivals is the one that they come to.
        let end = match steps.get(index + 1) {
            Some(Step::Rate(end)) => *end,
            _ => rate,
        };
        let part = Part { at_s, length_s, from: rate, to: end };
        part.add(is_even, random, &mut moments)?;
        at_s += length_s;
    }
    moments.sort_unstable();
    Ok(moments)
}

/// Why a schedule is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ScheduleError {
    /// A word is not understood.
    #[error("unexpected \"{0}\" in the schedule")]
    Word(String),
    /// There are more arrivals than are kept.
    #[error("the schedule has more than {ARRIVALS_MAX} arrivals")]
    TooMany,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// So many a second.
    Rate(f64),
    Arrivals {
        length_s: f64,
        is_even: bool,
    },
    Pause(f64),
}

/// Arrivals at a rate that changes linearly.
struct Part {
    at_s: f64,
    length_s: f64,
    from: f64,
    to: f64,
}

impl Part {
    /// The number of arrivals is exact; their moments are even, or by chance with the rate's density.
    fn add(
        &self,
        is_even: bool,
        random: &mut Random,
        moments: &mut Vec<u64>,
    ) -> Result<(), ScheduleError> {
        let count = ((self.from + self.to) / 2.0 * self.length_s).round().max(0.0);
        if count > (ARRIVALS_MAX - moments.len().min(ARRIVALS_MAX)) as f64 {
            return Err(ScheduleError::TooMany);
        }
        for number in 0..count as usize {
            let share = if is_even { number as f64 / count } else { random.unit() };
            moments.push(((self.at_s + self.length_s * self.place(share)) * 1000.0) as u64);
        }
        Ok(())
    }

    /// Where in its time a share of the arrivals has come: the inverse of the integral of the rate.
    fn place(&self, share: f64) -> f64 {
        let (from, to) = (self.from, self.to);
        if (to - from).abs() < 1e-9 {
            return share;
        }
        let area = share * (from + to) / 2.0;
        ((from * from + 2.0 * (to - from) * area).sqrt() - from) / (to - from)
    }
}

fn steps(schedule: &str) -> Result<Vec<Step>, ScheduleError> {
    let plain = without_comments(schedule);
    let mut rest = plain.trim();
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let unknown = || ScheduleError::Word(rest.chars().take(40).collect());
        let open = rest.find('(').ok_or_else(unknown)?;
        let close = rest.find(')').filter(|close| *close > open).ok_or_else(unknown)?;
        let value = &rest[open + 1..close];
        steps.push(step(rest[..open].trim(), value).ok_or_else(unknown)?);
        rest = rest[close + 1..].trim_start();
    }
    Ok(steps)
}

fn step(name: &str, value: &str) -> Option<Step> {
    Some(match name {
        "rate" => {
            let (number, unit) = value.split_once('/').unwrap_or((value, "s"));
            let number: f64 = number.trim().parse().ok()?;
            Step::Rate(number / unit_s(unit.trim())?)
        }
        "random_arrivals" => Step::Arrivals { length_s: duration_s(value)?, is_even: false },
        "even_arrivals" => Step::Arrivals { length_s: duration_s(value)?, is_even: true },
        "pause" => Step::Pause(duration_s(value)?),
        _ => return None,
    })
}

/// `1 min 30 s`, in seconds; a number alone is seconds.
fn duration_s(text: &str) -> Option<f64> {
    let mut sum = 0.0;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest
            .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .unwrap_or(rest.len());
        let number: f64 = rest[..end].parse().ok()?;
        rest = rest[end..].trim_start();
        let end = rest.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(rest.len());
        sum += number * unit_s(if end == 0 { "s" } else { &rest[..end] })?;
        rest = rest[end..].trim_start();
    }
    Some(sum)
}

fn unit_s(unit: &str) -> Option<f64> {
    Some(match unit {
        "ms" | "millis" | "milliseconds" => 0.001,
        "s" | "sec" | "second" | "seconds" => 1.0,
        "m" | "min" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("/*") {
        out.push_str(&rest[..at]);
        rest = rest[at..].find("*/").map_or("", |end| &rest[at + end + 2..]);
    }
    out.push_str(rest);
    out.lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_have_their_number() {
        let of = |text: &str| arrivals(text, &mut Random::new(1, 1));
        let even =
            of("rate(2/sec) even_arrivals(2 sec) pause(1s) rate(60/min) even_arrivals(2s) // end");
        assert_eq!(even, Ok(vec![0, 500, 1000, 1500, 3000, 4000]));
        let random =
            of("rate(10/sec) random_arrivals(1 sec) /* c */ rate(0/sec)").expect("a schedule");
        assert_eq!(random.len(), 5);
        assert!(random.is_sorted() && random.iter().all(|at| *at < 1000));
        assert_eq!(of("rate(10/sec) random_arrivals(1 m 30 s)").map(|all| all.len()), Ok(900));
        assert!(matches!(of("rate(10/sec) x(1)"), Err(ScheduleError::Word(_))));
        assert_eq!(of("rate(1000000/ms) random_arrivals(1 d)"), Err(ScheduleError::TooMany));
        assert_eq!(of(""), Ok(Vec::new()));
    }
}
