//! `Reflection`: a server's own account of its services, asked for in rounds until all files are there.
//!
//! ```text
//! next_request ─▶ the names of all services ─▶ the files of each ─▶ the files that those import ─▶ … ─▶ Definitions
//! ```

use std::collections::HashSet;

use prost_reflect::prost::Message as _;
use prost_reflect::prost_types::FileDescriptorProto;

use crate::definitions::{Definitions, DefinitionsError};
use crate::wire::{all_bytes, fields, push_bytes, text, varint};

/// The most files that a server may describe, and their bytes in all: what is beyond is refused.
const FILES_MAX: usize = 10_000;
const BYTES_MAX: usize = 64 << 20;

/// Which of the two services of this kind is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReflectionVersion {
    /// `grpc.reflection.v1`.
    V1,
    /// `grpc.reflection.v1alpha`, of older servers. The messages are the same.
    V1Alpha,
}

impl ReflectionVersion {
    /// The path of its method.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::V1 => "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            Self::V1Alpha => "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        }
    }
}

/// Why a server's definitions cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ReflectionError {
    /// A response is malformed.
    #[error("the server's reflection sent a malformed message")]
    Malformed,
    /// The server describes too much.
    #[error("the server's reflection describes more than {FILES_MAX} files or {BYTES_MAX} bytes")]
    TooMuch,
    /// It could not answer.
    #[error("{0}")]
    Refused(String),
    /// What it describes does not fit together.
    #[error(transparent)]
    Definitions(#[from] DefinitionsError),
}

/// A dialogue with a server about what it serves.
#[derive(Debug, Default)]
pub struct Reflection {
    has_listed: bool,
    /// Messages that are to be sent.
    requests: Vec<Vec<u8>>,
    files: Vec<FileDescriptorProto>,
    /// The names of those files, and of files that were asked for: none is asked for twice, whatever the server answers.
    known: HashSet<String>,
    bytes: usize,
}

/// Numbers of the fields of requests.
const FILE_BY_FILENAME: u32 = 3;
const FILE_CONTAINING_SYMBOL: u32 = 4;
const LIST_SERVICES: u32 = 7;
/// Numbers of the fields of responses.
const FILES: u32 = 4;
const SERVICES: u32 = 6;
const ERROR: u32 = 7;

impl Reflection {
    /// The messages of the next round, all sent at once; empty where everything is there.
    pub fn next_requests(&mut self) -> Vec<Vec<u8>> {
        if !self.has_listed {
            return vec![request(LIST_SERVICES, "*")];
        }
        std::mem::take(&mut self.requests)
    }

    /// Takes the responses to a round.
    ///
    /// # Errors
    /// The server refuses, or sends nonsense, or too much.
    pub fn handle_responses<'a>(
        &mut self,
        responses: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<(), ReflectionError> {
        let was_listed = self.has_listed;
        for response in responses {
            self.handle_response(response)?;
        }
        if !was_listed && !self.has_listed {
            return Err(ReflectionError::Malformed);
        }
        if was_listed { self.ask_for_imports() } else { Ok(()) }
    }

    fn handle_response(&mut self, response: &[u8]) -> Result<(), ReflectionError> {
        let of = fields(response).ok_or(ReflectionError::Malformed)?;
        if let Some(error) = all_bytes(&of, ERROR).next() {
            let error = fields(error).ok_or(ReflectionError::Malformed)?;
            let message = all_bytes(&error, 2).next().map(text).unwrap_or_default();
            let code = varint(&error, 1).unwrap_or_default();
            return Err(ReflectionError::Refused(format!("{message} (code {code})")));
        }
        for list in all_bytes(&of, SERVICES) {
            self.has_listed = true;
            let list = fields(list).ok_or(ReflectionError::Malformed)?;
            for service in all_bytes(&list, 1) {
                let service = fields(service).ok_or(ReflectionError::Malformed)?;
                let name = all_bytes(&service, 1).next().map(text).unwrap_or_default();
                self.requests.push(request(FILE_CONTAINING_SYMBOL, &name));
            }
            if self.requests.len() > FILES_MAX {
                return Err(ReflectionError::TooMuch);
            }
        }
        for answer in all_bytes(&of, FILES) {
            let answer = fields(answer).ok_or(ReflectionError::Malformed)?;
            all_bytes(&answer, 1).try_for_each(|file| self.add_file(file))?;
        }
        Ok(())
    }

