//! Runs as measurements: at which loads they were made, what they say there, and what must be known of them. It fits nothing.

use metrics::Histogram;
use stdx::{are, counted};

use super::{OBSERVATIONS_MAX, Observation, Sweep};
use crate::contrast::Load;
use crate::seek::By;

/// A share of errors above which a note says so.
const ERRORS_MAX: f64 = 0.01;

/// A run's figures, as a fit needs them.
#[derive(Clone, Copy, Debug)]
pub struct RunFigures<'a> {
    /// What the run is called in notes.
    pub name: &'a str,
    /// Its response times.
    pub times: &'a Histogram,
    /// Answers per second, failed ones included.
    pub completions_per_s: f64,
    /// The share of requests without success, 0 to 1.
    pub errors: f64,
    /// Why its figures may not be believed; empty where they may.
    pub invalid: &'a [String],
}

impl RunFigures<'_> {
    /// What the run says of this load, and to the notes what must be known of it; `None` where it has no request.
    #[must_use]
    pub fn at(&self, load: f64, notes: &mut Vec<String>) -> Option<Observation> {
        let (name, times) = (self.name, self.times);
        if times.count() == 0 {
            notes.push(format!("{name} holds no request and is left out."));
            return None;
        }
        if self.errors > ERRORS_MAX {
            let percent = self.errors * 100.0;
            notes.push(format!("{name}: {percent:.1}% of its requests failed; they count too."));
        }
        if !self.invalid.is_empty() {
            notes.push(format!("{name} is INVALID: {}", self.invalid.join("; ")));
        }
        let quantile_s = |share: f64| Some(times.quantile(share).as_secs_f64());
        Some(Observation {
            load,
            throughput_per_s: self.completions_per_s,
            mean_s: times.sum() as f64 / times.count() as f64 / 1e9,
            p50_s: quantile_s(0.5),
            p99_s: quantile_s(0.99),
        })
    }
}

/// What a run's load is counted in and how much it is, users where it has both; with `wanted` only in that. `None` where its
/// results do not say.
#[must_use]
pub fn load_of(load: &Load, wanted: Option<By>) -> Option<(By, f64)> {
    let both = [(By::Connections, load.users), (By::Rate, load.rate_per_s)];
    let is_known = |(by, load): &(By, f64)| wanted.is_none_or(|only| only == *by) && *load > 0.0;
    both.into_iter().find(is_known)
}

/// The unit of most loads, users where both are equally frequent; `None` where there are none.
#[must_use]
pub fn by_most(loads: impl Iterator<Item = By>) -> Option<By> {
    let (rates, users): (Vec<By>, Vec<By>) = loads.partition(|by| *by == By::Rate);
    match (rates.len(), users.len()) {
        (0, 0) => None,
        (rates, users) if rates > users => Some(By::Rate),
        _ => Some(By::Connections),
    }
}

impl Sweep {
    /// Of these measurements at most [`OBSERVATIONS_MAX`]; how many more there were is noted. They are left out evenly, since
    /// the last of them may be all there are of a load.
    #[must_use]
    pub fn bounded(by: By, all: Vec<Observation>, notes: &mut Vec<String>) -> Self {
        let count = all.len();
        if count <= OBSERVATIONS_MAX {
            return Self { by, observations: all };
        }
        let left_out = count - OBSERVATIONS_MAX;
        let (left_out, are) = (counted(left_out as u64, "measurement"), are(left_out as u64));
        notes.push(format!("{left_out} {are} left out, of each load about as many."));
        let kept = (0..OBSERVATIONS_MAX).map(|at| all[at * count / OBSERVATIONS_MAX]);
        Self { by, observations: kept.collect() }
    }
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use super::*;

    #[test]
    fn a_run_is_a_measurement_with_notes() {
        let mut times = Histogram::default();
        times.record_n(Nanos::from_millis(20), 4);
        let invalid = ["late".to_owned(), "stalls".to_owned()];
        let good = RunFigures {
            name: "a",
            times: &times,
            completions_per_s: 50.0,
            errors: 0.01,
            invalid: &[],
        };
        let mut notes = Vec::new();
        let one = good.at(1.0, &mut notes).unwrap();
        assert_eq!((one.load, one.throughput_per_s, one.mean_s), (1.0, 50.0, 0.02));
        assert!(one.p50_s.is_some_and(|p50_s| (p50_s / 0.02 - 1.0).abs() < 0.002), "{one:?}");
        assert_eq!(notes, [""; 0]);
        let bad = RunFigures { name: "b", errors: 0.25, invalid: &invalid, ..good };
        assert_eq!(bad.at(1.0, &mut notes), Some(one));
        let none = Histogram::default();
        assert_eq!(RunFigures { name: "c", times: &none, ..bad }.at(1.0, &mut notes), None);
        let expect = [
            "b: 25.0% of its requests failed; they count too.",
            "b is INVALID: late; stalls",
            "c holds no request and is left out.",
        ];
        assert_eq!(notes, expect);
    }

    #[test]
    fn most_runs_decide_what_a_load_is() {
        let load = |users: f64, rate_per_s: f64| Load { users, rate_per_s, ..Load::default() };
        let (users, rate, both) = (load(4.0, 0.0), load(0.0, 90.0), load(4.0, 90.0));
        let cases = [
            (users, None, Some((By::Connections, 4.0))),
            (rate, None, Some((By::Rate, 90.0))),
            (both, None, Some((By::Connections, 4.0))),
            (both, Some(By::Rate), Some((By::Rate, 90.0))),
            (users, Some(By::Rate), None),
            (load(0.0, 0.0), None, None),
        ];
        for (load, wanted, expect) in cases {
            assert_eq!(load_of(&load, wanted), expect, "{load:?} {wanted:?}");
        }
        let (users, rate) = (By::Connections, By::Rate);
        assert_eq!(by_most([rate, users, users].into_iter()), Some(users));
        assert_eq!(by_most([users, rate, rate].into_iter()), Some(rate));
        assert_eq!(by_most([rate, users].into_iter()), Some(users));
        assert_eq!(by_most(std::iter::empty()), None);
    }

    #[test]
    fn measurements_are_left_out_of_every_load() {
        let of = |load: u32| Observation { load: f64::from(load), ..Observation::default() };
        let all: Vec<Observation> = (0..1200).map(|at| of(1 + at / 200)).collect();
        let mut notes = Vec::new();
        let whole = Sweep::bounded(By::Rate, all[..1000].to_vec(), &mut notes);
        assert_eq!((whole.observations.len(), notes.len()), (1000, 0));
        let sweep = Sweep::bounded(By::Rate, all, &mut notes);
        assert_eq!(sweep.observations.len(), OBSERVATIONS_MAX);
        for load in 1..=6 {
            let kept = sweep.observations.iter().filter(|one| one.load == f64::from(load));
            let kept = kept.count();
            assert!((160..=170).contains(&kept), "{load}: {kept}");
        }
        assert_eq!(notes, ["200 measurements are left out, of each load about as many."]);
    }
}
