//! `Format`: how a file of results is written, by the endings of its name: `.csv`, `.arrow.gz`. It opens no file.

use std::path::Path;

use stdx::Compression;
use thiserror::Error;

use crate::Encoding;

/// How a file of results is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The form of its rows.
    pub encoding: Encoding,
    /// What the file is compressed with.
    pub compression: Compression,
}

impl From<Encoding> for Format {
    fn from(encoding: Encoding) -> Self {
        Self { encoding, compression: Compression::None }
    }
}

impl Format {
    /// The format of a file of this name. `named` is an encoding that was asked for by its own name, which the ending need not
    /// agree with; `default` is that of a name without an ending.
    ///
    /// # Errors
    /// The ending stands for no format, and none was asked for: the file would hold another one than its name says.
    pub fn of_path(
        path: &str,
        named: Option<Encoding>,
        default: Encoding,
    ) -> Result<Self, UnknownEnding> {
        let (stem, compression) = Compression::of_name(path);
        let encoding = match (named, ending(stem)) {
            (Some(encoding), _) => encoding,
            (None, None) => default,
            (None, Some(ending)) => {
                Encoding::of_ending(ending).ok_or_else(|| UnknownEnding::new(path, ending))?
            }
        };
        Ok(Self { encoding, compression })
    }

    /// Whether a name ends as those of results do that are no text: of other files, endings of texts may say something else.
    #[must_use]
    pub fn is_binary(path: &str) -> bool {
        let encoding = ending(Compression::of_name(path).0).and_then(Encoding::of_ending);
        encoding.is_some_and(|encoding| !matches!(encoding, Encoding::Csv | Encoding::Json))
    }

    /// What a file of this name is compressed with that holds text of this encoding, whatever its name. Endings that stand for
    /// nothing here, such as `.txt` and `.log`, are as good as any.
    ///
    /// # Errors
    /// The ending stands for something else, which the file would not hold.
    pub fn of_text(path: &str, encoding: Encoding) -> Result<Compression, MisleadingEnding> {
        let (stem, compression) = Compression::of_name(path);
        let is_other = |ending: &&str| match Encoding::of_ending(ending) {
            Some(stands_for) => stands_for != encoding,
            None => OTHERS.contains(&ending.to_ascii_lowercase().as_str()),
        };
        match ending(stem).filter(is_other) {
            None => Ok(compression),
            Some(ending) => {
                let (path, ending) = (path.to_owned(), ending.to_owned());
                Err(MisleadingEnding { path, ending, encoding: encoding.name() })
            }
        }
    }

    /// What its name ends in, with the dot.
    #[must_use]
    pub fn ending(self) -> String {
        format!(".{}{}", self.encoding.name(), self.compression.ending())
    }
}

fn ending(path: &str) -> Option<&str> {
    Path::new(path).extension()?.to_str()
}

/// The ending of a name stands for no format of results.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "\"{path}\" is no name of results: .{ending} is none of their endings, which are .arrow, .parquet, .csv, .json and .gob, \
     and .gz or .zst after one of them{}", suggestion.as_ref().map_or(String::new(), |name| format!(" (did you mean {name}?)"))
)]
pub struct UnknownEnding {
    /// The name.
    pub path: String,
    /// Its ending, without the dot.
    pub ending: String,
    /// The nearest name that would do.
    pub suggestion: Option<String>,
}

impl UnknownEnding {
    fn new(path: &str, unknown: &str) -> Self {
        let lower = unknown.to_ascii_lowercase();
        let nearest = ALIASES
            .iter()
            .find_map(|(alias, ending)| (*alias == lower).then_some(*ending))
            .or_else(|| stdx::nearest(&lower, ENDINGS.into_iter()));
        // What follows the ending, `.gz`, stays.
        let place = |ending: &str| {
            let from = path.rfind(unknown)?;
            let name = format!("{}{ending}{}", &path[..from], &path[from + unknown.len()..]);
            Self::is_known(&name).then_some(name)
        };
        Self {
            path: path.to_owned(),
            ending: unknown.to_owned(),
            suggestion: nearest.and_then(place),
        }
    }

    fn is_known(name: &str) -> bool {
        let stem = Compression::of_name(name).0;
        ending(stem).is_none_or(|ending| Encoding::of_ending(ending).is_some())
    }
}

/// The ending of a name stands for something that its file would not hold.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "\"{path}\" would be no .{ending}: it is to hold {encoding} (give a name that ends in .{encoding}, or in .{encoding}.gz or \
     .{encoding}.zst to compress it)"
)]
pub struct MisleadingEnding {
    /// The name.
    pub path: String,
    /// Its ending, without the dot.
    pub ending: String,
    /// The form of the text.
    pub encoding: &'static str,
}

/// Endings that stand for what results are never written as.
const OTHERS: [&str; 17] = [
    "gzip", "zstd", "bz2", "xz", "br", "lz4", "zip", "7z", "tgz", "tar", "html", "htm", "md",
    "xml", "pdf", "svg", "tsv",
];

