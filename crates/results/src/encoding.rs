//! `Encoding`: the forms a result stream can have. It knows their names and nothing of their bytes.

/// A form of the result stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Encoding {
    /// Arrow IPC stream: the native form, everything is kept.
    Arrow,
    /// Parquet: everything is kept; readable only once it was finished.
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

    /// Whether every field of a row is kept, and the generator's records with them.
    #[must_use]
    pub const fn is_native(self) -> bool {
        matches!(self, Self::Arrow | Self::Parquet)
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
    }
}
