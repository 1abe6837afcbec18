//! `Object`: objects of the classes that scripts may make.

use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Value;
use super::flat_drop::drop_flat;
use crate::script::library::Digest;

/// An object of a known class.
#[derive(Debug)]
pub enum Object {
    /// `StringBuilder`.
    Builder(Mutex<String>),
    /// `Random`: its state, where it has a seed of its own.
    Random(Option<Mutex<u64>>),
    /// `Date`, `Calendar`, `Instant` and the other moments.
    Instant(Mutex<Instant>),
    /// `SimpleDateFormat`, `DateTimeFormatter`: the pattern, and the zone.
    DateFormat(String, Mutex<Option<Arc<str>>>),
    /// `TimeZone`, `ZoneId`.
    Zone(Arc<str>),
    /// `Duration`, in milliseconds.
    Duration(i64),
    /// `UUID`.
    Uuid(String),
    /// `AtomicInteger`, `AtomicLong`.
    Counter(Mutex<i64>),
    /// An entry of a map.
    Entry(Value, Value),
    /// An iterator over values: those that are left, the last one first.
    Iterator(Mutex<Vec<Value>>),
    /// `Pattern`, with the letters of its flags.
    Pattern(Arc<str>),
    /// `Matcher`: the matches, each with its groups, and where it stands.
    Matcher(Matcher),
    /// `MessageDigest`, `Mac`.
    Digest(Digest, Mutex<Vec<u8>>),
    /// A key, its bytes.
    Key(Arc<[u8]>),
    /// `JsonBuilder`.
    Json(Mutex<Value>),
    /// `Header`, `Argument`, `Cookie`: a name and a value.
    Pair(&'static str, Arc<str>, Arc<str>),
    /// An exception.
    Thrown(Thrown),
    /// An object without a state: `JsonSlurper`, `Base64.Encoder`, `Object`.
    Plain(&'static str),
}

/// What a pattern has found in a text.
#[derive(Debug)]
pub struct Matcher {
    pub(crate) text: Arc<str>,
    pub(crate) pattern: Arc<str>,
    pub(crate) matches: Vec<Vec<Option<String>>>,
    /// How many have been asked for by `find`.
    pub(crate) place: Mutex<usize>,
}

/// An exception: its class and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thrown {
    pub(crate) class: &'static str,
    pub(crate) message: Option<Arc<str>>,
}

/// A moment.
#[derive(Clone, Debug)]
pub struct Instant {
    pub(crate) kind: InstantKind,
    pub(crate) unix_ms: i64,
    /// By how many seconds its zone is ahead of UTC.
    pub(crate) offset_s: i32,
}

/// Which of Java's classes a moment is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstantKind {
    Date,
    Calendar,
    Instant,
    LocalDate,
    LocalDateTime,
    LocalTime,
    Zoned,
}

impl InstantKind {
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Date => "Date",
            Self::Calendar => "GregorianCalendar",
            Self::Instant => "Instant",
            Self::LocalDate => "LocalDate",
            Self::LocalDateTime => "LocalDateTime",
            Self::LocalTime => "LocalTime",
            Self::Zoned => "ZonedDateTime",
        }
    }
}

/// Locks a part of an object for one look or change.
pub(crate) fn lock<T>(part: &Mutex<T>) -> MutexGuard<'_, T> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Object {
    pub(crate) fn class(&self) -> &'static str {
        match self {
            Self::Builder(_) => "StringBuilder",
            Self::Random(_) => "Random",
            Self::Instant(instant) => lock(instant).kind.class(),
            Self::DateFormat(..) => "SimpleDateFormat",
            Self::Zone(_) => "TimeZone",
            Self::Duration(_) => "Duration",
            Self::Uuid(_) => "UUID",
            Self::Counter(_) => "AtomicInteger",
            Self::Entry(..) => "Entry",
            Self::Iterator(_) => "Iterator",
            Self::Pattern(_) => "Pattern",
            Self::Matcher(_) => "Matcher",
            Self::Digest(digest, _) if digest.is_keyed() => "Mac",
            Self::Digest(..) => "MessageDigest",
            Self::Key(_) => "SecretKeySpec",
            Self::Json(_) => "JsonBuilder",
            Self::Pair(class, ..) | Self::Plain(class) => class,
            Self::Thrown(thrown) => thrown.class,
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        match self {
            Self::Builder(text) => !lock(text).is_empty(),
            Self::Matcher(matcher) => !matcher.matches.is_empty(),
            Self::Iterator(left) => !lock(left).is_empty(),
            _ => true,
        }
    }

    /// A moment of it, where it is one.
    pub(crate) fn instant(&self) -> Option<Instant> {
        match self {
            Self::Instant(instant) => Some(lock(instant).clone()),
            _ => None,
        }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        let value = |part: &mut Mutex<Value>| {
            std::mem::take(part.get_mut().unwrap_or_else(PoisonError::into_inner))
        };
        drop_flat(match self {
            Self::Entry(key, own) => vec![std::mem::take(key), std::mem::take(own)],
            Self::Iterator(left) => {
                std::mem::take(left.get_mut().unwrap_or_else(PoisonError::into_inner))
            }
            Self::Json(part) => vec![value(part)],
            _ => return,
        });
    }
}
