//! The system's texts for failed operations.

use std::io;

/// The system's text for an error, without its number.
#[must_use]
pub fn system_text(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// The system's text for an error as Go words it: lower case, without its number.
#[must_use]
pub fn reason(error: &io::Error) -> String {
    let text = system_text(error);
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn system_texts_are_worded_as_go_words_them() {
        let error = File::open("/nowhere/at/all").unwrap_err();
        assert_eq!(system_text(&error), "No such file or directory");
        assert_eq!(reason(&error), "no such file or directory");
    }
}
