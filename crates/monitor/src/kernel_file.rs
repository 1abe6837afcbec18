//! `KernelFile`: a small file of the kernel's that is read again and again. It stays open, and its text's memory is used anew.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Bytes that are read of one file: `/proc/stat` of the largest machines has a few hundred thousand.
const TEXT_MAX: usize = 4 << 20;
/// Bytes of the first read.
const TEXT_FIRST: usize = 4 << 10;

/// A file that is read again and again.
#[derive(Debug)]
pub(crate) struct KernelFile {
    path: PathBuf,
    file: Option<File>,
    text: Vec<u8>,
}

impl KernelFile {
    /// Nothing is opened yet.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, file: None, text: Vec::new() }
    }

    /// Its present text; `None` where it cannot be read.
    pub(crate) fn read(&mut self) -> Option<Cow<'_, str>> {
        self.try_read().ok()
    }

    /// Its present text. A file that failed is opened again at the next call.
    pub(crate) fn try_read(&mut self) -> io::Result<Cow<'_, str>> {
        let file = match self.file.take() {
            Some(file) => file,
            None => File::open(&self.path)?,
        };
        let len = read_whole(&file, &mut self.text)?;
        self.file = Some(file);
        Ok(String::from_utf8_lossy(&self.text[..len]))
    }
}

/// Reads from the beginning to the end, or to the limit.
fn read_whole(file: &File, text: &mut Vec<u8>) -> io::Result<usize> {
    let mut len = 0;
    if text.is_empty() {
        text.resize(TEXT_FIRST, 0);
    }
    while len < TEXT_MAX {
        if len == text.len() {
            text.resize(2 * len, 0);
        }
        match file.read_at(&mut text[len..], len as u64) {
            Ok(0) => break,
            Ok(n) => len += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}

/// Whether an error means that there is nothing: a process that has ended, a file that is not there.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

/// `None` where nothing is there or it is not visible to us. Any other failure is an error: it does not mean that the process
/// has ended.
pub(crate) fn if_visible<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_gone(&error) || error.kind() == ErrorKind::PermissionDenied => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A scratch folder with files in it, gone with the value.
    pub(crate) struct Scratch(pub(crate) PathBuf);

    impl Scratch {
        pub(crate) fn new(name: &str) -> Self {
            let prefix = format!("brunt-monitor-{name}-");
            Self(tempfile::Builder::new().prefix(&prefix).tempdir().unwrap().keep())
        }

        pub(crate) fn write(&self, path: &str, text: &str) {
            let path = self.0.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).ok();
        }
    }

    #[test]
    fn reads_what_stands_there_now() {
        let scratch = Scratch::new("kept");
        let mut file = KernelFile::new(scratch.0.join("f"));
        assert!(file.read().is_none());
        let long = "x".repeat(3 * TEXT_FIRST);
        for text in ["one\n", &long, "", "two"] {
            scratch.write("f", text);
            assert_eq!(file.read().as_deref(), Some(text));
        }
        scratch.write("f", &"y".repeat(TEXT_MAX + 10));
        assert_eq!(file.read().unwrap().len(), TEXT_MAX);
    }

    #[test]
    fn only_an_absence_is_one() {
        let failed = |code| if_visible::<()>(Err(io::Error::from_raw_os_error(code)));
        for code in [libc::ENOENT, libc::ESRCH, libc::EACCES, libc::EPERM] {
            assert!(failed(code).unwrap().is_none(), "{code}");
        }
        for code in [libc::EMFILE, libc::ENFILE, libc::EIO] {
            assert!(failed(code).is_err(), "{code}");
        }
        assert_eq!(if_visible(Ok(7)).unwrap(), Some(7));
    }
}
