//! What an importer is given: the input's text, and the files that it may see.

use crate::{Kind, Place};

/// One input.
pub struct Input<'a> {
    /// Its name, for messages: a path as typed, `-` for standard input.
    pub name: &'a str,
    /// Its content.
    pub text: &'a str,
    /// As what it is read.
    pub kind: Kind,
    /// The files that it names.
    pub files: &'a dyn Files,
    /// The content of the file of environments (Postman, `.http`), if one is given.
    pub environment: Option<&'a str>,
    /// The tags of OpenAPI whose operations are wanted; empty: all.
    pub tags: &'a [String],
    /// Which environment of that file is wanted.
    pub environment_name: Option<&'a str>,
}

impl Input<'_> {
    /// The line `line` of this input.
    #[must_use]
    pub fn place(&self, line: usize) -> Place {
        Place::new(self.name, line)
    }
}

/// Brings the content of files that an input names, if they may be read.
pub trait Files {
    /// The content of the file at `path`, as the input writes it.
    ///
    /// # Errors
    /// If it may not be read, or cannot be.
    fn read(&self, path: &str) -> Result<Vec<u8>, FileProblem>;

    /// The time now, in seconds since 1970: cookies in files have an end. 0: not known, no cookie has ended.
    fn now_s(&self) -> u64 {
        0
    }
}

/// Why a file that the input names has no content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileProblem {
    /// It lies outside of the folders that may be read.
    #[error("is outside of the input's folder; -allow-read allows it")]
    NotAllowed,
    /// It is not there, or cannot be read.
    #[error("cannot be read")]
    Unreadable,
    /// It is larger than what is read of such files.
    #[error("is too large")]
    TooLarge,
}
