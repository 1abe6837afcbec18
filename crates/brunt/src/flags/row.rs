//! `Row`: what a flag is called, takes and means; `Flag`: a row and what it sets.

use super::Wrong;

/// What a flag is called, takes and means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Its name, without dashes.
    pub(crate) name: &'static str,
    /// Other names for it.
    pub(crate) aliases: &'static [&'static str],
    /// What value it takes.
    pub(crate) kind: Kind,
    /// Its value where it is not given; empty for none.
    pub(crate) default: &'static str,
    /// One or two sentences for the help.
    pub(crate) docs: &'static str,
    /// The dialects that know it.
    pub(crate) scope: Scope,
}

/// The value a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// None, or `=true` and `=false`.
    Switch,
    /// A text; the word names it in the help.
    Text(&'static str),
    /// A file's path.
    Path,
    /// A Go duration.
    Duration,
    /// One of these words; the help lists them.
    Choice(&'static [&'static str]),
}

impl Kind {
    /// The word that stands for a value; empty for a switch.
    #[must_use]
    pub(crate) fn placeholder(self) -> &'static str {
        match self {
            Self::Switch => "",
            Self::Text(word) => word,
            Self::Path => "FILE",
            Self::Duration => "DURATION",
            Self::Choice(_) => "WORD",
        }
    }

    /// What people are shown for the value: a choice's words, else the placeholder.
    #[must_use]
    pub(crate) fn shown(self) -> String {
        match self {
            Self::Choice(words) => words.join("|"),
            other => other.placeholder().to_owned(),
        }
    }
}

/// The dialects that know a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Vegeta's flag, understood natively as well.
    Both,
    /// Ours alone.
    Native,
    /// Vegeta's alone.
    Vegeta,
}

impl Scope {
    /// A dialect (`Native` or `Vegeta`) knows flags of this scope.
    #[must_use]
    pub(crate) fn is_known_to(self, dialect: Self) -> bool {
        self == Self::Both || self == dialect
    }
}

/// A row and what it sets in `T`, the command's typed flags.
pub(crate) struct Flag<T> {
    /// The row.
    pub(crate) row: Row,
    /// Sets the value; a switch gets `true` or `false`.
    pub(crate) set: fn(&mut T, &str) -> Result<(), Wrong>,
}

impl<T> Clone for Flag<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Flag<T> {}

impl<T> Flag<T> {
    /// A flag of Vegeta's that we understand natively as well.
    pub(crate) const fn new(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        docs: &'static str,
        set: fn(&mut T, &str) -> Result<(), Wrong>,
    ) -> Self {
        Self { row: Row { name, aliases: &[], kind, default, docs, scope: Scope::Both }, set }
    }

    /// The same flag, of our own dialect alone.
    pub(crate) const fn native(mut self) -> Self {
        self.row.scope = Scope::Native;
        self
    }

    /// The same flag, of Vegeta's dialect alone.
    pub(crate) const fn vegeta(mut self) -> Self {
        self.row.scope = Scope::Vegeta;
        self
    }

    /// The same flag with further names.
    pub(crate) const fn also(mut self, aliases: &'static [&'static str]) -> Self {
        self.row.aliases = aliases;
        self
    }

    /// Its name is this, in this dialect.
    pub(crate) fn is_called(&self, name: &str, dialect: Scope) -> bool {
        self.row.scope.is_known_to(dialect)
            && (self.row.name == name || self.row.aliases.contains(&name))
    }
}

/// A flag that keeps its text, in a `String` or an `Option<String>`: the flags' type, name, value's name, docs, field.
macro_rules! text {
    ($flags:ty, $name:literal, $value:literal, $docs:literal, $field:ident) => {
        $crate::flags::Flag::new(
            $name,
            $crate::flags::Kind::Text($value),
            "",
            $docs,
            |flags: &mut $flags, text| {
                flags.$field = text.to_owned().into();
                Ok(())
            },
        )
    };
}

/// A switch: the flags' type, name, docs, field.
macro_rules! switch {
    ($flags:ty, $name:literal, $docs:literal, $field:ident) => {
        $crate::flags::Flag::new(
            $name,
            $crate::flags::Kind::Switch,
            "",
            $docs,
            |flags: &mut $flags, text| {
                $crate::flags::value::switch(text).map(|on| flags.$field = on)
            },
        )
    };
}

pub(super) use {switch, text};