/// The endings that a mistyped one may stand for.
const ENDINGS: [&str; 9] =
    ["arrow", "parquet", "csv", "json", "jsonl", "ndjson", "gob", "gz", "zst"];
/// Endings that people use for the same, and the one that we know.
const ALIASES: [(&str, &str); 14] = [
    ("gzip", "gz"),
    ("zstd", "zst"),
    ("bz2", "gz"),
    ("xz", "zst"),
    ("br", "zst"),
    ("lz4", "zst"),
    ("zip", "gz"),
    ("ipc", "arrow"),
    ("feather", "arrow"),
    ("pq", "parquet"),
    ("tsv", "csv"),
    ("jsonlines", "jsonl"),
    ("js", "json"),
    ("vegeta", "gob"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_stand_for_formats() {
        use Compression::{Gzip, None as Plain, Zstd};
        let cases = [
            ("a.arrow", Encoding::Arrow, Plain),
            ("a.arrows", Encoding::Arrow, Plain),
            ("results.bin", Encoding::Arrow, Plain),
            ("a.parquet", Encoding::Parquet, Plain),
            ("a.jsonl", Encoding::Json, Plain),
            ("a.b/c.CSV", Encoding::Csv, Plain),
            ("a.csv.gz", Encoding::Csv, Gzip),
            ("a.gob.ZST", Encoding::Gob, Zstd),
            ("a.gz", Encoding::Json, Gzip),
            ("results", Encoding::Json, Plain),
            (".hidden", Encoding::Json, Plain),
            ("x.d/results", Encoding::Json, Plain),
        ];
        for (path, encoding, compression) in cases {
            let format = Format::of_path(path, None, Encoding::Json);
            assert_eq!(format, Ok(Format { encoding, compression }), "{path}");
        }
    }

    #[test]
    fn regression_issue_41_unknown_endings_are_refused_with_the_nearest() {
        let cases = [
            ("page.html", "html", None),
            ("a.txt", "txt", None),
            ("a.arow", "arow", Some("a.arrow")),
            ("a.parqet.gz", "parqet", Some("a.parquet.gz")),
            ("e.csv.gzip", "gzip", Some("e.csv.gz")),
            ("e.csv.xz", "xz", Some("e.csv.zst")),
            ("csv.csb", "csb", Some("csv.csv")),
            ("e.tsv.zst", "tsv", Some("e.csv.zst")),
            ("e.html.gzip", "gzip", None),
            ("e.gz.gz", "gz", None),
        ];
        for (path, ending, suggestion) in cases {
            let refused = Format::of_path(path, None, Encoding::Arrow).unwrap_err();
            assert_eq!(refused.ending, ending, "{path}");
            assert_eq!(refused.suggestion.as_deref(), suggestion, "{path}");
            assert!(refused.to_string().starts_with(&format!("\"{path}\" is no name of results")));
        }
    }

    #[test]
    fn an_encoding_that_is_named_needs_no_ending() {
        let format = Format::of_path("rows.txt.gz", Some(Encoding::Csv), Encoding::Arrow);
        let compression = Compression::Gzip;
        assert_eq!(format, Ok(Format { encoding: Encoding::Csv, compression }));
    }

    #[test]
    fn regression_issue_41_a_text_has_no_name_of_something_else() {
        use Compression::{Gzip, None as Plain, Zstd};
        let of = |path, encoding| Format::of_text(path, encoding).map_err(|wrong| wrong.ending);
        for (path, expect) in [
            ("x.json", Ok(Plain)),
            ("x.ndjson.gz", Ok(Gzip)),
            ("x.JSON.zst", Ok(Zstd)),
            ("x.gz", Ok(Gzip)),
            ("x.txt", Ok(Plain)),
            ("x", Ok(Plain)),
            ("-", Ok(Plain)),
            ("k6.log.zst", Ok(Zstd)),
            ("x.html", Err("html")),
            ("x.XML.gz", Err("XML")),
            ("x.json.br", Err("br")),
            ("x.json.zstd", Err("zstd")),
            ("x.csv", Err("csv")),
            ("x.parquet.gz", Err("parquet")),
        ] {
            assert_eq!(of(path, Encoding::Json), expect.map_err(str::to_owned), "{path}");
        }
        assert_eq!(of("x.csv.gz", Encoding::Csv), Ok(Gzip));
        assert_eq!(of("x.json", Encoding::Csv), Err("json".to_owned()));
        let words = Format::of_text("x.html", Encoding::Json).unwrap_err().to_string();
        assert!(
            words.starts_with("\"x.html\" would be no .html: it is to hold json (give"),
            "{words}"
        );
    }

    #[test]
    fn binary_results_are_known_by_their_names() {
        for name in ["a.bin", "a.arrow.gz", "a.gob", "a.parquet"] {
            assert!(Format::is_binary(name), "{name}");
        }
        for name in ["a.json", "csv", "a.csv.gz", "a.gz", "influxdb=http://h/x.bin/y"] {
            assert!(!Format::is_binary(name), "{name}");
        }
    }
}
