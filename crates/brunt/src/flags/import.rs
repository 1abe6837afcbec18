//! The flags of `import`.

use ::import::Kind;
use cli::{Flag, ValueError, ValueKind, nearest};

/// The flags of `import` as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImportFlags {
    /// `None`: found from the content.
    pub(crate) from: Option<Kind>,
    /// `-from=log`: traffic, not a list of requests.
    pub(crate) is_log: bool,
    /// `None`: a script, of a log targets.
    pub(crate) to: Option<Form>,
    /// Methods of a log that are kept.
    pub(crate) only: Vec<String>,
    /// Where the paths of a log are.
    pub(crate) base_url: Option<String>,
    /// How many addresses of a log become targets.
    pub(crate) top: usize,
    pub(crate) output: Option<String>,
    /// The file of environments of Postman and `.http` files.
    pub(crate) env: Option<String>,
    pub(crate) env_name: Option<String>,
    /// The tags of OpenAPI whose operations are wanted; empty: all.
    pub(crate) only_tags: Vec<String>,
    /// Folders whose files the input may name, beside its own.
    pub(crate) allow_read: Vec<String>,
}

impl Default for ImportFlags {
    fn default() -> Self {
        Self {
            from: None,
            is_log: false,
            to: None,
            only: vec!["GET".to_owned()],
            base_url: None,
            top: 1000,
            output: None,
            env: None,
            env_name: None,
            only_tags: Vec::new(),
            allow_read: Vec::new(),
        }
    }
}

/// What an import is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    K6,
    Targets,
}

/// The flags of `import`.
pub(crate) const IMPORT: &[Flag<ImportFlags>] = &[
    Flag::new(
        "from",
        ValueKind::Choice(&["curl", "har", "openapi", "postman", "http", "log"]),
        "found from the content",
        "What the input is.",
        |t: &mut ImportFlags, v| {
            t.is_log = v == "log";
            t.from = Kind::of_word(v);
            if t.is_log || t.from.is_some() {
                return Ok(());
            }
            let words: Vec<&str> = Kind::ALL.map(Kind::word).into_iter().chain(["log"]).collect();
            Err(unknown(v, &words))
        },
    )
    .native(),
    Flag::new(
        "to",
        ValueKind::Choice(&["k6", "targets"]),
        "k6, of a log targets",
        "What is written: a k6 script, or Vegeta's targets where nothing depends on anything.",
        |t: &mut ImportFlags, v| {
            t.to = Some(match v {
                "k6" => Form::K6,
                "targets" => Form::Targets,
                other => return Err(unknown(other, &["k6", "targets"])),
            });
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "output",
        ValueKind::Path,
        "stdout",
        "Where it is written.",
        |t: &mut ImportFlags, v| {
            t.output = Some(v.to_owned());
            Ok(())
        },
    )
    .also(&["o"])
    .native(),
    Flag::new(
        "env",
        ValueKind::Path,
        "",
        "The environment of a Postman collection or of .http files.",
        |t: &mut ImportFlags, v| {
            t.env = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "env-name",
        ValueKind::Text("NAME"),
        "",
        "Which environment of that file.",
        |t: &mut ImportFlags, v| {
            t.env_name = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "only-tags",
        ValueKind::Text("TAG,…"),
        "all",
        "Of an OpenAPI document, only operations that have one of these tags; repeatable.",
        |t: &mut ImportFlags, v| {
            let tags = v.split(',').map(str::trim).filter(|tag| !tag.is_empty());
            t.only_tags.extend(tags.map(str::to_owned));
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "only",
        ValueKind::Text("METHOD,…"),
        "GET",
        "Of an access log, only requests with these methods: a log has no bodies.",
        |t: &mut ImportFlags, v| {
            let methods = v.split(',').map(str::trim).filter(|method| !method.is_empty());
            t.only = methods.map(str::to_ascii_uppercase).collect();
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "base-url",
        ValueKind::Text("URL"),
        "",
        "Where the paths of an access log are called: scheme, host, perhaps a port and the start of a path.",
        |t: &mut ImportFlags, v| {
            if !(v.starts_with("http://") || v.starts_with("https://")) || v.contains(char::is_whitespace) {
                return Err(ValueError::new(format!("\"{v}\" is no address (expected for example https://staging.example)")));
            }
            t.base_url = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "top",
        ValueKind::Text("N"),
        "1000",
        "How many of an access log's addresses become targets, the most frequent first.",
        |t: &mut ImportFlags, v| {
            let top = v.parse().ok().filter(|top| (1..=100_000).contains(top));
            let text = || ValueError::new(format!("\"{v}\" is no number from 1 to 100000"));
            t.top = top.ok_or_else(text)?;
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "allow-read",
        ValueKind::Text("DIR"),
        "",
        "A folder whose files the input may name, beside the input's own; repeatable.",
        |t: &mut ImportFlags, v| {
            t.allow_read.push(v.to_owned());
            Ok(())
        },
    )
    .native(),
];

fn unknown(word: &str, words: &[&str]) -> ValueError {
    let near = nearest(word, words.iter().copied());
    let hint = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
    ValueError::new(format!("\"{word}\" is none of {}{hint}", words.join(", ")))
}
