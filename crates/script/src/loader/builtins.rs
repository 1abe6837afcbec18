//! `Builtins`: the table of the modules that are built in. The loader gets it as a value and knows none of them.

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
    /// Libraries that scripts import by address and that are answered by texts of ours: how the address begins, the text.
    pub(crate) libraries: &'static [(&'static str, &'static str)],
    /// Gives a context the globals that all its VUs share.
    pub(crate) install_globals: for<'js> fn(&Ctx<'js>, &Env) -> Result<()>,
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

    /// The text of the library at this address, if it is one of ours.
    pub(super) fn library(&self, name: &str) -> Option<&'static str> {
        let library = self.libraries.iter().find(|(address, _)| name.starts_with(address));
        library.map(|(_, text)| *text)
    }

    /// The module of this name, if there is one.
    pub(super) fn declare<'js>(
        &self,
        ctx: &Ctx<'js>,
        name: &str,
    ) -> Option<Result<Module<'js, Declared>>> {
        if let Some(text) = self.library(name) {
            return Some(Module::declare(ctx.clone(), name, text));
        }
        let (_, declare) = self.modules.iter().find(|(known, _)| *known == name)?;
        Some(declare(ctx.clone(), name))
    }
}
