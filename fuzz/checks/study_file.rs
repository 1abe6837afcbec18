//! A study's file, in both modes: it is read, or each of its problems has its line.

use lab::{CommandLines, Mode};

/// A problem names its key and the value that was found.
const TEXT_OF_ALL: usize = 4096;

/// The number of problems.
///
/// # Panics
/// A problem is of no line, or longer than the file.
pub(crate) fn check(bytes: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(bytes).ok()?;
    let commands = CommandLines { tools: vec!["ab", "hey", "wrk"], validate };
    let lines = text.split('\n').count();
    let mut found = 0;
    for mode in [Mode::Quick, Mode::Full] {
        let problems = lab::problems(text, mode, &commands);
        found = problems.len();
        for problem in problems {
            assert!((1..=lines + 1).contains(&problem.line), "line {} of {lines}", problem.line);
            assert!(problem.text.len() <= TEXT_OF_ALL + 4 * text.len(), "{}", problem.text.len());
        }
    }
    Some(found)
}

/// A command line of one word is wrong, so that both answers come up.
#[allow(clippy::needless_pass_by_value, reason = "the type that is wanted")]
fn validate(words: Vec<String>) -> Result<(), String> {
    if words.len() > 1 { Ok(()) } else { Err("a command line without words".to_owned()) }
}
