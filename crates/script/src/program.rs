//! `Program`: a script with all it imports, compiled once for every VU.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared as Unlinked;
use rquickjs::{Context, Ctx, Error, Module, Object, Runtime, Value};
use thiserror::Error;

use crate::exception::Exception;
use crate::host::{Files, Host};
use crate::raw::{self, Bytecode};
use crate::realm::Current;
use crate::registry::Registry;
use crate::seat::Seat;
use crate::{globals, modules, resolve};

/// A script with all it imports, compiled: what VUs are made from. It may be shared between threads.
#[derive(Clone, Debug)]
pub struct Program {
    main: String,
    modules: Arc<HashMap<String, Bytecode>>,
    /// Its `options` as JSON; `None` where it exports none.
    pub options: Option<String>,
    /// The functions it exports, `default` among them.
    pub functions: Vec<String>,
    /// The metrics it declares.
    pub metrics: Registry,
    pub(crate) env: Env,
}

/// The environment of scripts, `__ENV`.
pub type Env = Arc<Vec<(String, String)>>;

/// Why a script cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CompileError {
    /// Its modules threw, or are no JavaScript.
    #[error("{0}")]
    Thrown(Exception),
    /// The JavaScript engine could not be started.
    #[error("QuickJS: {0}")]
    Engine(String),
}

/// The most memory that the modules may take while they are compiled and run once: 1 GiB.
const MEMORY_MAX: usize = 1 << 30;

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
        let engine = |error: Error| CompileError::Engine(error.to_string());
        let runtime = Runtime::new().map_err(engine)?;
        runtime.set_memory_limit(MEMORY_MAX);
        let compiled = Rc::new(RefCell::new(HashMap::new()));
        let loader = Compiler { files, compiled: Rc::clone(&compiled) };
        runtime.set_loader(ByName, loader);
        let context = Context::full(&runtime).map_err(engine)?;
        let seat = Rc::new(Seat::new(host));
        let current = Rc::new(Current::only(&seat));
        let (options, functions) = context.with(|ctx| {
            modules::install(&ctx, &current)
                .and_then(|()| init(&ctx, &env, main))
                .and_then(|module| exports(&ctx, &module))
                .map_err(|error| CompileError::Thrown(Exception::of(&ctx, error)))
        })?;
        let (modules, metrics) = (Arc::new(compiled.take()), seat.registry.take());
        Ok(Self { main: main.to_owned(), modules, options, functions, metrics, env })
    }

    /// Loads the modules into a context whose VUs will share their bytecode.
    pub(crate) fn load(&self, ctx: &Ctx<'_>) -> rquickjs::Result<()> {
        match self.modules.get(&self.main) {
            Some(main) => raw::load(ctx.clone(), main).map(drop),
            None => Ok(()),
        }
    }

    /// Runs a VU's instances of the modules.
    ///
    /// # Errors
    /// They throw, as they did not the first time.
    pub(crate) fn start<'js>(&self, ctx: &Ctx<'js>, seat: &Seat) -> rquickjs::Result<Object<'js>> {
        *seat.registry.borrow_mut() = self.metrics.clone();
        init(ctx, &self.env, &self.main)
    }

    /// Where a context finds the modules.
    pub(crate) fn loaders(&self) -> (impl Resolver + 'static, impl Loader + 'static) {
        (ByName, Compiled { modules: Arc::clone(&self.modules) })
    }
}

/// Sets a VU's own globals and runs its modules.
fn init<'js>(ctx: &Ctx<'js>, env: &Env, main: &str) -> rquickjs::Result<Object<'js>> {
    globals::install_own(ctx, env)?;
    import(ctx, main)
}

/// Runs a module with all it imports; gives what it exports.
fn import<'js>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Object<'js>> {
    // The main module is named in full already; `./` would make it relative.
    Module::import(ctx, name)?.finish::<Object<'js>>()
}

fn exports<'js>(
    ctx: &Ctx<'js>,
    module: &Object<'js>,
) -> rquickjs::Result<(Option<String>, Vec<String>)> {
    let options: Value<'js> = module.get("options")?;
    let options = match ctx.json_stringify(options)? {
        Some(text) => Some(text.to_string()?),
        None => None,
    };
    let mut functions = Vec::new();
    for export in module.props::<String, Value<'js>>() {
        let (name, value) = export?;
        if value.is_function() {
            functions.push(name);
        }
    }
    Ok((options, functions))
}

/// Resolves names; the main module's is whole already.
struct ByName;

impl Resolver for ByName {
    fn resolve<'js>(
        &mut self,
        _ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        if base.is_empty() {
            return Ok(name.to_owned());
        }
        resolve::resolve(base, name)
            .map_err(|reason| Error::new_resolving_message(base, name, reason))
    }
}

/// Reads and compiles modules, and keeps what they were compiled to.
struct Compiler {
    files: Rc<dyn Files>,
    compiled: Rc<RefCell<HashMap<String, Bytecode>>>,
}

impl Loader for Compiler {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Unlinked>> {
        if let Some(module) = modules::declare(ctx, name) {
            return module;
        }
        let source =
            self.files.read(name).map_err(|reason| Error::new_loading_message(name, reason))?;
        let module = Module::declare(ctx.clone(), name, source)?;
        self.compiled.borrow_mut().insert(name.to_owned(), raw::compiled(&module)?);
        Ok(module)
    }
}

/// Knows the modules that were compiled, and no others.
struct Compiled {
    modules: Arc<HashMap<String, Bytecode>>,
}

impl Loader for Compiled {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Unlinked>> {
        if let Some(module) = modules::declare(ctx, name) {
            return module;
        }
        let reason = "it was not imported when the script was first run";
        let bytecode =
            self.modules.get(name).ok_or_else(|| Error::new_loading_message(name, reason))?;
        raw::load(ctx.clone(), bytecode)
    }
}
