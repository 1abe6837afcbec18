//! The attributes of a tag that is not at its end, by the states of HTML's tokenizer (HTML, 13.2.5.32 to 13.2.5.39): html5ever
//! shows a tag at its end only, and compares each attribute with all before it.

/// Where in a tag a text ends.
#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Start,
    /// After `<` or `</`.
    Open,
    TagName,
    BeforeName,
    Name,
    AfterName,
    BeforeValue,
    /// In a value, up to this quote.
    Quoted(u8),
    Unquoted,
    /// In what is no tag: text, a comment, a declaration.
    NoTag,
}

/// Counts the attributes of a tag whose text comes in pieces.
#[derive(Debug, Default)]
pub(super) struct AttributeCounter {
    state: State,
    count: usize,
}

impl AttributeCounter {
    /// How many attributes began.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Reads on; the tag begins with the first byte, or there is none.
    pub(super) fn read(&mut self, text: &str) {
        for byte in text.bytes() {
            self.state = self.after(byte);
            if matches!(self.state, State::NoTag) {
                return;
            }
        }
    }

    fn after(&mut self, byte: u8) -> State {
        use State::{
            AfterName, BeforeName, BeforeValue, Name, NoTag, Open, Quoted, Start, TagName, Unquoted,
        };
        let is_space = matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ');
        match (self.state, byte) {
            (Start, b'<') | (Open, b'/') => Open,
            (Open, _) if byte.is_ascii_alphabetic() => TagName,
            (Quoted(quote), _) if byte != quote => self.state,
            (Start | Open | NoTag, _) => NoTag,
            (Quoted(_), _) => BeforeName,
            (_, b'>') => NoTag,
            (BeforeValue, b'"' | b'\'') => Quoted(byte),
            (BeforeValue | Unquoted, _) if !is_space => Unquoted,
            (BeforeValue | AfterName, _) if is_space => self.state,
            (_, b'/') => BeforeName,
            (Name | AfterName, b'=') => BeforeValue,
            (Name, _) if is_space => AfterName,
            (TagName | Name, _) if !is_space => self.state,
            (BeforeName | AfterName, _) if !is_space => {
                self.count += 1;
                Name
            }
            _ => BeforeName,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_counted_wherever_the_text_is_cut() {
        for (text, count) in [
            ("<p>a b c", 0),
            ("<p a b=c d = e f='g h' i=\"j k\"l/m/n = 'o' p>q r", 9),
            ("<img src='data:;base64,ab/cd/ef gh'alt", 2),
            ("<a href=http://h/a/b/c x", 2),
            // What no name stands before is a name.
            ("<p =\"a b c", 3),
            ("<p/a>", 1),
            ("</p a b", 2),
            ("<!-- a b c", 0),
            ("<? a b", 0),
            ("< a b", 0),
            ("a b <p c", 0),
        ] {
            for cut in 0..text.len() {
                let mut counter = AttributeCounter::default();
                counter.read(&text[..cut]);
                counter.read(&text[cut..]);
                assert_eq!(counter.count(), count, "{text} at {cut}");
            }
        }
    }
}
