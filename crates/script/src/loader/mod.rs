//! From files to a compiled program: which file an import means, TypeScript and CommonJS made ES modules, bytecode, source maps.

pub(crate) mod builtins;
pub(crate) mod commonjs;
pub(crate) mod files;
pub(crate) mod module_error;
mod module_loader;
mod module_name;
mod module_url;
mod names;
mod nesting;
pub(crate) mod open;
pub(crate) mod prepare;
pub(crate) mod program;
mod resolve;
pub(crate) mod running;
mod source;
pub(crate) mod source_map;
pub(crate) mod store;
mod typescript;
mod typescript_syntax;
mod unfetched;
mod unit;
