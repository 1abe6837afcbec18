//! Where the loader gets the table of built-in modules: k6's.

use std::rc::Rc;
use std::sync::Arc;

use users::Host;

use crate::api::table::K6;
use crate::loader::files::{Files, Secrets};
use crate::loader::program::{CompileError, Program, Script};
use crate::runtime::environment::Env;

impl Program {
    /// Compiles the module of this full name and all it imports, and runs them once, as the first VU would.
    ///
    /// # Errors
    /// A module cannot be read, is wrong or throws.
    pub fn compile(
        main: &str,
        env: Env,
        files: Rc<dyn Files>,
        host: Rc<dyn Host>,
    ) -> Result<Self, CompileError> {
        Self::compile_with(main, env, files, host, None)
    }

    /// [`compile`](Self::compile), with secrets that the script may ask for.
    ///
    /// # Errors
    /// The same.
    pub fn compile_with(
        main: &str,
        env: Env,
        files: Rc<dyn Files>,
        host: Rc<dyn Host>,
        secrets: Option<Arc<dyn Secrets>>,
    ) -> Result<Self, CompileError> {
        Self::compile_script(Script { main, env, files, secrets, builtins: &K6 }, host)
    }
}
