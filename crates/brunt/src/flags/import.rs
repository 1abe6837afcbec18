//! The flags of `import`.

use ::import::Kind;
use cli::{Flag, ValueError, ValueKind, nearest};

/// The flags of `import` as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ImportFlags {
    /// `None`: found from the content.
    pub(crate) from: Option<Kind>,
    pub(crate) to: Form,
    pub(crate) output: Option<String>,
    /// The file of environments of Postman and `.http` files.
    pub(crate) env: Option<String>,
    pub(crate) env_name: Option<String>,
    /// The tags of OpenAPI whose operations are wanted; empty: all.
    pub(crate) only_tags: Vec<String>,
    /// Folders whose files the input may name, beside its own.
    pub(crate) allow_read: Vec<String>,
}

/// What an import is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    #[default]
    K6,
    Targets,
}

/// The flags of `import`.
pub(crate) const IMPORT: &[Flag<ImportFlags>] = &[
    Flag::new(
        "from",
        ValueKind::Choice(&["curl", "har", "openapi", "postman", "http"]),
        "found from the content",
        "What the input is.",
        |t: &mut ImportFlags, v| {
            let kind = Kind::of_word(v);
            t.from = Some(kind.ok_or_else(|| unknown(v, Kind::ALL.map(Kind::word).as_slice()))?);
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "to",
        ValueKind::Choice(&["k6", "targets"]),
        "k6",
        "What is written: a k6 script, or Vegeta's targets where nothing depends on anything.",
        |t: &mut ImportFlags, v| {
            t.to = match v {
                "k6" => Form::K6,
                "targets" => Form::Targets,
                other => return Err(unknown(other, &["k6", "targets"])),
            };
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

fn unknown(word: &str, words: &[&'static str]) -> ValueError {
    let near = nearest(word, words.iter().copied());
    let hint = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
    ValueError::new(format!("\"{word}\" is none of {}{hint}", words.join(", ")))
}
