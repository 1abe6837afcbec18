//! `DataFile`: a file of data, read line by line.

use std::sync::Arc;

use stdx::{MemoryShare, OutOfMemory};

use crate::http::charset::decode;

/// A file of data, read as far as its next line.
#[derive(Debug)]
pub(crate) struct DataFile {
    text: Arc<DataText>,
    at: usize,
    names: Vec<String>,
}

/// The text of a file, as its encoding has it.
#[derive(Debug)]
pub(crate) struct DataText {
    text: String,
    _share: MemoryShare,
}

/// Why a file has no text.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DataFault {
    #[error("must exist and be readable")]
    Unreadable,
    #[error(": {0}")]
    Memory(#[from] OutOfMemory),
}

impl DataText {
    /// Decodes what a file holds.
    ///
    /// # Errors
    /// There is no memory left for it.
    pub(super) fn new(bytes: &[u8], encoding: &str) -> Result<Self, OutOfMemory> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut share = MemoryShare::default();
        share.resize(bytes.len())?;
        let text = decode(bytes, encoding).into_owned();
        share.resize(text.len())?;
        Ok(Self { text, _share: share })
    }
}

/// Fields of a line at most.
const FIELDS_MAX: usize = 10_000;

/// How a data set is read.
pub(crate) struct Options {
    pub(super) path: String,
    pub(super) names: String,
    pub(super) ignores_first: bool,
    pub(super) delimiter: String,
    pub(super) is_quoted: bool,
    pub(super) recycles: bool,
    pub(super) stops: bool,
    pub(super) encoding: String,
    /// What distinguishes it from other readers of the same file.
    pub(super) share: String,
}

impl Options {
    /// What distinguishes readers: the share, and the file.
    pub(super) fn key(&self) -> String {
        format!("{}\n{}", self.share, self.path)
    }
}

impl DataFile {
    /// Reads a file as far as its data begins.
    pub(super) fn new(text: Arc<DataText>, options: &Options) -> Self {
        let mut file = Self { text, at: 0, names: Vec::new() };
        file.begin(options);
        file
    }

    /// At the first line of data.
    fn begin(&mut self, options: &Options) {
        self.at = 0;
        if options.names.trim().is_empty() {
            let names = self.read(options).unwrap_or_default();
            self.names = names.iter().map(|name| name.trim().to_owned()).collect();
        } else if options.ignores_first {
            self.read(options);
        }
    }

    pub(super) fn names_for(&self, options: &Options) -> Vec<String> {
        match options.names.trim() {
            "" => self.names.clone(),
            // Empty names are none, as JMeter splits them: the next one has the column.
            names => {
                let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
                names.map(str::to_owned).collect()
            }
        }
    }

    /// The fields of the next line; `None` at the end, and of a blank line.
    pub(super) fn fields(&mut self, options: &Options) -> Option<Vec<String>> {
        if self.at >= self.text.text.len() && options.recycles {
            self.begin(options);
        }
        self.read(options).filter(|fields| !fields.is_empty())
    }

    /// The fields of the next line as it is; none of a blank one.
    fn read(&mut self, options: &Options) -> Option<Vec<String>> {
        let text = Arc::clone(&self.text);
        let rest = text.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let (fields, taken) = match options.is_quoted {
            true => quoted(rest, &options.delimiter),
            false => plain(rest, &options.delimiter),
        };
        self.at += taken;
        Some(fields)
    }
}

/// The fields of a line, and the bytes of it.
fn plain(rest: &str, delimiter: &str) -> (Vec<String>, usize) {
    let end = rest.find('\n').unwrap_or(rest.len());
    let taken = (end + 1).min(rest.len());
    let line = rest[..end].trim_end_matches('\r');
    if line.is_empty() {
        return (Vec::new(), taken);
    }
    let fields = line.split(delimiter).take(FIELDS_MAX).map(str::to_owned);
    (fields.collect(), taken)
}

/// The same where fields may be in quotes, which may hold delimiters, line ends and doubled quotes.
fn quoted(rest: &str, delimiter: &str) -> (Vec<String>, usize) {
    let (mut fields, mut field, mut at, mut is_open) = (Vec::new(), String::new(), 0, false);
    let mut has_any = false;
    while at < rest.len() {
        let tail = &rest[at..];
        let letter = tail.chars().next().unwrap_or('\n');
        at += letter.len_utf8();
        match letter {
            '"' if is_open && tail[1..].starts_with('"') => {
                field.push('"');
                at += 1;
            }
            '"' => is_open = !is_open,
            _ if is_open => field.push(letter),
            '\n' => break,
            '\r' if tail.starts_with("\r\n") => {}
            _ if tail.starts_with(delimiter) && fields.len() < FIELDS_MAX => {
                at += delimiter.len() - letter.len_utf8();
                fields.push(std::mem::take(&mut field));
                has_any = true;
                continue;
            }
            _ => field.push(letter),
        }
        has_any |= !matches!(letter, '\r' | '\n');
    }
    if has_any {
        fields.push(field);
    }
    (fields, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(names: &str) -> Options {
        Options {
            path: String::new(),
            names: names.to_owned(),
            ignores_first: false,
            delimiter: ",".to_owned(),
            is_quoted: false,
            recycles: true,
            stops: false,
            encoding: String::new(),
            share: String::new(),
        }
    }

    fn file_of(bytes: &[u8], options: &Options) -> DataFile {
        DataFile::new(Arc::new(DataText::new(bytes, "").unwrap()), options)
    }

    #[test]
    fn lines_come_round() {
        let with_header = options("");
        let mut file = file_of(b"\xef\xbb\xbfa,b\r\n1,2\n\n3\n", &with_header);
        assert_eq!(file.names_for(&with_header), ["a", "b"]);
        let mut next = || file.fields(&with_header);
        assert_eq!(next(), Some(vec!["1".to_owned(), "2".to_owned()]));
        assert_eq!(next(), None, "a blank line is taken for the end");
        assert_eq!(next(), Some(vec!["3".to_owned()]));
        assert_eq!(next().map(|fields| fields.len()), Some(2), "from the first line again");
        let once = Options { recycles: false, ignores_first: true, ..options("x") };
        let mut file = file_of(b"head\n1\n", &once);
        assert_eq!(file.fields(&once), Some(vec!["1".to_owned()]));
        assert_eq!((file.fields(&once), file.fields(&once)), (None, None));
        let gaps = options("a,, c,");
        assert_eq!(file_of(b"", &gaps).names_for(&gaps), ["a", "c"]);
        assert_eq!(file_of(b"", &with_header).fields(&with_header), None);
    }

    #[test]
    fn quotes_hold_what_divides() {
        let (fields, taken) = quoted("\"a,\"\"b\"\"\",c\n\"d\ne\",", ",");
        assert_eq!((fields, taken), (vec!["a,\"b\"".to_owned(), "c".to_owned()], 12));
        assert_eq!(quoted("\"d\ne\",", ",").0, ["d\ne", ""]);
        assert_eq!(quoted("\r\nx", ",").0, [""; 0]);
        assert_eq!(quoted("a;;b", ";;").0, ["a", "b"]);
    }
}
