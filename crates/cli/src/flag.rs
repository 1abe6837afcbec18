//! `Row`: what a flag is called, takes and means; `Flag`: a row and the setter of its value.

use crate::value::ValueError;

/// What a flag is called, takes and means.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The flag's name, without dashes.
    pub name: &'static str,
    /// The flag's other names.
    pub aliases: &'static [&'static str],
    /// The value the flag takes.
    pub kind: ValueKind,
    /// The value of a flag that is not given, as help shows it; empty for none.
    pub default: &'static str,
    /// One or two sentences for the help.
    pub docs: &'static str,
    /// The dialects that have the flag.
    pub scope: Scope,
    /// The meaning of an empty value in Vegeta's dialect.
    pub vegeta_empty: EmptyValue,
}

/// The value a flag takes.
#[derive(Clone, Copy, Debug)]
pub enum ValueKind {
    /// No value, or `=true` and `=false`.
    Switch,
    /// A text; the word names it in the help.
    Text(&'static str),
    /// A file's path.
    Path,
    /// None, or a text: after an equals sign, or in the next argument if that looks like one. No value gives the setter an
    /// empty text.
    Optional {
        /// The word that names the text in the help.
        word: &'static str,
        /// Whether an argument looks like such a text.
        is_value: fn(&str) -> bool,
    },
    /// A Go duration.
    Duration,
    /// One of these words; the help lists them.
    Choice(&'static [&'static str]),
}

impl ValueKind {
    /// Whether the flag is a switch.
    #[must_use]
    pub const fn is_switch(self) -> bool {
        matches!(self, Self::Switch)
    }

    /// The word that stands for a value in the help; empty for a switch.
    #[must_use]
    pub fn placeholder(self) -> &'static str {
        match self {
            Self::Switch => "",
            Self::Text(word) | Self::Optional { word, .. } => word,
            Self::Path => "FILE",
            Self::Duration => "DURATION",
            Self::Choice(_) => "WORD",
        }
    }

    /// What the help shows for a value: a choice's words, else the placeholder.
    #[must_use]
    pub fn help_text(self) -> String {
        match self {
            Self::Choice(words) => words.join("|"),
            Self::Optional { word, .. } => format!("[{word}]"),
            other => other.placeholder().to_owned(),
        }
    }
}

/// The dialects that have a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A flag of Vegeta's that our own dialect has as well.
    Both,
    /// A flag of our own dialect alone.
    Native,
    /// A flag of Vegeta's dialect alone.
    Vegeta,
}

impl Scope {
    /// Whether a dialect (`Native` or `Vegeta`) has flags of this scope.
    #[must_use]
    pub fn is_known_to(self, dialect: Self) -> bool {
        self == Self::Both || self == dialect
    }
}

/// The meaning of a flag's empty value in Vegeta's dialect. Our own dialect always gives it to the setter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyValue {
    /// A value like any other.
    AsIs,
    /// The flag counts as not given.
    Absent,
    /// The flag has this value instead.
    Means(&'static str),
}

/// A row, and the setter of its value in `T`, a command's options.
pub struct Flag<T> {
    /// The row.
    pub row: Row,
    /// Sets the value from its text; a switch gets `true` or `false`.
    pub set: fn(&mut T, &str) -> Result<(), ValueError>,
}

impl<T> Clone for Flag<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Flag<T> {}

impl<T> Flag<T> {
    /// A flag of Vegeta's that our own dialect has as well.
    #[must_use]
    pub const fn new(
        name: &'static str,
        kind: ValueKind,
        default: &'static str,
        docs: &'static str,
        set: fn(&mut T, &str) -> Result<(), ValueError>,
    ) -> Self {
        let (scope, vegeta_empty) = (Scope::Both, EmptyValue::AsIs);
        Self { row: Row { name, aliases: &[], kind, default, docs, scope, vegeta_empty }, set }
    }

    /// The same flag, in our own dialect alone.
    #[must_use]
    pub const fn native(mut self) -> Self {
        self.row.scope = Scope::Native;
        self
    }

