//! `RunFiles`: what the agents of a run fetch from its coordinator, part by part and by hash. They lie beside its journal, so that a
//! process that takes over serves them too.

use std::io;
use std::path::{Path, PathBuf};

use fleet::{Digest, Name};
use serde::{Deserialize, Serialize};
use stdx::private_file;

use crate::error::ControlError;
use crate::transport::digest;

/// The largest file that agents fetch, in bytes.
pub const FILE_MAX: usize = 256 * 1024 * 1024;

/// Bytes of a file in one message: well below the largest.
pub(crate) const PART_BYTES: usize = 256 * 1024;

const _: () = assert!(PART_BYTES < fleet::FRAME_MAX);

/// The files' names beside the journal.
const ARCHIVE: &str = "archive";
const SETUP: &str = "setup";

/// The folder of a run in the fleet's.
pub(crate) fn run_folder(dir: &Path, run: &Name) -> PathBuf {
    dir.join("runs").join(run.as_str())
}

/// What the agents of a run fetch.
#[derive(Clone, PartialEq, Eq)]
pub struct RunFiles {
    /// What they are to do.
    pub archive: Vec<u8>,
    /// What `setup()` returned, where there was one.
    pub setup: Option<Vec<u8>>,
}

/// Without what is in them.
impl std::fmt::Debug for RunFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunFiles")
            .field("archive_bytes", &self.archive.len())
            .finish_non_exhaustive()
    }
}

/// A file of which nothing is known has a first part.
const FIRST: &[Option<Vec<u8>>] = &[None];

/// An agent asks for a part of the file with this hash, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartRequest {
    pub(crate) file: Digest,
    pub(crate) number: u32,
}

/// The answer to a [`PartRequest`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) file: Digest,
    pub(crate) number: u32,
    /// Bytes of the whole file; `None` where the run has no such file.
    pub(crate) len: Option<u64>,
    pub(crate) bytes: Vec<u8>,
}

impl RunFiles {
    /// The hash of the archive.
    #[must_use]
    pub fn archive_digest(&self) -> Digest {
        digest(&self.archive)
    }

    /// The hash of what `setup()` returned.
    #[must_use]
    pub fn setup_digest(&self) -> Option<Digest> {
        self.setup.as_deref().map(digest)
    }

    /// Refuses what is too large to be sent.
    ///
    /// # Errors
    /// A file is larger than [`FILE_MAX`].
    pub(crate) fn check(&self) -> Result<(), ControlError> {
        let sizes = [self.archive.len(), self.setup.as_ref().map_or(0, Vec::len)];
        match sizes.into_iter().find(|bytes| *bytes > FILE_MAX) {
            None => Ok(()),
            Some(bytes) => Err(ControlError::TooLarge(bytes)),
        }
    }

    /// Writes them into the folder of a run.
    pub(crate) fn save(&self, folder: &Path) -> io::Result<()> {
        private_file::write(&folder.join(ARCHIVE), &self.archive)?;
        self.setup.as_ref().map_or(Ok(()), |setup| private_file::write(&folder.join(SETUP), setup))
    }

    /// Those of a run of the fleet with this folder.
    ///
    /// # Errors
    /// There is no such run, or its files cannot be read.
    pub fn of_run(dir: &Path, run: &Name) -> io::Result<Self> {
        Self::load(&run_folder(dir, run))
    }

    fn load(folder: &Path) -> io::Result<Self> {
        let most = FILE_MAX as u64;
        let archive = private_file::read(&folder.join(ARCHIVE), most)?;
        let setup = match private_file::read(&folder.join(SETUP), most) {
            Ok(setup) => Some(setup),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(Self { archive, setup })
    }
}

/// Files by their hashes, cut into parts.
#[derive(Debug)]
pub(crate) struct ServedFiles(Vec<(Digest, Vec<u8>)>);

impl ServedFiles {
    pub(crate) fn new(files: RunFiles) -> Self {
        let files = std::iter::once(files.archive).chain(files.setup);
        Self(files.map(|bytes| (digest(&bytes), bytes)).collect())
    }

    /// The part that was asked for.
    pub(crate) fn part(&self, request: &PartRequest) -> Part {
        let PartRequest { file, number } = *request;
        let found = self.0.iter().find(|(known, _)| *known == file).map(|(_, bytes)| bytes);
        let bytes = found.and_then(|bytes| {
            let from = (number as usize).checked_mul(PART_BYTES)?;
            Some(bytes.get(from..)?.chunks(PART_BYTES).next().unwrap_or_default().to_vec())
        });
        let len = found.map(|bytes| bytes.len() as u64);
        Part { file, number, len, bytes: bytes.unwrap_or_default() }
    }
}

/// A file of which some parts have come.
#[derive(Debug)]
pub(crate) struct PartialFile {
    digest: Digest,
    /// Its parts, once one of them has said how long the whole is.
    parts: Option<Vec<Option<Vec<u8>>>>,
    missing: usize,
}

/// Why a file is not to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileFault {
    Unknown,
    TooLarge,
    Damaged,
}

