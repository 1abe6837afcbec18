//! Where results go, and what of each response they keep.

use cli::{EmptyValue, Flag, ValueError, ValueKind, value};
use results::Encoding;

/// The flags that say where results go, and what they keep.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ResultsFlags {
    /// The name of the run, in every result.
    pub(crate) name: String,
    /// The file for the results; `none` keeps none. `None` is the command's default.
    pub(crate) output: Option<String>,
    /// The servers that samples are sent to, as `NAME` or `NAME=ADDRESS`.
    pub(crate) sent_to: Vec<String>,
    /// The format of the results; `None` where the file's extension decides.
    pub(crate) to: Option<String>,
    /// Bytes of each response body that are kept: `Some(None)` is -1, all of them; `None` where the flag is not given.
    pub(crate) max_body: Option<Option<u64>>,
    /// Whether response headers are kept.
    pub(crate) keep_headers: bool,
}

/// The rows on the format of results and what they have of a response.
pub(crate) const fn contents<T: AsMut<ResultsFlags>>() -> [Flag<T>; 3] {
    [to(), max_body(), keep_headers()]
}

row!(
    ResultsFlags,
    name,
    "name",
    ValueKind::Text("NAME"),
    "",
    "Name of the attack, written into every result.",
    |values, text| {
        text.clone_into(&mut values.name);
        Ok(())
    }
);
row!(
    ResultsFlags,
    output,
    "output",
    ValueKind::Path,
    "stdout",
    "File for the results, or `none`; or a server for samples: statsd, influxdb=URL, … (docs/guide/outputs.md).",
    |values, text| {
        let name = text.split('=').next().unwrap_or_default();
        match outputs::NAMES.contains(&name) {
            true => values.sent_to.push(text.to_owned()),
            // No file is called so; a misspelt server would become one.
            false if text.contains("=") && text.contains("://") => {
                let names = outputs::NAMES.join(", ");
                return Err(ValueError::new(format!("\"{name}\" is no output (expected a file, or one of {names})")));
            }
            false => values.output = Some(text.to_owned()),
        }
        Ok(())
    };
    .also(&["o"])
);
row!(
    ResultsFlags,
    to,
    "to",
    ValueKind::Choice(Encoding::NAMES),
    "arrow",
    "Format of the results; by default the extension of -output decides.",
    |values, text| value::word(text, Encoding::NAMES).map(|word| values.to = Some(word));
    .native()
);
row!(
    ResultsFlags,
    max_body,
    "max-body",
    ValueKind::Text("SIZE"),
    "0 (vegeta: -1)",
    "Bytes of each response body to write into its result (-1: all); the rest is only counted.",
    |values, text| value::size_or_minus_one(text).map(|size| values.max_body = Some(size));
    .vegeta_empty(EmptyValue::Means("0"))
);
row!(
    ResultsFlags,
    keep_headers,
    "keep-headers",
    ValueKind::Switch,
    "",
    "Write response headers into the results.",
    |values, text| value::switch(text).map(|on| values.keep_headers = on);
    .native()
);
