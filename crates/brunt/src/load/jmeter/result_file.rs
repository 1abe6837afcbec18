//! `ResultFiles`: files of results, each written by all listeners that name it.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jmeter::{SampleResult, SaveOptions, xml};
use jmx::Writing;

use super::{disk, moments};

/// What a listener, or `-l`, writes to a file.
pub(super) struct Listing {
    file: usize,
    options: SaveOptions,
    /// Only samples that failed, or that did not.
    pub(super) only: Option<bool>,
}

/// The files of a run. A name that is given twice is one file: each sample stands in it once, as JMeter has it.
#[derive(Default)]
pub(super) struct ResultFiles {
    files: Vec<ResultFile>,
}

struct ResultFile {
    name: String,
    path: PathBuf,
    file: BufWriter<File>,
    is_xml: bool,
    /// Where several listeners write to it, the last sample of each thread: when it began, how long it took, its label.
    last: Option<HashMap<String, (i64, u64, String)>>,
}

impl ResultFiles {
    /// Opens the file of `-l`: what is there stays, unless it is to be written anew.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn open(
        &mut self,
        name: &str,
        how: Writing,
        options: SaveOptions,
    ) -> anyhow::Result<Listing> {
        let path = Path::new(name);
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).with_context(|| format!("making the folder of {name}"))?;
        }
        let file = disk::open(path, how).with_context(|| format!("opening results {name}"))?;
        self.add(name, file, options)
    }

    /// A file that is open; where it is known already, its listeners share it.
    ///
    /// # Errors
    /// Its head cannot be written.
    pub(super) fn add(
        &mut self,
        name: &str,
        file: File,
        options: SaveOptions,
    ) -> anyhow::Result<Listing> {
        let path = fs::canonicalize(name).unwrap_or_else(|_| PathBuf::from(name));
        let known = self.files.iter_mut().position(|file| file.path == path);
        let at = match known {
            Some(at) => {
                self.files[at].last.get_or_insert_default();
                at
            }
            None => {
                let new = ResultFile::begin(name, path, file, &options);
                self.files.push(new.with_context(|| format!("writing results {name}"))?);
                self.files.len() - 1
            }
        };
        Ok(Listing { file: at, options, only: None })
    }

    /// Writes a sample as a listener has it.
    pub(super) fn write(&mut self, listing: &Listing, sample: &SampleResult) -> io::Result<()> {
        if listing.only.is_some_and(|wanted| wanted != sample.is_success) {
            return Ok(());
        }
        self.files[listing.file].write(&listing.options, sample)
    }

    /// Writes what is still in memory; the first fault.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let each = self.files.iter_mut().map(|file| file.file.flush());
        each.fold(Ok(()), Result::and)
    }

    /// Ends all files, whatever becomes of one of them.
    ///
    /// # Errors
    /// The first fault, with the name of its file.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        let each = self.files.into_iter().map(|file| {
            let name = file.name.clone();
            file.finish().with_context(|| format!("writing results {name}"))
        });
        each.fold(Ok(()), anyhow::Result::and)
    }
}

impl ResultFile {
    /// Begins a file with its head, unless it has one.
    fn begin(name: &str, path: PathBuf, file: File, options: &SaveOptions) -> io::Result<Self> {
        let length = file.metadata().map_or(0, |meta| meta.len());
        if options.is_xml && length > 0 {
            reopen(&path, &file, length)?;
        }
        let (name, is_xml) = (name.to_owned(), options.is_xml);
        let mut new = Self { name, path, file: BufWriter::new(file), is_xml, last: None };
        if length == 0 {
            let head = match (is_xml, options.csv.has_header) {
                (true, _) => xml::HEAD.to_owned(),
                (false, true) => options.csv.header(),
                (false, false) => String::new(),
            };
            new.file.write_all(head.as_bytes())?;
        }
        Ok(new)
    }

    fn write(&mut self, options: &SaveOptions, sample: &SampleResult) -> io::Result<()> {
        if let Some(last) = &mut self.last {
            let mark = (sample.start_ms, sample.elapsed_ms, sample.label.clone());
            let before = last.insert(sample.thread.clone(), mark.clone());
            if before == Some(mark) {
                return Ok(());
            }
        }
        let hidden = sample.redacted();
        let sample = hidden.as_ref().unwrap_or(sample);
        if options.is_xml {
            return self.file.write_all(xml::sample(sample, options).as_bytes());
        }
        self.write_rows(options, sample)
    }

    /// A row of a sample, and behind it those of the samples below.
    fn write_rows(&mut self, options: &SaveOptions, sample: &SampleResult) -> io::Result<()> {
        let row = options.csv.row(sample, &moments::by_pattern);
        self.file.write_all(row.as_bytes())?;
        if options.has("subresults") {
            for child in &sample.children {
                self.write_rows(options, child)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        if self.is_xml {
            self.file.write_all(xml::TAIL.as_bytes())?;
        }
        self.file.flush()
    }
}

/// Cuts the tail off a file of XML, so that samples can be added to it.
fn reopen(path: &Path, file: &File, length: u64) -> io::Result<()> {
    let mut end = Vec::new();
    let mut reader = File::open(path)?;
    reader.seek(SeekFrom::Start(length.saturating_sub(TAIL_ROOM)))?;
    reader.take(TAIL_ROOM).read_to_end(&mut end)?;
    let text = String::from_utf8_lossy(&end);
    let rest = text.trim_end().strip_suffix(xml::TAIL.trim_end());
    rest.map_or(Ok(()), |rest| {
        let tail = text.len() - rest.len();
        file.set_len(length - tail as u64)
    })
}

/// Bytes at the end of a file in which its tail stands.
const TAIL_ROOM: u64 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn options(format: &str) -> SaveOptions {
        SaveOptions::of(&|name: &str| match name {
            "jmeter.save.saveservice.output_format" => Some(format.to_owned()),
            _ => None,
        })
    }

    fn sample(start_ms: i64) -> SampleResult {
        SampleResult { label: "/a".to_owned(), start_ms, ..SampleResult::default() }
    }

    #[test]
    fn issue_44_listeners_of_one_file_write_each_sample_once() {
        let path = std::env::temp_dir().join(format!("brunt-shared-{}.jtl", std::process::id()));
        let name = path.display().to_string();
        let mut files = ResultFiles::default();
        let open =
            |files: &mut ResultFiles| files.open(&name, Writing::Append, options("csv")).unwrap();
        let (one, two) = (open(&mut files), open(&mut files));
        for start in 0..3 {
            files.write(&one, &sample(start)).unwrap();
            files.write(&two, &sample(start)).unwrap();
        }
        files.finish().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(text.lines().count(), 4, "{text}");
        assert_eq!(text.matches("timeStamp").count(), 1, "{text}");
    }

    #[test]
    fn issue_44_xml_that_is_added_to_has_one_tail() {
        let path = std::env::temp_dir().join(format!("brunt-xml-{}.jtl", std::process::id()));
        for start in 0..2 {
            let mut files = ResultFiles::default();
            let name = path.display().to_string();
            let listing = files.open(&name, Writing::Append, options("xml")).unwrap();
            files.write(&listing, &sample(start)).unwrap();
            files.finish().unwrap();
        }
        let text = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(text.matches("<httpSample").count(), 2, "{text}");
        assert_eq!(text.matches("</testResults>").count(), 1, "{text}");
        assert!(text.ends_with("</testResults>\n"), "{text}");
    }
}
