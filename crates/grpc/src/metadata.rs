//! Metadata of calls: header and trailer fields, binary ones in base64, and the time that a call may take.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

/// Base64 as it goes over the wire: without padding out, with or without it in.
const WIRE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Fields that belong to the protocol and are no metadata.
const RESERVED: [&str; 7] = [
    "user-agent",
    "grpc-message-type",
    "grpc-encoding",
    "grpc-message",
    "grpc-status",
    "grpc-timeout",
    "te",
];

/// Why the metadata of a response cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// A binary value is no base64.
    #[error("malformed binary metadata {value:?} in header {name:?}")]
    Base64 {
        /// The field.
        name: String,
        /// Its value.
        value: String,
    },
}

/// Names in lower case and their values, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata(pub Vec<(String, Vec<Vec<u8>>)>);

impl Metadata {
    /// The metadata among fields `name: value`, each ended by CR LF; a status line is left out.
    ///
    /// # Errors
    /// A binary value is malformed.
    pub fn of_lines(lines: &[u8]) -> Result<Self, MetadataError> {
        let mut all = Self::default();
        for (name, value) in fields(lines) {
            let name = name.to_ascii_lowercase();
            if !RESERVED.contains(&name.as_str()) {
                if name.ends_with("-bin") {
                    all.push_binary(&name, value)?;
                } else {
                    all.push(&name, value.to_vec());
                }
            }
        }
        Ok(all)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Several values may stand in one field.
    fn push_binary(&mut self, name: &str, value: &[u8]) -> Result<(), MetadataError> {
        for part in value.split(|byte| *byte == b',') {
            let decoded = WIRE.decode(part.trim_ascii()).map_err(|_| MetadataError::Base64 {
                name: name.to_owned(),
                value: String::from_utf8_lossy(value).into_owned(),
            })?;
            self.push(name, decoded);
        }
        Ok(())
    }

    fn push(&mut self, name: &str, value: Vec<u8>) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value),
            None => self.0.push((name.to_owned(), vec![value])),
        }
    }
}

/// A binary value as it goes over the wire.
#[must_use]
pub fn encode_binary(value: &[u8]) -> String {
    WIRE.encode(value)
}

/// Bytes of a field's value in base64; `None` where it is none.
pub(crate) fn decode_binary(value: &[u8]) -> Option<Vec<u8>> {
    WIRE.decode(value).ok()
}

/// The fields among lines, each ended by CR LF.
pub(crate) fn fields(lines: &[u8]) -> impl Iterator<Item = (&str, &[u8])> {
    lines.split(|byte| *byte == b'\n').filter_map(|line| {
        let at = line.iter().position(|byte| *byte == b':')?;
        let name = std::str::from_utf8(&line[..at]).ok()?;
        // A status line has blanks before its first colon, if it has one.
        (!name.contains(' ')).then(|| (name, line[at + 1..].trim_ascii()))
    })
}

/// The value of a field.
pub(crate) fn field<'a>(lines: &'a [u8], name: &str) -> Option<&'a [u8]> {
    fields(lines).find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// How long a call may take, as `grpc-timeout` says it: at most eight digits and a unit, rounded up.
#[must_use]
pub fn timeout_text(timeout_ns: u64) -> String {
    const UNITS: [(u64, char); 6] = [
        (1, 'n'),
        (1_000, 'u'),
        (1_000_000, 'm'),
        (1_000_000_000, 'S'),
        (60_000_000_000, 'M'),
        (3_600_000_000_000, 'H'),
    ];
    let fits = UNITS.iter().map(|(unit_ns, name)| (timeout_ns.div_ceil(*unit_ns), *name));
    let mut fits = fits.filter(|(count, _)| *count <= 99_999_999);
    // 2^64 ns are 5,124,096 hours.
    fits.next().map_or_else(|| "99999999H".to_owned(), |(count, unit)| format!("{count}{unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_grouped_and_binary_values_are_bytes() {
        let lines = b"HTTP/2 200 OK\r\ncontent-type: application/grpc\r\nX-A: 1\r\nx-a:2\r\nk-bin: AsjI,AA==\r\ngrpc-status: 0\r\n";
        let all = Metadata::of_lines(lines).expect("metadata");
        let of = |name: &str| all.0.iter().find(|(known, _)| known == name).map(|(_, v)| v.clone());
        assert_eq!(of("x-a"), Some(vec![b"1".to_vec(), b"2".to_vec()]));
        assert_eq!(of("k-bin"), Some(vec![vec![2, 200, 200], vec![0]]));
        assert_eq!(of("content-type"), Some(vec![b"application/grpc".to_vec()]));
        assert_eq!(of("grpc-status"), None);
        assert!(Metadata::of_lines(b"k-bin: ***\r\n").is_err());
        assert_eq!(encode_binary(&[2, 200]), "Asg");
    }

    #[test]
    fn timeouts_have_eight_digits_at_most() {
        for (ns, expect) in [
            (0, "0n"),
            (99_999_999, "99999999n"),
            (100_000_000, "100000u"),
            (120_000_000_000, "120000m"),
            (1_000_000_000_001, "1000001m"),
            (u64::MAX, "5124096H"),
        ] {
            assert_eq!(timeout_text(ns), expect);
        }
    }
}