    fn add_file(&mut self, bytes: &[u8]) -> Result<(), ReflectionError> {
        let file = FileDescriptorProto::decode(bytes).map_err(|_| ReflectionError::Malformed)?;
        if self.files.iter().any(|known| known.name == file.name) {
            return Ok(());
        }
        self.known.insert(file.name().to_owned());
        self.bytes += bytes.len();
        if self.files.len() >= FILES_MAX || self.bytes > BYTES_MAX {
            return Err(ReflectionError::TooMuch);
        }
        self.files.push(file);
        Ok(())
    }

    /// Asks for the files that others import and the server did not send.
    fn ask_for_imports(&mut self) -> Result<(), ReflectionError> {
        for name in self.files.iter().flat_map(|file| &file.dependency) {
            if self.known.insert(name.clone()) {
                self.requests.push(request(FILE_BY_FILENAME, name));
            }
            if self.known.len() > FILES_MAX {
                return Err(ReflectionError::TooMuch);
            }
        }
        Ok(())
    }

    /// Adds what was learnt to what is known already.
    ///
    /// # Errors
    /// The files do not fit together.
    pub fn finish(self, into: &mut Definitions) -> Result<(), ReflectionError> {
        Ok(into.learn(self.files)?)
    }
}

fn request(number: u32, value: &str) -> Vec<u8> {
    let mut message = Vec::new();
    push_bytes(number, value.as_bytes(), &mut message);
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::tests::definitions;

    fn nested(numbers: &[u32], bytes: &[u8]) -> Vec<u8> {
        let wrap = |inner: Vec<u8>, number: &u32| {
            let mut outer = Vec::new();
            push_bytes(*number, &inner, &mut outer);
            outer
        };
        numbers.iter().rev().fold(bytes.to_vec(), wrap)
    }

    #[test]
    fn files_are_asked_for_until_nothing_is_missing() {
        let of = definitions(
            "syntax = \"proto3\"; package p; import \"google/protobuf/empty.proto\"; service S { rpc M(google.protobuf.Empty) returns (google.protobuf.Empty); }",
        );
        let files = of.method("p.S/M").expect("a method").input().parent_pool().clone();
        let bytes = |name: &str| files.get_file_by_name(name).expect("a file").encode_to_vec();
        let mut reflection = Reflection::default();
        assert_eq!(reflection.next_requests(), [b"\x3a\x01*".to_vec()]);
        let listed = nested(&[SERVICES, 1, 1], b"p.S");
        reflection.handle_responses([&listed[..]]).expect("a list");
        assert_eq!(reflection.next_requests(), [b"\x22\x03p.S".to_vec()]);
        let described = nested(&[FILES, 1], &bytes("t.proto"));
        reflection.handle_responses([&described[..]]).expect("a file");
        assert_eq!(reflection.next_requests().len(), 1, "the import is missing");
        let described = nested(&[FILES, 1], &bytes("google/protobuf/empty.proto"));
        reflection.handle_responses([&described[..]]).expect("a file");
        assert!(reflection.next_requests().is_empty());
        let mut all = Definitions::default();
        reflection.finish(&mut all).expect("they fit");
        assert!(all.method("/p.S/M").is_some());
    }

    #[test]
    fn no_file_is_asked_for_twice_and_not_too_many() {
        let file = |imports: u32| {
            let dependency = (0..imports).map(|number| format!("{number}.proto")).collect();
            let file = FileDescriptorProto {
                name: Some("a.proto".to_owned()),
                dependency,
                ..FileDescriptorProto::default()
            };
            nested(&[FILES, 1], &file.encode_to_vec())
        };
        let mut reflection = Reflection { has_listed: true, ..Reflection::default() };
        reflection.handle_responses([&file(2)[..]]).expect("a file");
        assert_eq!(reflection.next_requests().len(), 2);
        // The server answers with a file that it sent before.
        reflection.handle_responses([&file(2)[..], &file(2)[..]]).expect("a file");
        assert!(reflection.next_requests().is_empty());
        assert!(reflection.finish(&mut Definitions::default()).is_err(), "two files are missing");
        let mut greedy = Reflection { has_listed: true, ..Reflection::default() };
        let error = greedy.handle_responses([&file(20_000)[..]]).expect_err("too many");
        assert!(matches!(error, ReflectionError::TooMuch));
    }

    #[test]
    fn servers_that_refuse_or_send_nonsense_end_it() {
        let mut reflection = Reflection::default();
        assert!(matches!(
            reflection.handle_responses([&b"\xff\xff"[..]]),
            Err(ReflectionError::Malformed)
        ));
        assert!(matches!(reflection.handle_responses([]), Err(ReflectionError::Malformed)));
        let refusal = nested(&[ERROR, 2], b"no such symbol");
        let error = reflection.handle_responses([&refusal[..]]).expect_err("it refuses");
        assert_eq!(error.to_string(), "no such symbol (code 0)");
    }
}
