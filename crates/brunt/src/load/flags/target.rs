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
    /// Cookies of the requests.
    pub(crate) cookies: Option<Cookies>,
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
            cookies: None,
            method: "GET".to_owned(),
        }
    }
}

/// Cookies of requests.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cookies {
    /// As they are written in a `Cookie` field.
    Field(String),
    /// The file that has them.
    File(String),
}

impl Cookies {
    /// Cookies themselves have an equals sign.
    fn parse(text: &str) -> Result<Self, ValueError> {
        match text {
            "" => Err(ValueError::new("no cookie is given (expected NAME=VALUE, or a file)")),
            _ if text.chars().any(char::is_control) => {
                Err(ValueError::new("a cookie has no control characters"))
            }
            _ if text.contains('=') => Ok(Self::Field(text.to_owned())),
            _ => Ok(Self::File(text.to_owned())),
        }
    }
}

impl TargetFlags {
    /// The files that are read.
    pub(crate) fn files(&self) -> Vec<&str> {
        let cookies = self.cookies.iter().filter_map(|cookies| match cookies {
            Cookies::File(path) => Some(path),
            Cookies::Field(_) => None,
        });
        self.targets.iter().chain(&self.body).chain(cookies).map(String::as_str).collect()
    }
}

/// The rows of commands that take a URL, or a file of targets.
pub(crate) const fn url_or_file<T: AsMut<TargetFlags>>() -> [Flag<T>; 7] {
    let [body, chunked, header, cookies] = contents();
    [method(), targets().with_default(""), format(), body, chunked, header, cookies]
}

/// The rows on what targets have in common.
pub(crate) const fn contents<T: AsMut<TargetFlags>>() -> [Flag<T>; 4] {
    [body(), chunked(), header(), cookies()]
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
    "Header field for every request; repeat for more. `User-Agent:` and `Accept-Encoding:` leave ours out.",
    |values, text| value::header(text).map(|header| values.headers.push(header));
    .also(&["H"])
);
row!(
    TargetFlags,
    cookies,
    "cookies",
    ValueKind::Text("'NAME=VALUE; …'|FILE"),
    "",
    "Cookies of every request; or a file of curl -c or a browser, whose cookies go to their hosts and paths.",
    |values, text| {
        Cookies::parse(text).map(|cookies| values.cookies = Some(cookies))
    };
    .native()
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
