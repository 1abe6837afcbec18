//! `MetricRegistry`: the metrics that scripts declare, the same for every VU.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use metrics::tally::{BUILTIN, Contains, Kind, MetricId};

/// A metric that a script declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredMetric {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Kind,
    /// What its values are.
    pub contains: Contains,
}

/// The metrics that a script declared, by any of its VUs. Clones are the same registry. It is locked only while modules run.
#[derive(Clone, Debug, Default)]
pub struct MetricRegistry(Arc<Mutex<Declared>>);

#[derive(Debug, Default)]
struct Declared {
    list: Vec<DeclaredMetric>,
    places: HashMap<String, usize>,
}

/// A script declares at most so many metrics.
const METRICS_MAX: usize = 10_000;

/// Why a metric cannot be declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclareError {
    /// There is one of this name, and of this type.
    Is(Kind),
    /// There is one of this name and type, and its values are of this kind.
    Contains(Contains),
    /// There are too many.
    TooMany,
}

/// Whether a metric is declared as the one that there is.
fn check_alike(new: &DeclaredMetric, kind: Kind, contains: Contains) -> Result<(), DeclareError> {
    if new.kind != kind {
        return Err(DeclareError::Is(kind));
    }
    if new.contains != contains {
        return Err(DeclareError::Contains(contains));
    }
    Ok(())
}

impl MetricRegistry {
    fn lock(&self) -> MutexGuard<'_, Declared> {
        // What is locked here is whole at any moment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Declares a metric, or finds the one of this name and type.
    ///
    /// # Errors
    /// There is one of this name and another type, or too many.
    pub fn declare(&self, new: DeclaredMetric) -> Result<MetricId, DeclareError> {
        let builtin = BUILTIN.iter().position(|(name, ..)| *name == new.name);
        if let Some(at) = builtin {
            let (_, kind, contains) = BUILTIN[at];
            return check_alike(&new, kind, contains).map(|()| MetricId(at as u32));
        }
        let mut known = self.lock();
        if let Some(at) = known.places.get(&new.name) {
            let DeclaredMetric { kind, contains, .. } = known.list[*at];
            return check_alike(&new, kind, contains).map(|()| MetricId::custom(*at));
        }
        let at = known.list.len();
        if at == METRICS_MAX {
            return Err(DeclareError::TooMany);
        }
        known.places.insert(new.name.clone(), at);
        known.list.push(new);
        Ok(MetricId::custom(at))
    }

    /// The name of a metric; empty where there is none of this number.
    pub fn name(&self, id: MetricId) -> String {
        let at = id.0 as usize;
        match BUILTIN.get(at) {
            Some((name, ..)) => (*name).to_owned(),
            None => {
                let known = self.lock();
                known.list.get(at - BUILTIN.len()).map_or_else(String::new, |own| own.name.clone())
            }
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().list.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Those from this number on, in the order in which they were declared.
    #[must_use]
    pub fn from(&self, first: usize) -> Vec<DeclaredMetric> {
        self.lock().list.get(first..).unwrap_or_default().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number_and_one_type() {
        let registry = MetricRegistry::default();
        let new = |name: &str, kind| {
            registry.declare(DeclaredMetric {
                name: name.to_owned(),
                kind,
                contains: Contains::Default,
            })
        };
        assert_eq!(new("own", Kind::Counter), Ok(MetricId::custom(0)));
        assert_eq!(new("other", Kind::Rate), Ok(MetricId::custom(1)));
        assert_eq!(new("own", Kind::Counter), Ok(MetricId::custom(0)));
        assert_eq!(new("own", Kind::Trend), Err(DeclareError::Is(Kind::Counter)));
        assert_eq!(new("http_reqs", Kind::Counter), Ok(MetricId::HTTP_REQS));
        assert_eq!(new("http_reqs", Kind::Rate), Err(DeclareError::Is(Kind::Counter)));
        assert_eq!((registry.len(), registry.from(1)[0].name.as_str()), (2, "other"));
    }

    #[test]
    fn regression_issue_41_a_name_has_values_of_one_kind() {
        let registry = MetricRegistry::default();
        let new = |name: &str, contains| {
            registry.declare(DeclaredMetric { name: name.to_owned(), kind: Kind::Trend, contains })
        };
        let differs = Err(DeclareError::Contains(Contains::Time));
        assert_eq!(new("http_req_duration", Contains::Time), Ok(MetricId::HTTP_REQ_DURATION));
        assert_eq!(new("http_req_duration", Contains::Default), differs);
        assert_eq!(new("own", Contains::Time), Ok(MetricId::custom(0)));
        assert_eq!(new("own", Contains::Default), differs);
    }
}
