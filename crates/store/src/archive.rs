//! Runs as one file, to carry them from machine to machine: `.tar.gz` with the files of a run's folder.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use tar::{Archive, Builder, EntryType, Header};

use crate::error::StoreError;
use crate::format::{LOCK, MANIFEST};
use crate::manifest::{Manifest, State};
use crate::own_file::{self, MANIFEST_BYTES_MAX};
use crate::store::{Run, Store};

/// Files of a run, at most: its results and a handful of reports.
const FILES_MAX: usize = 100;
/// A file may become so many times as long when it is unpacked, and [`BYTES_LEAST`] in any case.
const RATIO_MAX: u64 = 200;
const BYTES_LEAST: u64 = 1 << 30;

impl Run {
    /// Writes the run's files, the manifest first.
    ///
    /// # Errors
    /// It is under way, a file cannot be read or written, or its folder holds something else than regular files: an export
    /// without it would not be the run.
    pub fn export(&self, name: &Path, out: impl Write) -> Result<(), StoreError> {
        if self.is_under_way {
            return Err(StoreError::UnderWay { id: self.manifest.id.clone() });
        }
        let mut tar = Builder::new(GzEncoder::new(out, Compression::default()));
        for file in self.files()? {
            let path = self.folder.join(&file);
            let mut content = own_file::open(&path)?;
            let size = content.metadata().map_err(StoreError::io(&path))?.len();
            let mut header = Header::new_gnu();
            header.set_size(size);
            header.set_mode(0o644);
            header.set_entry_type(EntryType::Regular);
            let inside = format!("{}/{file}", self.manifest.id);
            tar.append_data(&mut header, inside, &mut content).map_err(StoreError::io(name))?;
        }
        let gzip = tar.into_inner().map_err(StoreError::io(name))?;
        gzip.finish().and_then(|mut out| out.flush()).map_err(StoreError::io(name))
    }

    /// The names of its files, the manifest first.
    fn files(&self) -> Result<Vec<String>, StoreError> {
        let mut files = vec![MANIFEST.to_owned()];
        let entries = fs::read_dir(&self.folder).map_err(StoreError::io(&self.folder))?;
        for entry in entries {
            let entry = entry.map_err(StoreError::io(&self.folder))?;
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let name = name.into_string().map_err(|_| StoreError::Foreign {
                path: entry.path(),
                found: "a file whose name is not UTF-8",
            })?;
            if name != MANIFEST && name != LOCK {
                own_file::check(&entry.path())?;
                files.push(name);
            }
        }
        files[1..].sort();
        Ok(files)
    }
}

impl Store {
    /// Adds the run that a file holds. It gets the id it had, unless another run has it.
    ///
    /// # Errors
    /// The file is no export, or the store cannot be written.
    pub fn import(&self, path: &Path) -> Result<Run, StoreError> {
        let failed = |reason: String| StoreError::Archive { path: path.to_owned(), reason };
        let file = File::open(path).map_err(StoreError::io(path))?;
        let packed = file.metadata().map_err(StoreError::io(path))?.len();
        let bytes_max = packed.saturating_mul(RATIO_MAX).max(BYTES_LEAST);
        let mut archive = Archive::new(GzDecoder::new(file).take(bytes_max));
        // Raw: an entry that only carries a long name for the next one is no plain file, and is not read into memory.
        let entries = archive.entries().map_err(|error| failed(error.to_string()))?;
        let mut entries = entries.raw(true);
        let mut manifest = {
            let first = entries.next().ok_or_else(|| failed("it is empty".to_owned()))?;
            let first = first.map_err(|error| failed(error.to_string()))?;
            if plain_name(&first).as_deref() != Some(MANIFEST) {
                return Err(failed(format!("it does not begin with {MANIFEST}")));
            }
            let mut text = Vec::new();
            if first.size() > MANIFEST_BYTES_MAX {
                let mib = MANIFEST_BYTES_MAX >> 20;
                return Err(failed(format!("its {MANIFEST} is larger than {mib} MiB")));
            }
            let read = first.take(MANIFEST_BYTES_MAX).read_to_end(&mut text);
            read.map_err(|error| failed(error.to_string()))?;
            Manifest::parse(path, &text)?
        };
        manifest.check_names(path)?;
        if self.read(&manifest.id).is_ok_and(|run| run.manifest.is_same_run(&manifest)) {
            return Err(failed(format!("run {} is in the store already", manifest.id)));
        }
        if manifest.state == State::Running {
            // Nothing is under way here; what was cut off there stays so.
            manifest.ended = None;
        }
        let fill = |folder: &Path| {
            for (count, entry) in entries.enumerate() {
                let mut entry = entry.map_err(|error| failed(error.to_string()))?;
                let name = plain_name(&entry)
                    .ok_or_else(|| failed("it has more than a folder of plain files".to_owned()))?;
                if count >= FILES_MAX {
                    return Err(failed(format!("it has more than {FILES_MAX} files")));
                }
                let place = folder.join(name);
                let mut out = File::create_new(&place).map_err(StoreError::io(&place))?;
                std::io::copy(&mut entry, &mut out).map_err(|error| failed(error.to_string()))?;
            }
            Ok(())
        };
        let (folder, manifest, ()) = self.add(manifest, fill)?;
        Ok(Run { manifest, folder, is_under_way: false })
    }
}

/// The name of a plain file that lies in a folder or nowhere; `None` of anything else, which an export has not.
fn plain_name(entry: &tar::Entry<'_, impl Read>) -> Option<String> {
    if entry.header().entry_type() != EntryType::Regular {
        return None;
    }
    let path = entry.path().ok()?.into_owned();
    let parts: Vec<_> = path.components().collect();
    let all_plain = parts.iter().all(|part| matches!(part, std::path::Component::Normal(_)));
    let name = path.file_name()?.to_str()?;
    let is_plain = all_plain && parts.len() <= 2 && !name.starts_with('.') && name != LOCK;
    is_plain.then(|| name.to_owned())
}
