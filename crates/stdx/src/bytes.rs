//! `Bytes`: a number of bytes, read as Vegeta reads sizes (binary units) and printed for people.

use std::fmt;

use thiserror::Error;

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// Why a text is not a size.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BytesError {
    /// There is no number, or the unit is unknown.
    #[error(
        "invalid size \"{0}\" (expected a number with an optional unit, such as 512, 10KB or 2MB)"
    )]
    Invalid(String),
    /// The value does not fit into 64 bits.
    #[error("size \"{0}\" is too large")]
    TooLarge(String),
}

impl Bytes {
    /// Reads `512`, `1KB`, `2 kb`, `10 MB`, `5 peta`; every unit is a power of 1024.
    ///
    /// # Errors
    /// The text is not a size or does not fit; the message names the text.
    pub fn parse(text: &str) -> Result<Self, BytesError> {
        let invalid = || BytesError::Invalid(text.to_owned());
        let trimmed = text.trim();
        let digits = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(digits);
        if number.is_empty() {
            return Err(invalid());
        }
        let shift = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" | "byte" | "bytes" => 0,
            "k" | "kb" | "kib" | "kilo" | "kilobyte" | "kilobytes" => 10,
            "m" | "mb" | "mib" | "mega" | "megabyte" | "megabytes" => 20,
            "g" | "gb" | "gib" | "giga" | "gigabyte" | "gigabytes" => 30,
            "t" | "tb" | "tib" | "tera" | "terabyte" | "terabytes" => 40,
            "p" | "pb" | "pib" | "peta" | "petabyte" | "petabytes" => 50,
            "e" | "eb" | "eib" | "exa" | "exabyte" | "exabytes" => 60,
            _ => return Err(invalid()),
        };
        let number: u64 = number.parse().map_err(|_| BytesError::TooLarge(text.to_owned()))?;
        number
            .checked_mul(1 << shift)
            .map(Self)
            .ok_or_else(|| BytesError::TooLarge(text.to_owned()))
    }
}

impl fmt::Display for Bytes {
    /// `512 B`, `1.5 KiB`, `3.2 MiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        let step = (self.0.ilog2() / 10) as usize;
        write!(f, "{:.1} {}", self.0 as f64 / (1u64 << (10 * step)) as f64, UNITS[step - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_sizes() {
        let cases =
            [("512", 512), ("1KB", 1024), ("2 kb", 2048), ("10 MB", 10 << 20), ("5 peta", 5 << 50)];
        for (text, bytes) in cases {
            assert_eq!(Bytes::parse(text), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "KB", "1 parsec", "-1"] {
            assert!(matches!(Bytes::parse(text), Err(BytesError::Invalid(_))), "{text}");
        }
        assert!(matches!(Bytes::parse("99999 exa"), Err(BytesError::TooLarge(_))));
    }

    #[test]
    fn prints_sizes() {
        assert_eq!(Bytes(512).to_string(), "512 B");
        assert_eq!(Bytes(1536).to_string(), "1.5 KiB");
        assert_eq!(Bytes(3 << 20).to_string(), "3.0 MiB");
    }
}