    /// The same flag, in Vegeta's dialect alone.
    #[must_use]
    pub const fn vegeta(mut self) -> Self {
        self.row.scope = Scope::Vegeta;
        self
    }

    /// The same flag with these other names in place of those it had.
    #[must_use]
    pub const fn also(mut self, aliases: &'static [&'static str]) -> Self {
        self.row.aliases = aliases;
        self
    }

    /// The same flag, for which the help shows this default.
    #[must_use]
    pub const fn with_default(mut self, default: &'static str) -> Self {
        self.row.default = default;
        self
    }

    /// The same flag with this text for the help.
    #[must_use]
    pub const fn with_docs(mut self, docs: &'static str) -> Self {
        self.row.docs = docs;
        self
    }

    /// The same flag, whose empty value has this meaning in Vegeta's dialect.
    #[must_use]
    pub const fn vegeta_empty(mut self, meaning: EmptyValue) -> Self {
        self.row.vegeta_empty = meaning;
        self
    }

    /// Whether the flag has this name in this dialect.
    #[must_use]
    pub fn is_called(&self, name: &str, dialect: Scope) -> bool {
        self.row.scope.is_known_to(dialect)
            && (self.row.name == name || self.row.aliases.contains(&name))
    }
}

/// How many flags these groups have together.
#[must_use]
pub const fn flag_count<T>(groups: &[&[Flag<T>]]) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < groups.len() {
        count += groups[at].len();
        at += 1;
    }
    count
}

/// The flags of groups in one table: `N` is [`flag_count`] of them, above 0. The compiler runs it for [`flag_table!`](crate::flag_table).
#[must_use]
pub const fn joined<T, const N: usize>(groups: &[&[Flag<T>]]) -> [Flag<T>; N] {
    let mut table = [groups[0][0]; N];
    let (mut count, mut group) = (0, 0);
    while group < groups.len() {
        let mut at = 0;
        while at < groups[group].len() {
            table[count] = groups[group][at];
            count += 1;
            at += 1;
        }
        group += 1;
    }
    assert!(count == N);
    table
}

/// A command's table of flags, joined from groups in the order of the help: the options' type, then slices of flags, the first
/// of which has a flag.
#[macro_export]
macro_rules! flag_table {
    ($options:ty: $($group:expr),+ $(,)?) => {{
        const GROUPS: &[&[$crate::Flag<$options>]] = &[$($group),+];
        &$crate::joined::<$options, { $crate::flag_count(GROUPS) }>(GROUPS)
    }};
}

/// A flag that keeps its text, in a `String` or an `Option<String>`: the options' type, name, value's word, docs, field.
#[macro_export]
macro_rules! text {
    ($options:ty, $name:literal, $value:literal, $docs:literal, $field:ident) => {
        $crate::Flag::new(
            $name,
            $crate::ValueKind::Text($value),
            "",
            $docs,
            |options: &mut $options, text| {
                options.$field = text.to_owned().into();
                Ok(())
            },
        )
    };
}

/// A switch: the options' type, name, docs, field.
#[macro_export]
macro_rules! switch {
    ($options:ty, $name:literal, $docs:literal, $field:ident) => {
        $crate::Flag::new(
            $name,
            $crate::ValueKind::Switch,
            "",
            $docs,
            |options: &mut $options, text| {
                $crate::value::switch(text).map(|on| options.$field = on)
            },
        )
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Options;

    const fn flag(name: &'static str) -> Flag<Options> {
        Flag::new(name, ValueKind::Switch, "", "", |_, _| Ok(()))
    }

    #[test]
    fn groups_follow_each_other() {
        const PAIR: [Flag<Options>; 2] = [flag("b"), flag("c")];
        const TABLE: &[Flag<Options>] =
            flag_table!(Options: &[flag("a")], &PAIR, &[], &[flag("d")]);
        assert_eq!(TABLE.iter().map(|flag| flag.row.name).collect::<String>(), "abcd");
    }
}
