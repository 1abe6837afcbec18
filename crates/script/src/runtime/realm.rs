//! `Realm`: what the VUs of one thread share: a QuickJS runtime and context with the built-in objects, the built-in modules and
//! the script's bytecode. Each VU is a fiber of it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use rquickjs::{Context, Ctx, Runtime};
use stdx::MemoryShare;
use users::Exception;

use crate::loader::program::Program;
use crate::runtime::context::VuContext;
use crate::runtime::current::{self, Current};
use crate::runtime::deep_stack::{RUN_STACK_BYTES, VU_JS_STACK_BYTES};
use crate::runtime::ffi::{self, Fiber, Reachable, StackBytes};
use crate::runtime::known_urls::KnownUrls;
use crate::runtime::run_loop;

/// The VUs of a realm together may hold this much: 4 GiB, and no more than the thread's part of what the process may.
const MEMORY_MAX: usize = 4 << 30;
/// A VU may take this much more between two of its waits: 512 MiB.
const MEMORY_STEP_MAX: usize = 512 << 20;
/// What a realm may take once where none is left, so that it can say so and end: 1 MiB, of what is not counted.
const MEMORY_RESERVE: usize = 1 << 20;
/// A realm gives back what it holds no longer from here on, so that one that wavers does not change what threads share: 2 MiB.
const MEMORY_SLACK: usize = 2 << 20;

/// What the VUs of one thread share. It is made of a program, and outlives its VUs.
pub struct Realm {
    _reachable: Reachable,
    context: Context,
    _runtime: Runtime,
    current: Rc<Current>,
    pub(crate) program: Program,
    pub(crate) urls: Rc<KnownUrls>,
    /// What it holds, of what the process may.
    memory: RefCell<MemoryShare>,
    /// What it held when nothing was left, after its garbage was collected.
    held_at_most: Cell<Option<usize>>,
    /// How many realms take what is left of that at the same time.
    threads: usize,
}

impl fmt::Debug for Realm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Realm").finish_non_exhaustive()
    }
}

impl Realm {
    /// Loads a program; runs none of it.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn new(program: &Program) -> Result<Rc<Self>, Exception> {
        Self::beside(program, 1)
    }

    /// As [`Realm::new`], where so many threads have a realm each: they share what the process may hold.
    ///
    /// # Errors
    /// There is no memory for it.
    pub(crate) fn beside(program: &Program, threads: usize) -> Result<Rc<Self>, Exception> {
        Self::prepared(program, threads.max(1))
            .map_err(|error| Exception::internal(format!("no room for a script: {error}")))
    }

    fn prepared(program: &Program, threads: usize) -> rquickjs::Result<Rc<Self>> {
        let runtime = Runtime::new()?;
        runtime.set_memory_limit(MEMORY_MAX.min(stdx::memory_limit() / threads));
        let current = Rc::new(Current::default());
        let asked = Rc::clone(&current);
        runtime.set_interrupt_handler(Some(Box::new(move || {
            asked.vu().is_some_and(|vu| vu.interrupts())
        })));
        runtime.set_host_promise_rejection_tracker(Some(Box::new(
            |ctx, promise, reason, handled| {
                run_loop::note_rejection(&ctx, promise, reason, handled);
            },
        )));
        let (resolver, loader) = program.loaders();
        runtime.set_loader(resolver, loader);
        let context = Context::full(&runtime)?;
        let reachable = Reachable::new(&context);
        context.with(|ctx| {
            current::install(&ctx, &current)?;
            program.install_globals(&ctx)?;
            let stack = StackBytes { during: RUN_STACK_BYTES, after: VU_JS_STACK_BYTES };
            // From here on JavaScript runs on the stacks of VUs.
            ffi::with_stack(&ctx, stack, || program.load(&ctx))
        })?;
        let program = program.clone();
        let (memory, held_at_most) = (RefCell::default(), Cell::default());
        Ok(Rc::new(Self {
            _reachable: reachable,
            context,
            _runtime: runtime,
            current,
            program,
            urls: Rc::default(),
            memory,
            held_at_most,
            threads,
        }))
    }

    /// A fiber for one more VU.
    pub(crate) fn fiber(&self) -> Option<Fiber> {
        Fiber::new(&self.context)
    }

    /// Makes a VU the one that runs while `body` runs, which switches to the VU's stack.
    pub(crate) fn within<T>(
        &self,
        fiber: &Fiber,
        vu: &Rc<VuContext>,
        body: impl FnOnce() -> T,
    ) -> T {
        let before = self.current.replace(Some(Rc::clone(vu)));
        let done = fiber.within(self.room(), body);
        self.hold_memory();
        self.current.replace(before);
        done
    }

    /// By how much it may grow until its VU waits. Messages, bodies and pages take of the same memory.
    fn room(&self) -> usize {
        let left = || (stdx::memory_left() / self.threads).min(MEMORY_STEP_MAX);
        let room = left();
        if room >= MEMORY_RESERVE {
            self.held_at_most.set(None);
            return room;
        }
        let grown = |most| ffi::held_memory(&self.context) > most + MEMORY_RESERVE / 2;
        let known = self.held_at_most.get();
        if known.is_none_or(grown) {
            ffi::collect_garbage(&self.context);
            self.hold_memory();
        }
        let most = known.unwrap_or_else(|| ffi::held_memory(&self.context));
        self.held_at_most.set(Some(most));
        let reserve = (most + MEMORY_RESERVE).saturating_sub(ffi::held_memory(&self.context));
        left().max(reserve)
    }

    /// What bounds what a VU may take, in words.
    pub(crate) fn bound(&self) -> String {
        let left = stdx::memory_left() / self.threads;
        if left >= MEMORY_STEP_MAX && stdx::memory_limit() / self.threads >= MEMORY_MAX {
            let [step, all] = [MEMORY_STEP_MAX, MEMORY_MAX].map(|bytes| bytes >> 20);
            return format!("{step} MiB for a user at once, {all} MiB for those of a thread");
        }
        stdx::memory_limit_in_words()
    }

    /// Counts what it holds now.
    fn hold_memory(&self) {
        let (held, mut memory) = (ffi::held_memory(&self.context), self.memory.borrow_mut());
        let taken = memory.taken();
        if held > taken || held + MEMORY_SLACK < taken {
            memory.hold(held);
        }
    }

    /// Hands out the context to the code of a fiber, on its own stack.
    pub(crate) fn on_stack<T>(&self, body: impl for<'js> FnOnce(Ctx<'js>) -> T) -> T {
        ffi::on_stack(&self.context, body)
    }
}
