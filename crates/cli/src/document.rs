//! `Document`: the format of a report, page or picture, by the ending of its file. This is the only list of these endings; the
//! formats of results have their own.

use std::path::Path;

use crate::output::Output;

/// A document's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// A page, `.html`.
    Html,
    /// A vector picture, `.svg`.
    Svg,
    /// A bitmap picture, `.png`.
    Png,
    /// `.json`.
    Json,
    /// `.md`.
    Markdown,
    /// Plain text, `.txt`.
    Text,
    /// JUnit's XML, `.xml`.
    Junit,
}

const ENDINGS: [(Document, &[&str]); 7] = [
    (Document::Html, &["html", "htm"]),
    (Document::Svg, &["svg"]),
    (Document::Png, &["png"]),
    (Document::Json, &["json"]),
    (Document::Markdown, &["md", "markdown"]),
    (Document::Text, &["txt", "text", "log"]),
    (Document::Junit, &["xml"]),
];

impl Document {
    /// The format among `known` that the ending of `path` stands for; `None` for standard output and for a name without an
    /// ending. `flag` is the flag whose value the path is.
    ///
    /// # Errors
    /// The ending stands for none of them; the text names the endings that do.
    pub fn by_ending(
        flag: &str,
        path: Option<&str>,
        known: &[Self],
    ) -> Result<Option<Self>, String> {
        let Output::File(path) = Output::named(path) else { return Ok(None) };
        let ending = Path::new(&path).extension().and_then(|ending| ending.to_str());
        let Some(ending) = ending.map(str::to_ascii_lowercase) else { return Ok(None) };
        let stands = |(of, endings): &(Self, &[&str])| {
            (known.contains(of) && endings.contains(&ending.as_str())).then_some(*of)
        };
        ENDINGS.iter().find_map(stands).map(Some).ok_or_else(|| {
            let first = |(of, endings): &(Self, &[&str])| {
                known.contains(of).then(|| format!(".{}", endings[0]))
            };
            let all: Vec<String> = ENDINGS.iter().filter_map(first).collect();
            format!("flag {flag}: \"{path}\" does not end in {}", stdx::list_or(&all))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [Document; 3] = [Document::Html, Document::Markdown, Document::Junit];

    #[test]
    fn endings_choose_the_format() {
        let cases = [
            (None, None),
            (Some("-"), None),
            (Some("stdout"), None),
            (Some("report"), None),
            (Some("/dev/null"), None),
            (Some("a.html"), Some(Document::Html)),
            (Some("a.b/c.HTM"), Some(Document::Html)),
            (Some("a.md"), Some(Document::Markdown)),
            (Some("a.xml"), Some(Document::Junit)),
        ];
        for (path, document) in cases {
            assert_eq!(Document::by_ending("-output", path, &KNOWN), Ok(document), "{path:?}");
        }
    }

    #[test]
    fn unknown_endings_are_refused_with_those_known() {
        for path in ["a.pdf", "a.html.gz", "a.png", "a."] {
            let error = Document::by_ending("-output", Some(path), &KNOWN);
            let expect = format!("flag -output: \"{path}\" does not end in .html, .md or .xml");
            assert_eq!(error, Err(expect));
        }
    }
}
