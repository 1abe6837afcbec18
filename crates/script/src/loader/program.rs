//! `Program`: a script with all it imports, compiled once for every VU.

use std::rc::Rc;
use std::sync::Arc;

use rquickjs::loader::{Loader, Resolver};
use rquickjs::{Context, Ctx, Error, Function, Module, Object, Runtime, Value};
use thiserror::Error;
use users::{Exception, Host, MetricRegistry};

use super::builtins::Builtins;
use super::module_loader::{ModuleFiles, ModuleResolver};
use super::source::Kind;
use super::store::Store;
use super::unit::unit;
use super::{commonjs, module_name, resolve};
use crate::loader::files::{Files, Secrets};
use crate::runtime::caught::caught_init;
use crate::runtime::context::VuContext;
use crate::runtime::current::{self, Current, vu_of};
use crate::runtime::environment::Env;
use crate::runtime::go_json::go_json;
use crate::runtime::{deep_stack, ffi, run_loop};

/// A script with all it imports, compiled: what VUs are made from. It may be shared between threads.
#[derive(Clone, Debug)]
pub struct Program {
    main: String,
    store: Arc<Store>,
    /// Its `options` as JSON; `None` where it exports none.
    pub options: Option<String>,
    /// The functions it exports, `default` among them.
    pub functions: Vec<String>,
    /// The metrics it declares.
    pub metrics: MetricRegistry,
    /// What stands above its own `options`, as JSON: a VU finds it written into them. `None` for nothing.
    pub options_above: Option<Arc<str>>,
    env: Env,
}

/// A script that is to be compiled.
pub(crate) struct Script<'a> {
    /// The full name or the path of its main module.
    pub(crate) main: &'a str,
    /// Its environment.
    pub(crate) env: Env,
    /// Where its files are.
    pub(crate) files: Rc<dyn Files>,
    /// The secrets that it may ask for.
    pub(crate) secrets: Option<Arc<dyn Secrets>>,
    /// The modules that are built in.
    pub(crate) builtins: &'static Builtins,
}

/// Why a script cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CompileError {
    /// Its modules threw, or are no JavaScript.
    #[error("{0}")]
    Thrown(Exception),
    /// Its options cannot be JSON: they contain a function, or `NaN`.
    #[error("error parsing script options: json: {0}")]
    Options(&'static str),
    /// The JavaScript engine could not be started.
    #[error("QuickJS: {0}")]
    Engine(String),
}

/// The stack that a program is compiled on, and run for the first time: 1 GiB.
const STACK_BYTES: usize = 1 << 30;
/// The most memory that the modules may take while they are compiled and run once: 1 GiB.
const MEMORY_MAX: usize = 1 << 30;
/// What they may in any case, so that they can say that none is left: 1 MiB.
const MEMORY_RESERVE: usize = 1 << 20;

impl Program {
    /// Compiles a script's main module and all it imports, and runs them once, as the first VU would.
    ///
    /// # Errors
    /// A module cannot be read, is wrong or throws.
    pub(crate) fn compile_script(
        script: Script<'_>,
        host: Rc<dyn Host>,
    ) -> Result<Self, CompileError> {
        // QuickJS takes its stack's top from where the runtime is made.
        deep_stack::within(STACK_BYTES, |bytes| Self::compile_here(script, host, bytes / 4 * 3))
    }

    fn compile_here(
        script: Script<'_>,
        host: Rc<dyn Host>,
        parser_stack_bytes: usize,
    ) -> Result<Self, CompileError> {
        let Script { main, env, files, secrets, builtins } = script;
        let store = Store::new(builtins, secrets, parser_stack_bytes);
        let engine = |error: Error| CompileError::Engine(error.to_string());
        let runtime = Runtime::new().map_err(engine)?;
        runtime.set_memory_limit(memory_max().0);
        let store = Arc::new(store);
        runtime.set_loader(
            ModuleResolver { store: Arc::clone(&store) },
            ModuleFiles { store: Arc::clone(&store) },
        );
        let context = Context::full(&runtime).map_err(engine)?;
        let _reachable = ffi::Reachable::new(&context);
        let vu = Rc::new(VuContext::new(host, Rc::default()));
        vu.files.replace(Some(files));
        let asked = Rc::clone(&vu);
        runtime.set_interrupt_handler(Some(Box::new(move || asked.interrupts())));
        let main = resolve::url_of(main);
        let current = Rc::new(Current::only(&vu));
        let (options, functions) = context.with(|ctx| {
            current::install(&ctx, &current)
                .and_then(|()| (builtins.install_globals)(&ctx, &env))
                // k6's number of the VU that runs a script for the first time.
                .and_then(|()| ctx.globals().set("__VU", 0))
                .and_then(|()| init(&ctx, &store, &main))
                .and_then(|module| exports(&ctx, &module))
                .map_err(|error| CompileError::Thrown(caught_init(&ctx, error, &memory_max().1)))
        })?;
        let (options, wrong) = options;
        if let Some(wrong) = wrong {
            return Err(CompileError::Options(wrong));
        }
        vu.files.replace(None);
        let metrics = vu.registry.take();
        Ok(Self { main, store, options, functions, metrics, options_above: None, env })
    }

