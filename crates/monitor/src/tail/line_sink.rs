//! `LineSink`: where the lines of a followed file go, and what was amiss with it.

/// What takes what a file says.
pub(crate) trait LineSink {
    /// A whole line, without its end.
    fn line(&mut self, line: &[u8]);
    /// Something was amiss.
    fn incident(&mut self, what: String);
}
