//! A tar archive, as it is and with the checksums of its headers mended: an import adds one run of plain files, or nothing at all.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use store::Store;

/// A block of tar; a header is one.
const BLOCK: usize = 512;
/// Where a header has its checksum (POSIX.1-1988, 10.1.1), and the size of its file.
const CHECKSUM: std::ops::Range<usize> = 148..156;
const SIZE: std::ops::Range<usize> = 124..136;
/// Files of a run, at most.
const FILES_MAX: usize = 100;

/// A folder that goes with its owner.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBERED: AtomicU64 = AtomicU64::new(0);
        let number = NUMBERED.fetch_add(1, Ordering::Relaxed);
        let name = format!("brunt-fuzz-archive-{}-{number}", std::process::id());
        let folder = Self(std::env::temp_dir().join(name));
        fs::create_dir_all(&folder.0).expect("a folder");
        folder
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that is left costs no more than its bytes.
        fs::remove_dir_all(&self.0).ok();
    }
}

/// The files of the run that was imported; `None` where the archive, mended, was refused.
///
/// # Panics
/// Something lies where it does not belong, or has more bytes than the archive.
pub(crate) fn check(bytes: &[u8]) -> Option<Vec<String>> {
    import(bytes);
    import(&mended(bytes))
}

fn import(bytes: &[u8]) -> Option<Vec<String>> {
    let folder = Folder::new();
    let (archive, runs) = (folder.0.join("a.tar.gz"), folder.0.join("runs"));
    let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
    gzip.write_all(bytes).expect("memory takes all");
    fs::write(&archive, gzip.finish().expect("memory takes all")).expect("a file");
    let store = Store::at(runs.clone());
    let imported = store.import(&archive);
    let mut beside = names(&folder.0);
    beside.retain(|name| name != "runs");
    assert_eq!(beside, ["a.tar.gz"], "a file outside of the store");
    let Ok(run) = imported else {
        let left = names(&runs);
        assert!(left.iter().all(|name| name.starts_with('.')), "a refused archive left {left:?}");
        return None;
    };
    assert_eq!(run.folder.parent(), Some(runs.as_path()));
    let files = names(&run.folder);
    assert!(files.len() <= FILES_MAX + 2, "{} files", files.len());
    let mut sum = 0;
    for file in &files {
        let data = fs::symlink_metadata(run.folder.join(file)).expect("a file");
        assert!(data.is_file(), "{file} is no plain file");
        sum += if file == store::MANIFEST { 0 } else { data.len() };
    }
    assert!(sum <= bytes.len() as u64, "{sum} bytes of {}", bytes.len());
    assert_eq!(store.list().expect("a folder").runs.len(), 1);
    Some(files)
}

/// The names in a folder, in order; none where there is no folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The archive with the checksum that each header should have: of no other archive is anything read.
fn mended(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut at = 0;
    while let Some(header) = bytes.get_mut(at..at + BLOCK) {
        if header.iter().all(|byte| *byte == 0) {
            at += BLOCK;
            continue;
        }
        header[CHECKSUM].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let digits = header[SIZE].iter().filter(|byte| (b'0'..b'8').contains(*byte));
        let size = digits.fold(0usize, |size, digit| size * 8 + usize::from(digit - b'0'));
        at += BLOCK + size.min(bytes.len()).next_multiple_of(BLOCK);
    }
    bytes
}