    /// Loads the modules into a context whose VUs will share their bytecode.
    pub(crate) fn load(&self, ctx: &Ctx<'_>) -> rquickjs::Result<()> {
        let names = self.store.names().into_iter();
        let imports = names.map(|name| {
            let name = serde_json::to_string(&module_name::exact(&name)).unwrap_or_default();
            format!("import {name};")
        });
        // To declare it loads what it imports, and runs nothing.
        Module::declare(ctx.clone(), "brunt:all", imports.collect::<String>()).map(drop)
    }

    /// Runs a VU's instances of the modules.
    ///
    /// # Errors
    /// They throw, as they did not the first time.
    pub(crate) fn start<'js>(
        &self,
        ctx: &Ctx<'js>,
        vu: &VuContext,
    ) -> rquickjs::Result<Object<'js>> {
        *vu.registry.borrow_mut() = self.metrics.clone();
        let exports = init(ctx, &self.store, &self.main)?;
        if let Some(above) = &self.options_above {
            overwrite(ctx, &exports.get("options")?, above)?;
        }
        Ok(exports)
    }

    /// Gives a context the globals that all its VUs share.
    pub(crate) fn install_globals(&self, ctx: &Ctx<'_>) -> rquickjs::Result<()> {
        (self.store.builtins.install_globals)(ctx, &self.env)
    }

    /// Where a context finds the modules.
    pub(crate) fn loaders(&self) -> (impl Resolver + 'static, impl Loader + 'static) {
        (
            ModuleResolver { store: Arc::clone(&self.store) },
            ModuleFiles { store: Arc::clone(&self.store) },
        )
    }
}

/// How much the modules may hold while they are compiled and run once, and what bounds it, in words.
fn memory_max() -> (usize, String) {
    let left = stdx::memory_left();
    if left < MEMORY_MAX {
        return (left.max(MEMORY_RESERVE), stdx::memory_limit_in_words());
    }
    (MEMORY_MAX, format!("{} MiB before the test", MEMORY_MAX >> 20))
}

/// Something of the script was kept beside its modules, which run for the first time: they have less room.
pub(crate) fn leave_room(ctx: &Ctx<'_>) {
    ffi::limit_memory(ctx, memory_max().0);
}

/// Gives a VU what is its own, and runs its modules; gives what the main one exports.
fn init<'js>(ctx: &Ctx<'js>, store: &Arc<Store>, main: &str) -> rquickjs::Result<Object<'js>> {
    vu_of(ctx)?.store.get_or_init(|| Arc::clone(store));
    ctx.globals().set("global", ctx.globals())?;
    if unit(ctx, store, main, main, None)?.source.kind == Kind::CommonJs {
        let exports = commonjs::load(ctx, main)?;
        return exports.into_object().map_or_else(|| Object::new(ctx.clone()), Ok);
    }
    let vu = vu_of(ctx)?;
    let ran = Module::import(ctx, module_name::exact(main))?;
    run_loop::run_init(ctx, &vu)?;
    let exports = ran.finish::<Object<'js>>();
    vu.events.clear();
    exports
}

/// Writes what counts into the `options` that a script exports, as k6 does; one that is frozen stays as it is.
fn overwrite<'js>(ctx: &Ctx<'js>, options: &Value<'js>, above: &str) -> rquickjs::Result<()> {
    let Some(options) = options.as_object() else { return Ok(()) };
    let above: Value<'js> = ctx.json_parse(above)?;
    let Some(above) = above.as_object() else { return Ok(()) };
    let reflect: Object<'js> = ctx.globals().get("Reflect")?;
    let set: Function<'js> = reflect.get("set")?;
    for field in above.props::<Value<'js>, Value<'js>>() {
        let (name, value) = field?;
        set.call::<_, bool>((options.clone(), name, value))?;
    }
    Ok(())
}

/// What the main module exports: its options as JSON, with what of them cannot be any, and its functions.
fn exports<'js>(
    ctx: &Ctx<'js>,
    module: &Object<'js>,
) -> rquickjs::Result<((Option<String>, Option<&'static str>), Vec<String>)> {
    let options: Value<'js> = module.get("options")?;
    let options = if options.is_undefined() { (None, None) } else { go_json(ctx, options)? };
    let mut functions = Vec::new();
    for export in module.props::<String, Value<'js>>() {
        let (name, value) = export?;
        if value.is_function() && name != "options" {
            functions.push(name);
        }
    }
    Ok((options, functions))
}
