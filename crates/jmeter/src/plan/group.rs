//! `Group`: a thread group: how many threads, when they begin, and how they end.

use jmx::{Class, Element, Scope};

use super::open_model::arrivals;
use super::plugin_groups;
use super::property::{flag, number, text};
use super::start_plan::{StartPlan, THREADS_MAX};
use crate::random::Random;

/// When a group's threads run in the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupKind {
    /// Before all others.
    SetUp,
    /// The load.
    Main,
    /// After all others.
    TearDown,
}

/// What becomes of a thread whose sample has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OnError {
    #[default]
    Continue,
    NextLoop,
    StopThread,
    StopTest,
    StopTestNow,
}

/// A thread group, with its numbers as they were at the start of the test.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// When it runs.
    pub kind: GroupKind,
    /// How many threads it has.
    pub threads: u64,
    /// The controller that is its loop.
    pub(crate) root: usize,
    pub(crate) start: StartPlan,
    pub(crate) on_error: OnError,
    /// The thread is the same user on each of its iterations.
    pub(crate) same_user: bool,
}

impl Group {
    /// Reads a group's element in the scope of the test.
    pub(crate) fn new(element: &Element, root: usize, scope: &mut dyn Scope) -> Self {
        let kind = match element.class {
            Class::SetupThreadGroup => GroupKind::SetUp,
            Class::PostThreadGroup => GroupKind::TearDown,
            _ => GroupKind::Main,
        };
        let threads =
            (number(element, "ThreadGroup.num_threads", scope).unwrap_or(0).max(0)) as u64;
        let word = text(&element.properties, "ThreadGroup.on_sample_error", scope);
        let (threads, start) = match element.class {
            Class::OpenModelThreadGroup => open_model(element, scope),
            Class::UltimateThreadGroup => plugin_groups::ultimate(element, scope),
            Class::ConcurrencyThreadGroup => plugin_groups::concurrency(element, scope),
            _ => (threads.min(THREADS_MAX), ramp(element, scope)),
        };
        Self {
            name: element.name.evaluate(scope),
            kind,
            threads,
            root,
            start,
            on_error: on_error(&word),
            same_user: flag(&element.properties, "ThreadGroup.same_user_on_next_iteration", scope)
                .unwrap_or(true),
        }
    }

    /// When thread `index` (from 0) begins, in milliseconds after the group.
    pub(crate) fn start_ms(&self, index: u64) -> u64 {
        match &self.start {
            StartPlan::Ramp { delay_ms, ramp_ms, is_delayed: false, .. } => {
                // JMeter rounds the distance of two threads, not the moments.
                let step = *ramp_ms as f64 / self.threads.max(1) as f64;
                delay_ms.saturating_add((step * index as f64).round() as u64)
            }
            StartPlan::Ramp { delay_ms, ramp_ms, .. } => {
                let steps = self.threads.saturating_sub(1).max(1);
                delay_ms.saturating_add(ramp_ms.saturating_mul(index) / steps)
            }
            StartPlan::Moments(moments) => {
                moments.get(index as usize).map_or(u64::MAX, |(start, _)| *start)
            }
            StartPlan::Arrivals(_) => 0,
            StartPlan::Never(_) => u64::MAX,
        }
    }

    /// When thread `index` ends at the latest, in milliseconds after the group; `None` where nothing but its loop ends it.
    pub(crate) fn end_ms(&self, index: u64) -> Option<u64> {
        match &self.start {
            StartPlan::Ramp { delay_ms, duration_ms, .. } => {
                duration_ms.map(|time| delay_ms.saturating_add(time))
            }
            StartPlan::Moments(moments) => moments.get(index as usize).and_then(|(_, end)| *end),
            StartPlan::Arrivals(_) | StartPlan::Never(_) => None,
        }
    }
}

/// Users of a group of arrivals at most: more threads than these are never at work at once.
const ARRIVAL_USERS_MAX: u64 = 20_000;

/// A thread for each arrival of a schedule; users take them in turn.
fn open_model(element: &Element, scope: &mut dyn Scope) -> (u64, StartPlan) {
    let schedule = text(&element.properties, "OpenModelThreadGroup.schedule", scope);
    let seed = number(element, "OpenModelThreadGroup.random_seed", scope).unwrap_or(0) as u64;
    let seed = if seed == 0 { scope.random() } else { seed };
    match arrivals(&schedule, &mut Random::new(seed, 0)) {
        Ok(moments) => {
            let users = (moments.len() as u64).min(ARRIVAL_USERS_MAX);
            (users, StartPlan::Arrivals(moments.into()))
        }
        Err(error) => (1, StartPlan::Never(error.to_string())),
    }
}

fn on_error(word: &str) -> OnError {
    match word {
        "startnextloop" => OnError::NextLoop,
        "stopthread" => OnError::StopThread,
        "stoptest" => OnError::StopTest,
        "stoptestnow" => OnError::StopTestNow,
        _ => OnError::Continue,
    }
}

fn ramp(element: &Element, scope: &mut dyn Scope) -> StartPlan {
    let mut seconds = |name: &str| number(element, name, scope).unwrap_or(0).max(0) as u64;
    let ramp_ms = seconds("ThreadGroup.ramp_time").saturating_mul(1000);
    let (duration, delay) = (seconds("ThreadGroup.duration"), seconds("ThreadGroup.delay"));
    let schedules = flag(&element.properties, "ThreadGroup.scheduler", scope) == Some(true);
    let is_delayed = flag(&element.properties, "ThreadGroup.delayedStart", scope) == Some(true);
    if !schedules {
        return StartPlan::Ramp { delay_ms: 0, ramp_ms, duration_ms: None, is_delayed };
    }
    if duration == 0 {
        return StartPlan::Never(format!("Invalid duration {duration} set in Thread Group"));
    }
    let (delay_ms, duration_ms) = (delay.saturating_mul(1000), duration.saturating_mul(1000));
    StartPlan::Ramp { delay_ms, ramp_ms, duration_ms: Some(duration_ms), is_delayed }
}
