//! What the requests ask for: targets from a file, and what they have in common.

use cli::{EmptyValue, Flag, ValueError, ValueKind, value};

/// The flags that say what the requests ask for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TargetFlags {
    /// The file of targets; `None` is standard input for `attack`, and no file for other commands.
    pub(crate) targets: Option<String>,
    /// The format of the targets: `http` or `json`.
    pub(crate) format: String,
    /// The file with the body of targets that have none.
    pub(crate) body: Option<String>,
    /// Whether request bodies are sent chunked.
    pub(crate) chunked: bool,
    /// Header fields of every request.
    pub(crate) headers: Vec<(String, String)>,
    /// The method of requests to a URL on the command line.
    pub(crate) method: String,
}

impl Default for TargetFlags {
    fn default() -> Self {
        Self {
            targets: None,
            format: "http".to_owned(),
            body: None,
            chunked: false,
            headers: Vec::new(),
            method: "GET".to_owned(),
        }
    }
}

impl TargetFlags {
    /// The files that are read.
    pub(crate) fn files(&self) -> Vec<&str> {
        self.targets.iter().chain(&self.body).map(String::as_str).collect()
    }
}

/// The rows of commands that take a URL, or a file of targets.
pub(crate) const fn url_or_file<T: AsMut<TargetFlags>>() -> [Flag<T>; 6] {
    let [body, chunked, header] = contents();
    [method(), targets().with_default(""), format(), body, chunked, header]
}

/// The rows on what targets have in common.
pub(crate) const fn contents<T: AsMut<TargetFlags>>() -> [Flag<T>; 3] {
    [body(), chunked(), header()]
}

row!(
    TargetFlags,
    targets,
    "targets",
    ValueKind::Path,
    "stdin",
    "File of targets.",
    |values, text| {
        values.targets = Some(text.to_owned());
        Ok(())
    }
);
row!(
    TargetFlags,
    format,
    "format",
    ValueKind::Choice(&["http", "json"]),
    "http",
    "Format of the targets: a request per block of lines, or a JSON object per line.",
    |values, text| {
        text.clone_into(&mut values.format);
        Ok(())
    }
);
row!(
    TargetFlags,
    body,
    "body",
    ValueKind::Path,
    "",
    "File used as the body of targets without one.",
    |values, text| {
        values.body = Some(text.to_owned());
        Ok(())
    };
    .vegeta_empty(EmptyValue::Absent)
);
row!(
    TargetFlags,
    chunked,
    "chunked",
    ValueKind::Switch,
    "",
    "Send request bodies chunked.",
    |values, text| value::switch(text).map(|on| values.chunked = on)
);
row!(
    TargetFlags,
    header,
    "header",
    ValueKind::Text("'NAME: VALUE'"),
    "",
    "Header field for every request; repeat for more.",
    |values, text| value::header(text).map(|header| values.headers.push(header));
    .also(&["H"])
);
row!(
    TargetFlags,
    method,
    "X",
    ValueKind::Text("METHOD"),
    "GET",
    "Method of the requests to the URL.",
    |values, text| parse_method(text).map(|method| values.method = method);
    .native()
    .also(&["method"])
);

/// A method: a token of letters, RFC 9110, 9.1.
fn parse_method(text: &str) -> Result<String, ValueError> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Ok(text.to_ascii_uppercase());
    }
    Err(ValueError::new("the method is missing (expected a method such as GET or POST)"))
}
