//! Names and numbers that messages and records carry.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The most agents of a fleet.
pub const AGENTS_MAX: usize = 4096;

/// The longest name, in bytes.
const NAME_MAX: usize = 64;

/// The name of an agent or a run: 1 to 64 ASCII letters, digits, `-` and `_`. It can stand in a NATS subject and a file name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

/// Why a text is no name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// It is empty or too long; its length in bytes.
    #[error("a name has 1 to {NAME_MAX} characters, not {0}")]
    Length(usize),
    /// It has another character.
    #[error("a name has letters, digits, - and _, not {0:?}")]
    Character(char),
}

impl Name {
    /// Checks a name.
    ///
    /// # Errors
    /// It is empty, too long, or has other characters than ASCII letters, digits, `-` and `_`.
    pub fn new(text: &str) -> Result<Self, NameError> {
        if text.is_empty() || text.len() > NAME_MAX {
            return Err(NameError::Length(text.len()));
        }
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        match text.chars().find(|c| !is_allowed(*c)) {
            Some(other) => Err(NameError::Character(other)),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        Self::new(&text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A process of an agent: drawn at random when it starts, so that a restarted agent is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Epoch(pub u64);

/// A process of a coordinator of a run. It grows with each takeover of the run's lease; agents obey the highest alone.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Incarnation(pub u64);

/// The number of a delta of one epoch, from 1 without holes; 0 is before the first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Seq(pub u64);

impl Seq {
    /// The number after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// The SHA-256 of an archive or of a setup's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Digest(pub [u8; 32]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_in_subjects_and_paths() {
        for text in ["a", "agent-8", "LOAD_1", &"x".repeat(64)] {
            assert_eq!(Name::new(text).unwrap().as_str(), text);
        }
        assert_eq!(Name::new(""), Err(NameError::Length(0)));
        assert_eq!(Name::new(&"x".repeat(65)), Err(NameError::Length(65)));
        for (text, found) in [("a.b", '.'), ("a b", ' '), ("../x", '.'), ("a>", '>'), ("ü", 'ü')]
        {
            assert_eq!(Name::new(text), Err(NameError::Character(found)), "{text}");
        }
    }
}
