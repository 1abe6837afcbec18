//! `Encoding`: the formats of a result stream, by name; `InputForm`: those, and forms of other programs that are only read. Their
//! bytes are defined elsewhere.

/// A form of the result stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Encoding {
    /// Arrow IPC stream: the native format, with every field.
    Arrow,
    /// Parquet, with every field; readable only once it is finished.
    Parquet,
    /// Vegeta's CSV: twelve columns, no header.
    Csv,
    /// Vegeta's JSON lines.
    Json,
    /// Vegeta's gob stream.
    Gob,
}

impl Encoding {
    /// Every encoding.
    pub const ALL: [Self; 5] = [Self::Arrow, Self::Parquet, Self::Csv, Self::Json, Self::Gob];

    /// The names of all encodings, in the same order.
    pub const NAMES: &[&str] = &["arrow", "parquet", "csv", "json", "gob"];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrow => "arrow",
            Self::Parquet => "parquet",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Gob => "gob",
        }
    }

    /// The encoding of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|encoding| encoding.name() == name)
    }

    /// The encoding that the ending of a file's name stands for, in any letter case; `None` for any other ending.
    #[must_use]
    pub fn of_ending(ending: &str) -> Option<Self> {
        match ending.to_ascii_lowercase().as_str() {
            "arrow" | "arrows" | "bin" => Some(Self::Arrow),
            "parquet" => Some(Self::Parquet),
            "csv" => Some(Self::Csv),
            "json" | "jsonl" | "ndjson" => Some(Self::Json),
            "gob" => Some(Self::Gob),
            _ => None,
        }
    }

    /// Whether it has every field of a row, and the generator's records.
    #[must_use]
    pub const fn is_native(self) -> bool {
        matches!(self, Self::Arrow | Self::Parquet)
    }
}

/// The form of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputForm {
    /// A form of the result stream.
    Stream(Encoding),
    /// JMeter's results as CSV.
    Jtl,
    /// JMeter's results as XML.
    JtlXml,
}

impl InputForm {
    /// Its name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stream(encoding) => encoding.name(),
            Self::Jtl => "jtl",
            Self::JtlXml => "jtl (XML)",
        }
    }
}

impl From<Encoding> for InputForm {
    fn from(encoding: Encoding) -> Self {
        Self::Stream(encoding)
    }
}

impl PartialEq<Encoding> for InputForm {
    fn eq(&self, other: &Encoding) -> bool {
        *self == Self::Stream(*other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for encoding in Encoding::ALL {
            assert_eq!(Encoding::parse(encoding.name()), Some(encoding));
        }
        assert_eq!(Encoding::parse("xml"), None);
        assert_eq!(Encoding::NAMES, Encoding::ALL.map(Encoding::name));
    }
}
