//! From files to a compiled program: which file an import means, TypeScript and CommonJS made ES modules, bytecode, source maps.

pub(crate) mod commonjs;
pub(crate) mod module_loader;
mod nesting;
pub(crate) mod program;
pub(crate) mod resolve;
pub(crate) mod source;
pub(crate) mod source_map;
pub(crate) mod store;
mod typescript;
mod typescript_syntax;
