//! `LoadChange`: another load for a run under way. `LoadChanges` has those of a run, for its workers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use metrics::Generator;
use stdx::Nanos;
use thiserror::Error;
use workload::arrival::Rate;
use workload::{Load, Plan};

/// Another load for a run under way. At each moment a run offers nothing while it is paused, else the rate or the users that
/// were asked for last, else what its plan says for that moment: a pause does not move the plan's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadChange {
    /// No hits begin until [`LoadChange::Resume`].
    Pause,
    /// Hits begin again.
    Resume,
    /// An open loop has this rate from now on; Poisson arrivals remain such.
    Rate(Rate),
    /// A closed loop has so many users from now on. Those who leave end their hit first.
    Users(u64),
}

/// Why a run's load cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LoadChangeError {
    /// Users of a script, or of a test of Action Cable, decide for themselves.
    #[error("the users of this run decide for themselves when they send")]
    SelfPaced,
    /// The load is shared by several machines.
    #[error("this run shares its load with other machines")]
    Shared,
    /// It has users, and no rate.
    #[error("this run has users, and no rate")]
    NoRate,
    /// It has a rate, and no users.
    #[error("this run has a rate, and no users")]
    NoUsers,
    /// Its workers have shared a number of hits among them.
    #[error("the users of this run have shared its requests (-n) among them")]
    Counted,
    /// More hits than a schedule is made for.
    #[error("a rate is at most {RATE_MAX} requests per second")]
    TooFast,
    /// No hits at all are a pause.
    #[error("a load of 0 is a pause")]
    Zero,
    /// More users than a run may have.
    #[error("a run has at most {USERS_MAX} users")]
    TooManyUsers,
    /// More changes than a run may have.
    #[error("the load of a run changes at most {CHANGES_MAX} times")]
    TooManyChanges,
    /// The run is over.
    #[error("the run is over")]
    Over,
}

/// Hits per second that a change may ask for, at most: what is not begun of them is passed over one by one.
const RATE_MAX: f64 = 10_000_000.0;
/// Users that a change may ask for, at most.
const USERS_MAX: u64 = 1 << 20;
/// Changes of a run's load, at most.
const CHANGES_MAX: usize = 10_000;

impl LoadChange {
    /// Whether a run of this plan by so many workers can change so.
    ///
    /// # Errors
    /// Why not.
    fn check(self, plan: &Plan, workers: usize) -> Result<(), LoadChangeError> {
        match (self, &plan.load) {
            (_, Load::Users(_)) => Err(LoadChangeError::SelfPaced),
            _ if plan.part.is_some() => Err(LoadChangeError::Shared),
            (Self::Rate(_), Load::Closed { .. }) => Err(LoadChangeError::NoRate),
            (Self::Users(_), Load::Open { .. }) => Err(LoadChangeError::NoUsers),
            (Self::Rate(Rate { hits: 0, .. }) | Self::Users(0), _) => Err(LoadChangeError::Zero),
            (Self::Users(_), _) if plan.hits_max.is_some() && workers > 1 => {
                Err(LoadChangeError::Counted)
            }
            (Self::Rate(rate), _) if rate.per_s() > RATE_MAX => Err(LoadChangeError::TooFast),
            (Self::Users(users), _) if users > USERS_MAX => Err(LoadChangeError::TooManyUsers),
            _ => Ok(()),
        }
    }
}

/// The changes of a run's load so far.
#[derive(Debug, Default)]
pub(crate) struct LoadChanges {
    /// How many there are. Workers look here in each turn, and take the lock only for a new one.
    count: AtomicUsize,
    list: Mutex<Vec<(Nanos, LoadChange)>>,
}

