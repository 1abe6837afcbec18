//! What QuickJS and the coroutines leave to us: a way back out of a coroutine that functions of the script may hold, trust in
//! bytecode that is our own, and the word that types of ours hold nothing of JavaScript's. No other file of this crate holds
//! `unsafe`.
#![expect(unsafe_code, reason = "each use says why it is sound")]

use std::any::Any;
use std::cell::Cell;
use std::ptr;
use std::rc::Rc;

use corosensei::Yielder;
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::Constructor;
use rquickjs::module::Declared;
use rquickjs::{ArrayBuffer, Ctx, JsLifetime, Module, Object, Result};

use crate::action::{Expects, HttpAnswer};
use crate::modules::{Request, prototype};
use crate::seat::Seat;
use crate::vu::{Said, Told};

/// The way out of a VU's coroutine, held by what the script calls.
#[derive(Debug)]
pub(crate) struct Suspender {
    /// Null outside of [`within`](Self::within).
    yielder: Cell<*const Yielder<Told, Said>>,
}

impl Suspender {
    pub(crate) fn new() -> Self {
        Self { yielder: Cell::new(ptr::null()) }
    }

    /// Runs `body`; in it, and only there, [`suspend`](Self::suspend) works.
    pub(crate) fn within<T>(&self, yielder: &Yielder<Told, Said>, body: impl FnOnce() -> T) -> T {
        self.yielder.set(yielder);
        let done = body();
        self.yielder.set(ptr::null());
        done
    }

    /// Leaves the coroutine and comes back with what is told then.
    ///
    /// # Panics
    /// The VU's coroutine is not running.
    pub(crate) fn suspend(&self, said: Said) -> Told {
        let yielder = self.yielder.get();
        assert!(!yielder.is_null(), "a script runs on its coroutine only");
        // SAFETY: the pointer is set for the time of `within`, whose borrow of the yielder outlives it. It is not Send and
        // the VU neither, so this is the thread of the coroutine; and only code on the coroutine runs between `within`'s two
        // stores, since a VU's runtime lives on its coroutine's stack and is entered from there alone.
        unsafe { &*yielder }.suspend(said)
    }
}

/// A module from the bytecode of [`compiled`].
pub(crate) fn load<'js>(ctx: Ctx<'js>, bytecode: &Bytecode) -> Result<Module<'js, Declared>> {
    // SAFETY: `Bytecode` is made by `compiled` alone, in this process and by this very QuickJS, and never changes.
    unsafe { Module::load(ctx, &bytecode.0) }
}

/// What a module was compiled to.
#[derive(Clone, Debug)]
pub(crate) struct Bytecode(Box<[u8]>);

/// Compiles a module.
pub(crate) fn compiled(module: &Module<'_, Declared>) -> Result<Bytecode> {
    module.write(rquickjs::module::WriteOptions::default()).map(|bytes| Bytecode(bytes.into()))
}

/// The bytes of a buffer; none of a detached one.
pub(crate) fn copied(buffer: &ArrayBuffer<'_>) -> Vec<u8> {
    // SAFETY: no JavaScript runs before the slice is copied.
    unsafe { buffer.as_bytes() }.unwrap_or_default().to_vec()
}

/// A VU's seat, as its context holds it.
pub(crate) struct SeatRef(pub(crate) Rc<Seat>);

// SAFETY: it holds nothing with JavaScript's lifetime.
unsafe impl JsLifetime<'_> for SeatRef {
    type Changed<'to> = Self;
}

/// Something of ours that a script holds without seeing into it.
pub(crate) struct Held(pub(crate) Rc<dyn Any>);

// SAFETY: it holds nothing with JavaScript's lifetime: `Any` is `'static`.
unsafe impl JsLifetime<'_> for Held {
    type Changed<'to> = Self;
}

impl Trace<'_> for Held {
    fn trace<'a>(&self, _tracer: Tracer<'a, '_>) {}
}

impl<'js> JsClass<'js> for Held {
    const NAME: &'static str = "Held";
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        Object::new(ctx.clone()).map(Some)
    }

    fn constructor(_ctx: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

/// A response, as a script holds it.
pub(crate) struct Response {
    pub(crate) answer: Box<HttpAnswer>,
    pub(crate) asked: Request,
    pub(crate) expects: Expects,
}

// SAFETY: it holds nothing with JavaScript's lifetime.
unsafe impl JsLifetime<'_> for Response {
    type Changed<'to> = Self;
}

impl Trace<'_> for Response {
    fn trace<'a>(&self, _tracer: Tracer<'a, '_>) {}
}

impl<'js> JsClass<'js> for Response {
    const NAME: &'static str = "Response";
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        prototype(ctx).map(Some)
    }

    fn constructor(_ctx: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}
