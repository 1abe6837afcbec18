//! `Template`: `$1$-$2$`, the groups of a match in a text.

use crate::pattern::Match;

/// A text with groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Group(usize),
}

impl Template {
    /// Reads `$` digits `$` as groups; whatever else stands for itself.
    pub(crate) fn parse(written: &str) -> Self {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = written;
        while let Some(at) = rest.find('$') {
            literal.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let group = after[..digits].parse().ok();
            match group.filter(|_| after[digits..].starts_with('$')) {
                Some(group) => {
                    if !literal.is_empty() {
                        pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                    }
                    pieces.push(Piece::Group(group));
                    rest = &after[digits + 1..];
                }
                None => {
                    literal.push('$');
                    rest = after;
                }
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Self(pieces)
    }

    /// The text of a match; a group that is missing is `null`, as JMeter writes it.
    pub(crate) fn fill(&self, found: &Match) -> String {
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Literal(literal) => literal.as_str(),
            Piece::Group(group) => {
                found.groups.get(*group).and_then(Option::as_deref).unwrap_or("null")
            }
        });
        pieces.collect()
    }
}