impl LoadChanges {
    fn list(&self) -> MutexGuard<'_, Vec<(Nanos, LoadChange)>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a change at this moment of a run of this plan by so many workers.
    ///
    /// # Errors
    /// The run cannot change so.
    pub(crate) fn add(
        &self,
        at: Nanos,
        change: LoadChange,
        (plan, workers): (&Plan, usize),
    ) -> Result<(), LoadChangeError> {
        change.check(plan, workers)?;
        if plan.begins_for().is_some_and(|end| at >= end) {
            return Err(LoadChangeError::Over);
        }
        let mut list = self.list();
        if list.len() >= CHANGES_MAX {
            return Err(LoadChangeError::TooManyChanges);
        }
        list.push((at, change));
        self.count.store(list.len(), Ordering::Release);
        Ok(())
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// The change of this number, and when it is.
    pub(crate) fn get(&self, number: usize) -> Option<(Nanos, LoadChange)> {
        self.list().get(number).copied()
    }

    /// Writes what the run was asked for on average into its record, where that was changed: the rate over the time in which
    /// measured hits fell due, or the users, of whom a paused run has none. `stopped` is when the run was ordered to begin no more.
    pub(crate) fn write_means(&self, record: &mut Generator, plan: &Plan, stopped: Nanos) {
        if self.count() == 0 {
            return;
        }
        let end = record.wall.min(plan.begins_for().unwrap_or(Nanos::MAX)).min(stopped);
        let span = (plan.warmup.min(end), end);
        let seconds = end.saturating_sub(span.0).as_secs_f64().max(1e-9);
        match plan.load {
            Load::Open { .. } => record.rate_per_s = record.planned as f64 / seconds,
            Load::Closed { users } => {
                record.users = (self.user_seconds(users, span) / seconds).round().max(1.0) as u64;
            }
            Load::Users(_) => {}
        }
    }

    /// Users times seconds from `since` to `end`, of a run that began with so many users.
    fn user_seconds(&self, mut users: u64, (mut since, end): (Nanos, Nanos)) -> f64 {
        let (mut sum, mut is_paused) = (0.0, false);
        let list = self.list();
        let last = (end, LoadChange::Resume);
        for (at, change) in list.iter().copied().filter(|(at, _)| *at < end).chain([last]) {
            let present = if is_paused { 0 } else { users };
            sum += present as f64 * at.saturating_sub(since).as_secs_f64();
            since = since.max(at);
            match change {
                LoadChange::Pause => is_paused = true,
                LoadChange::Resume => is_paused = false,
                LoadChange::Users(now) => users = now,
                LoadChange::Rate(_) => {}
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use workload::Targets;

    use super::*;

    #[test]
    fn means_are_over_time() {
        let plan = Plan {
            duration: Some(Nanos::from_secs(10)),
            ..Plan::new(Load::Closed { users: 4 }, Targets::default(), 1)
        };
        let changes = LoadChanges::default();
        let mut record = Generator { users: 4, wall: Nanos::from_secs(11), ..Generator::default() };
        changes.write_means(&mut record, &plan, Nanos::MAX);
        assert_eq!(record.users, 4, "unchanged");
        for (second, change) in
            [(2, LoadChange::Users(8)), (4, LoadChange::Pause), (7, LoadChange::Resume)]
        {
            changes.add(Nanos::from_secs(second), change, (&plan, 2)).unwrap();
        }
        changes.write_means(&mut record, &plan, Nanos::MAX);
        // 2 s of 4, 2 s of 8, 3 s of none, 3 s of 8.
        assert_eq!(record.users, 5);
        // The warm-up's hits count nowhere: 1 s of 8, 3 s of none, 3 s of 8.
        let warm = Plan { warmup: Nanos::from_secs(3), ..plan.clone() };
        changes.write_means(&mut record, &warm, Nanos::MAX);
        assert_eq!(record.users, 5, "32 of 7 s");
        // Nor does what came after a stop: 2 s of 4, 1 s of 8.
        changes.write_means(&mut record, &plan, Nanos::from_secs(3));
        assert_eq!(record.users, 5, "16 of 3 s");
        let late = changes.add(Nanos::from_secs(10), LoadChange::Pause, (&plan, 2));
        assert_eq!(late, Err(LoadChangeError::Over));
    }

    #[test]
    fn a_run_changes_only_what_it_has() {
        let closed = Plan::new(Load::Closed { users: 4 }, Targets::default(), 1);
        let by = |workers| {
            move |change, plan: &Plan| LoadChanges::default().add(Nanos(1), change, (plan, workers))
        };
        let refused = by(2);
        let rate = LoadChange::Rate(Rate::per_second(5));
        assert_eq!(refused(rate, &closed), Err(LoadChangeError::NoRate));
        assert_eq!(refused(LoadChange::Users(0), &closed), Err(LoadChangeError::Zero));
        let many = LoadChange::Users(USERS_MAX + 1);
        assert_eq!(refused(many, &closed), Err(LoadChangeError::TooManyUsers));
        assert_eq!(refused(LoadChange::Users(1), &closed), Ok(()));
        let counted = Plan { hits_max: Some(100), ..closed };
        assert_eq!(refused(LoadChange::Users(1), &counted), Err(LoadChangeError::Counted));
        assert_eq!(by(1)(LoadChange::Users(1), &counted), Ok(()), "nothing is shared");
        assert_eq!(refused(LoadChange::Pause, &counted), Ok(()));
        let load = Load::Open {
            shape: workload::arrival::Shape::constant(Rate::per_second(5)),
            max_in_flight: None,
        };
        let open = Plan::new(load, Targets::default(), 1);
        let fast = LoadChange::Rate(Rate::per_second(10_000_001));
        assert_eq!(refused(fast, &open), Err(LoadChangeError::TooFast));
    }
}
