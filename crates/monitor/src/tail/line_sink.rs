//! `LineSink` receives the lines of a followed file, and the incidents of following it.

/// What takes what a file says.
pub(crate) trait LineSink {
    /// A whole line, without its end.
    fn line(&mut self, line: &[u8]);
    /// Something went wrong with the file.
    fn incident(&mut self, what: String);
}
