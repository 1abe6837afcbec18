//! `Grammar`: the two ways to read a targets file, brunt's and Vegeta's, and the bound that both have.

/// How a grammar's rough edges are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grammar {
    /// Nothing is lost or misread: a request line ends the header block before it, a last line needs no newline, lines may be
    /// long, URLs must be `http` or `https`. `#brunt weight=3 name=home` before a request line, `weight` and `name` in JSON.
    #[default]
    Native,
    /// To the letter, surprises included.
    Vegeta,
}

/// The longest line: 64 MiB, a body in base64 included.
pub const LINE_MAX: usize = 64 << 20;
