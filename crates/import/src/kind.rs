//! The kinds of input, and which one a text is.

use std::fmt;

use serde_json::Value;

/// A kind of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Command lines of curl.
    Curl,
    /// A HAR, the archive of a browser's or a proxy's requests.
    Har,
    /// OpenAPI 3.0, 3.1 or Swagger 2, in JSON or YAML.
    OpenApi,
    /// A Postman collection, 2.0 or 2.1.
    Postman,
    /// An `.http` file of JetBrains or VS Code.
    Http,
}

impl Kind {
    /// Every kind, in the order of the help.
    pub const ALL: [Self; 5] = [Self::Curl, Self::Har, Self::OpenApi, Self::Postman, Self::Http];

    /// The word of the command line for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Curl => "curl",
            Self::Har => "har",
            Self::OpenApi => "openapi",
            Self::Postman => "postman",
            Self::Http => "http",
        }
    }

    /// The kind of that word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The kind of a text, by its content alone.
    #[must_use]
    pub fn detect(text: &str) -> Option<Self> {
        let text = text.trim_start_matches('\u{feff}').trim_start();
        if text.starts_with('{') {
            return json_kind(text);
        }
        if text.lines().any(is_openapi_line) {
            return Some(Self::OpenApi);
        }
        text.lines().find_map(line_kind)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

/// The kind of a document in JSON; by its first bytes if it is cut.
fn json_kind(text: &str) -> Option<Kind> {
    // A HAR may be large, and its first member says what it is.
    if text[1..].trim_start().starts_with("\"log\"") {
        return Some(Kind::Har);
    }
    if let Ok(Value::Object(object)) = serde_json::from_str(text) {
        let has = |key: &str| object.contains_key(key);
        if has("openapi") || has("swagger") {
            return Some(Kind::OpenApi);
        }
        if object.get("log").is_some_and(Value::is_object) {
            return Some(Kind::Har);
        }
        let postman = has("item") || has("collection") || has("requests");
        return (postman && (has("info") || has("collection"))).then_some(Kind::Postman);
    }
    let head = text.get(..text.len().min(4096)).unwrap_or(text);
    let key = |key: &str| head.contains(&format!("\"{key}\""));
    match () {
        () if key("openapi") || key("swagger") => Some(Kind::OpenApi),
        () if key("log") => Some(Kind::Har),
        () if key("info") && key("item") => Some(Kind::Postman),
        () => None,
    }
}

fn is_openapi_line(line: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}');
    ["openapi:", "swagger:", "\"openapi\":", "'openapi':"].iter().any(|key| line.starts_with(key))
}

/// The kind that a line gives away: a command of curl, or a request of an `.http` file.
fn line_kind(line: &str) -> Option<Kind> {
    let line = line.trim();
    let mut words =
        line.split_whitespace().map(|word| word.trim_matches(['$', '>', '"', '\'', '(']));
    if words.clone().any(|word| matches!(word, "curl" | "curl.exe" | "--next")) {
        return Some(Kind::Curl);
    }
    if line.starts_with("###")
        || line.starts_with("@")
        || line.starts_with("http://")
        || line.starts_with("https://")
    {
        return Some(Kind::Http);
    }
    let first = words.next()?;
    let method = METHODS.contains(&first) && words.next().is_some();
    method.then_some(Kind::Http)
}

const METHODS: &[&str] = &[
    "GET",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "HEAD",
    "OPTIONS",
    "GRAPHQL",
    "WEBSOCKET",
    "TRACE",
    "CONNECT",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_detected_from_content() {
        for (text, expect) in [
            ("# list\ncurl -s https://a.example/", Some(Kind::Curl)),
            ("$ curl https://a.example/", Some(Kind::Curl)),
            ("echo '{}' | curl -d @- https://a.example", Some(Kind::Curl)),
            ("{\"log\": {\"entries\": []}}", Some(Kind::Har)),
            ("\u{feff}{\"log\": {\"entries\": [", Some(Kind::Har)),
            ("openapi: 3.1.0\ninfo: {}", Some(Kind::OpenApi)),
            ("{\"swagger\": \"2.0\"}", Some(Kind::OpenApi)),
            ("{\"info\": {}, \"item\": []}", Some(Kind::Postman)),
            ("### list\nGET https://a.example/", Some(Kind::Http)),
            ("@host = https://a.example\n\nGET {{host}}/", Some(Kind::Http)),
            ("GET https://a.example/ HTTP/1.1", Some(Kind::Http)),
            ("hello", None),
        ] {
            assert_eq!(Kind::detect(text), expect, "{text}");
        }
    }
}