impl PartialFile {
    pub(crate) fn new(digest: Digest) -> Self {
        Self { digest, parts: None, missing: 1 }
    }

    /// The parts that have not come, by number; the first alone before the length is known.
    pub(crate) fn missing(&self) -> impl Iterator<Item = u32> {
        let known = self.parts.as_deref().unwrap_or(FIRST);
        known.iter().zip(0..).filter(|(part, _)| part.is_none()).map(|(_, number)| number)
    }

    /// Takes a part; one of another file is none of it. Returns whether it was new.
    ///
    /// # Errors
    /// There is no such file, or it is not as it says.
    pub(crate) fn take(&mut self, part: Part) -> Result<bool, FileFault> {
        if part.file != self.digest {
            return Ok(false);
        }
        let len = part.len.ok_or(FileFault::Unknown)?;
        let len = usize::try_from(len).ok().filter(|len| *len <= FILE_MAX);
        let len = len.ok_or(FileFault::TooLarge)?;
        let count = len.div_ceil(PART_BYTES).max(1);
        if self.parts.is_none() {
            self.missing = count;
        }
        let parts = self.parts.get_or_insert_with(|| vec![None; count]);
        let number = part.number as usize;
        let expected = len.saturating_sub(number.saturating_mul(PART_BYTES)).min(PART_BYTES);
        let place = parts.get_mut(number).ok_or(FileFault::Damaged)?;
        if part.bytes.len() != expected {
            return Err(FileFault::Damaged);
        }
        if place.is_some() {
            return Ok(false);
        }
        *place = Some(part.bytes);
        self.missing -= 1;
        Ok(true)
    }

    /// The whole file, once no part is missing.
    ///
    /// # Errors
    /// Its hash is another.
    pub(crate) fn whole(&mut self) -> Option<Result<Vec<u8>, FileFault>> {
        if self.missing > 0 {
            return None;
        }
        let parts = self.parts.take().unwrap_or_default();
        let bytes: Vec<u8> = parts.into_iter().flatten().flatten().collect();
        Some(if digest(&bytes) == self.digest { Ok(bytes) } else { Err(FileFault::Damaged) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn served(archive: Vec<u8>) -> (ServedFiles, Digest) {
        let files = RunFiles { archive, setup: Some(b"data".to_vec()) };
        let digest = files.archive_digest();
        (ServedFiles::new(files), digest)
    }

    #[test]
    fn a_file_comes_whole_in_any_order_and_doubled() {
        for len in [0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 5 * PART_BYTES + 7] {
            let bytes: Vec<u8> = (0..len).map(|at| (at / 3) as u8).collect();
            let (served, file) = served(bytes.clone());
            let mut partial = PartialFile::new(file);
            assert_eq!(partial.missing().collect::<Vec<_>>(), [0]);
            let part = |number| served.part(&PartRequest { file, number });
            assert_eq!(partial.take(part(0)), Ok(true));
            let missing: Vec<u32> = partial.missing().collect();
            for number in missing.into_iter().rev() {
                assert!(partial.whole().is_none(), "{len}");
                assert_eq!(partial.take(part(number)), Ok(true));
                assert_eq!(partial.take(part(number)), Ok(false));
            }
            assert!(partial.whole().unwrap().unwrap() == bytes, "{len}");
        }
    }

    #[test]
    fn what_is_not_as_it_says_is_refused() {
        let (served, file) = served(vec![1; PART_BYTES + 1]);
        let part = |number| served.part(&PartRequest { file, number });
        let check = |part: Part, expect| assert_eq!(PartialFile::new(file).take(part), expect);
        check(Part { file: Digest([1; 32]), ..part(0) }, Ok(false));
        check(served.part(&PartRequest { file, number: 2 }), Err(FileFault::Damaged));
        check(Part { bytes: vec![1], ..part(0) }, Err(FileFault::Damaged));
        check(Part { len: Some(u64::MAX), ..part(0) }, Err(FileFault::TooLarge));
        let unknown = served.part(&PartRequest { file: Digest([7; 32]), number: 0 });
        assert_eq!(PartialFile::new(Digest([7; 32])).take(unknown), Err(FileFault::Unknown));
        let mut partial = PartialFile::new(file);
        partial.take(part(0)).unwrap();
        partial.take(Part { bytes: vec![2], ..part(1) }).unwrap();
        assert_eq!(partial.whole(), Some(Err(FileFault::Damaged)));
    }

    #[test]
    fn files_lie_beside_the_journal() {
        let dir = Scratch::new("run-files");
        for setup in [None, Some(b"data".to_vec())] {
            let files = RunFiles { archive: b"a".to_vec(), setup };
            files.save(dir.path()).unwrap();
            assert!(RunFiles::load(dir.path()).unwrap() == files);
        }
    }
}
