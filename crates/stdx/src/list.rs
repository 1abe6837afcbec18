//! Lists as sentences have them: commas, and a conjunction before the last word. It sorts nothing and drops nothing.

/// `a`, `a and b`, `a, b and c`; empty without words.
#[must_use]
pub fn list_and<T: AsRef<str>>(words: &[T]) -> String {
    list(words, " and ")
}

/// `a`, `a or b`, `a, b or c`; empty without words.
#[must_use]
pub fn list_or<T: AsRef<str>>(words: &[T]) -> String {
    list(words, " or ")
}

fn list<T: AsRef<str>>(words: &[T], conjunction: &str) -> String {
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        text.push_str(match words.len() - at {
            _ if at == 0 => "",
            1 => conjunction,
            _ => ", ",
        });
        text.push_str(word.as_ref());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conjunction_stands_before_the_last_word() {
        let words = ["a", "b", "c", "d"];
        let lists: Vec<String> = (0..=4).map(|count| list_and(&words[..count])).collect();
        assert_eq!(lists, ["", "a", "a and b", "a, b and c", "a, b, c and d"]);
        assert_eq!(list_or(&["x".to_owned(), "y".to_owned()]), "x or y");
    }
}
