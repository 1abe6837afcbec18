//! Texts of requests: literal, or with values that only the script knows.

/// Text made of literal pieces and of values that are known when the script runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct Text {
    /// The pieces, in their order; two literals never lie side by side.
    pub pieces: Vec<Piece>,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Piece {
    /// The same in every run.
    Literal(String),
    /// Known when the script runs.
    Value(Value),
}

/// A value that is known when the script runs, and how it is written at its place.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Value {
    /// Where it comes from.
    pub source: Source,
    /// What is done to it, in this order.
    pub encodings: Vec<Encoding>,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Source {
    /// A variable of the environment, `-e NAME=VALUE`, and what it is without.
    Env {
        /// Its name, as the input has it.
        name: String,
        /// Its value if it is not set.
        default: Option<String>,
    },
    /// A variable of the session, set by an [`crate::Extraction`] or a [`crate::Step::Assign`].
    Variable(String),
    /// A new UUID, version 4.
    Uuid,
    /// The time now, in milliseconds since 1970.
    UnixMilliseconds,
    /// The time now, in seconds since 1970.
    UnixSeconds,
    /// The time now, as ISO 8601 has it, in UTC.
    IsoTime,
    /// A whole number from `min` up to and without `max`.
    RandomInteger {
        /// The least.
        min: i64,
        /// What it stays below.
        max: i64,
    },
    /// A cookie that the user's jar has for `url` at that moment.
    Cookie {
        /// The address that the cookie is sent to.
        url: String,
        /// The cookie's name.
        name: String,
    },
    /// A digest, made when the script runs.
    Digest(Box<Digest>),
    /// The text of a file, which the script opens.
    File {
        /// Its path, as the input has it.
        path: String,
    },
}

/// A digest of a text, or its HMAC.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Digest {
    /// Which one.
    pub algorithm: DigestAlgorithm,
    /// The key of an HMAC.
    pub key: Option<Text>,
    /// Of what.
    pub message: Text,
    /// How it is written.
    pub form: DigestForm,
}

/// The algorithm of a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DigestAlgorithm {
    /// MD5.
    Md5,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
}

/// How a digest is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DigestForm {
    /// In hexadecimal.
    Hex,
    /// In base64, with padding.
    Base64,
}

/// How a value is written at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Percent-encoded, a space as `%20`.
    Url,
    /// Percent-encoded, a space as `+`.
    UrlForm,
    /// Percent-encoding is taken off, as scripts of pages do with cookies.
    UrlDecoded,
    /// Base64 with padding.
    Base64,
    /// As the inside of a JSON string.
    Json,
    /// Without CR, LF and NUL, as `curl -d @file` sends it.
    WithoutLineEnds,
    /// Without the line ends at its end, as a shell's `$(…)` gives it.
    WithoutTrailingLineEnds,
    /// Without blanks at both ends.
    Trimmed,
    /// Line ends as CR LF.
    CrLf,
    /// The digest SHA-256, in hexadecimal.
    Sha256Hex,
    /// The characters from `from` up to and without `to`.
    Slice {
        /// The first.
        from: usize,
        /// What it ends before.
        to: usize,
    },
}

impl Text {
    /// The literal text.
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        let mut made = Self::default();
        made.push_str(&text.into());
        made
    }

    /// A value alone, as it is.
    #[must_use]
    pub fn value(source: Source) -> Self {
        Self { pieces: vec![Piece::Value(Value { source, encodings: vec![] })] }
    }

    /// Appends literal text.
    pub fn push_str(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.pieces.last_mut() {
            Some(Piece::Literal(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Literal(text.to_owned())),
        }
    }

    /// Appends a value as `encodings` write it.
    pub fn push_value(&mut self, source: Source, encodings: Vec<Encoding>) {
        self.pieces.push(Piece::Value(Value { source, encodings }));
    }

    /// Appends another text.
    pub fn push(&mut self, text: &Self) {
        for piece in &text.pieces {
            match piece {
                Piece::Literal(literal) => self.push_str(literal),
                Piece::Value(value) => self.pieces.push(Piece::Value(value.clone())),
            }
        }
    }

    /// The text, if all of it is literal.
    #[must_use]
    pub fn as_literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Literal(literal)] => Some(literal),
            _ => None,
        }
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// What it begins with, literally.
    #[must_use]
    pub fn literal_start(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Literal(literal)) => literal,
            _ => "",
        }
    }

    /// Its literal pieces with `value` in the place of each value.
    #[must_use]
    pub fn with_values_as(&self, value: &str) -> String {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Literal(literal) => literal.as_str(),
                Piece::Value(_) => value,
            })
            .collect()
    }

    /// The text with `change` made to its literal pieces, and `encoding` added to its values.
    #[must_use]
    pub fn encoded(&self, change: impl Fn(&str) -> String, encoding: Encoding) -> Self {
        let mut made = Self::default();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) => made.push_str(&change(literal)),
                Piece::Value(value) => {
                    let mut value = value.clone();
                    value.encodings.push(encoding);
                    made.pieces.push(Piece::Value(value));
                }
            }
        }
        made
    }

    /// The values in it.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value(value) => Some(value),
            Piece::Literal(_) => None,
        })
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::literal(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::literal(text)
    }
}
