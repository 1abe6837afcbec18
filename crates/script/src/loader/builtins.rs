//! `Builtins`: the table of the modules that are built in. The loader gets it as a value and knows none of them.

use std::borrow::Cow;
use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::DeflateDecoder;
use rquickjs::module::Declared;
use rquickjs::{Ctx, Module, Result};

use crate::runtime::environment::Env;

/// Declares a module under a name.
pub(crate) type Declare = for<'js> fn(Ctx<'js>, &str) -> Result<Module<'js, Declared>>;

/// The modules that are built in, and the globals.
pub(crate) struct Builtins {
    /// The modules by their names.
    pub(crate) modules: &'static [(&'static str, Declare)],
    /// Names of modules that do not exist here, each with the reason: it follows the name in the error.
    pub(crate) removed: &'static [(&'static str, &'static str)],
    /// Libraries that scripts import by address and that are answered without a network.
    pub(crate) libraries: &'static [Library],
    /// Gives a context the globals that all its VUs share.
    pub(crate) install_globals: for<'js> fn(&Ctx<'js>, &Env) -> Result<()>,
}

/// A library that scripts import by address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Library {
    /// How its address begins; where there is a `*`, what stands for it is any text, and what follows is the address's end.
    pub(crate) address: &'static str,
    /// Its text.
    pub(crate) text: LibraryText,
}

/// The text of a library.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LibraryText {
    /// As it is.
    Plain(&'static str),
    /// Deflated (RFC 1951), in base64: it is unpacked where a script imports it.
    Packed(&'static str),
}

impl Library {
    fn is_at(&self, address: &str) -> bool {
        let Some((start, end)) = self.address.split_once('*') else {
            return address.starts_with(self.address);
        };
        let rest = address.strip_prefix(start);
        rest.is_some_and(|rest| rest.len() > end.len() && rest.ends_with(end))
    }
}

impl LibraryText {
    fn plain(self) -> Cow<'static, str> {
        match self {
            Self::Plain(text) => Cow::Borrowed(text),
            Self::Packed(packed) => {
                let bytes = STANDARD.decode(packed.trim_end()).expect("xtask web checks it");
                let mut text = String::new();
                let read = DeflateDecoder::new(&*bytes).read_to_string(&mut text);
                read.expect("xtask web checks it");
                Cow::Owned(text)
            }
        }
    }
}

impl Builtins {
    /// Whether there is a module of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.modules.iter().any(|(known, _)| *known == name)
    }

    /// Why there is no module of this name.
    pub(super) fn missing(&self, name: &str) -> String {
        match self.removed.iter().find(|(removed, _)| *removed == name) {
            Some((_, why)) => format!("{name} {why}"),
            None => format!("unknown module: {name}"),
        }
    }

    /// Whether a library of ours answers this address.
    pub(super) fn has_library(&self, address: &str) -> bool {
        self.libraries.iter().any(|library| library.is_at(address))
    }

    /// The text of the library at this address, if it is one of ours.
    pub(super) fn library(&self, address: &str) -> Option<Cow<'static, str>> {
        let library = self.libraries.iter().find(|library| library.is_at(address))?;
        Some(library.text.plain())
    }

    /// The addresses of the libraries that are other versions of what lies at this address.
    pub(super) fn kin(&self, address: &str) -> impl Iterator<Item = &'static str> {
        // `https://host/name/`: the version follows.
        let end = address.match_indices('/').nth(3).map_or(0, |(at, _)| at + 1);
        let start = address[..end].to_owned();
        let addresses = self.libraries.iter().map(|library| library.address);
        addresses.filter(move |known| !start.is_empty() && known.starts_with(&start))
    }

    /// The module of this name, if there is one.
    pub(super) fn declare<'js>(
        &self,
        ctx: &Ctx<'js>,
        name: &str,
    ) -> Option<Result<Module<'js, Declared>>> {
        let (_, declare) = self.modules.iter().find(|(known, _)| *known == name)?;
        Some(declare(ctx.clone(), name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_prefixes_or_have_one_gap() {
        let at = |address| Library { address, text: LibraryText::Plain("") };
        for (address, asked, is) in [
            ("https://h/a/1.0.0/", "https://h/a/1.0.0/index.js", true),
            ("https://h/a/1.0.0/", "https://h/a/1.0.01/index.js", false),
            ("https://h/r/*/bundle.js", "https://h/r/main/bundle.js", true),
            ("https://h/r/*/bundle.js", "https://h/r/refs/tags/2/bundle.js", true),
            ("https://h/r/*/bundle.js", "https://h/r/bundle.js", false),
            ("https://h/r/*/bundle.js", "https://h/r/main/other.js", false),
        ] {
            assert_eq!(at(address).is_at(asked), is, "{address} {asked}");
        }
    }

    #[test]
    fn every_library_can_be_read() {
        for library in crate::api::table::K6.libraries {
            assert!(!library.text.plain().is_empty(), "{}", library.address);
        }
    }
}
