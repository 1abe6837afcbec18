//! Files and standard input that are read as a whole, by their names on the command line.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use anyhow::anyhow;

use crate::error::ExitError;
use crate::exit_code::ExitCode;
use crate::stderr::eprint_line;
use crate::system_text::reason;

/// Whether a name on the command line means standard input.
#[must_use]
pub fn is_stdin(name: &str) -> bool {
    name == "stdin" || name == "-"
}

/// Says what is read where standard input is a terminal, on which the user would have to type it.
pub fn announce_stdin(what: &str) {
    if io::stdin().is_terminal() {
        eprint_line(&format!("brunt: reading {what} from standard input; end with Ctrl-D"));
    }
}

/// Reads a whole file, or standard input, of at most 1 GiB.
///
/// # Errors
/// It cannot be opened or read, or is larger; the error names it.
pub fn read_whole(name: &str) -> Result<Vec<u8>, ExitError> {
    read_input(name, |input| input)
}

/// An open input.
type Input = Box<dyn Read + Send>;

/// Reads a whole input, as `through` makes its bytes.
fn read_input(name: &str, through: impl FnOnce(Input) -> Input) -> Result<Vec<u8>, ExitError> {
    let failed = |text: String| ExitError { code: ExitCode::Input, error: anyhow!(text) };
    let mut bytes = Vec::new();
    let input: Input = if is_stdin(name) {
        Box::new(io::stdin())
    } else {
        let file = File::open(name).map_err(|error| {
            failed(format!("error opening {name}: open {name}: {}", reason(&error)))
        })?;
        Box::new(file)
    };
    match through(input).take(WHOLE_MAX + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > WHOLE_MAX => {
            Err(failed(format!("{name} is larger than 1 GiB (read targets with -lazy)")))
        }
        Ok(_) => Ok(bytes),
        Err(error) => Err(failed(format!("reading {name}: {}", reason(&error)))),
    }
}

/// Reads a whole text, as [`read_whole`] does, of gzip or Zstandard decompressed, without a byte order mark; of UTF-16 with one it
/// is converted.
///
/// # Errors
/// As [`read_whole`].
pub fn read_text(name: &str) -> Result<Vec<u8>, ExitError> {
    read_input(name, |input| Box::new(stdx::decompressed(input))).map(stdx::plain_text)
}

/// Reads a regular file that another file, or a script, names, of at most 1 GiB. A device has no end, and a pipe
/// may never have one.
///
/// # Errors
/// The file is not regular, is larger, or cannot be read; the reason does not name it.
pub fn read_regular(path: impl AsRef<Path>) -> Result<Vec<u8>, String> {
    let path = path.as_ref();
    let text = |error: io::Error| reason(&error);
    // Checked before the file is opened, since opening a pipe may block for ever.
    if !std::fs::metadata(path).map_err(text)?.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(text)?;
    file.take(WHOLE_MAX + 1).read_to_end(&mut bytes).map_err(text)?;
    match bytes.len() as u64 > WHOLE_MAX {
        true => Err("it is larger than 1 GiB".to_owned()),
        false => Ok(bytes),
    }
}

/// The largest file that is read into memory: 1 GiB.
const WHOLE_MAX: u64 = 1 << 30;

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use stdx::{Compression, Compressor};

    use super::*;

    #[test]
    fn regression_issue_41_a_text_may_be_compressed() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("packed-text");
        let path = path.display().to_string();
        for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
            let mut file = Compressor::new(compression, File::create(&path).unwrap());
            file.write_all(b"\xef\xbb\xbfGET http://a/\n").unwrap();
            file.finish().unwrap();
            assert_eq!(read_text(&path).unwrap(), b"GET http://a/\n", "{compression:?}");
        }
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 3]).unwrap();
        let failed = read_text(&path).unwrap_err();
        assert_eq!(failed.to_string(), format!("reading {path}: unexpected end of file"));
        assert_eq!(read_whole(&path).unwrap(), whole[..whole.len() - 3], "a body is sent as it is");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_missing_file_is_an_input_error() {
        assert_eq!(read_whole("/nowhere/at/all").unwrap_err().code, ExitCode::Input);
    }
}
