//! What QuickJS and the coroutines leave to us: a way back out of a coroutine that functions of the script may hold, trust in
//! bytecode that is our own, strings and fields where they lie, and the word that types of ours hold nothing of JavaScript's. No
//! other file of this crate holds `unsafe`.
#![expect(unsafe_code, reason = "each use says why it is sound")]

use std::any::Any;
use std::cell::Cell;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::{slice, str};

use corosensei::Yielder;
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::Constructor;
use rquickjs::module::Declared;
use rquickjs::{
    ArrayBuffer, Context, Ctx, Error, Exception, FromJs, JsLifetime, Module, Object, Result, Value,
    qjs,
};

/// The way out of a VU's coroutine, held by what the script calls.
#[derive(Debug)]
pub(crate) struct Suspender<In, Out> {
    /// Null outside of [`within`](Self::within).
    yielder: Cell<*const Yielder<In, Out>>,
}

impl<In, Out> Suspender<In, Out> {
    pub(crate) fn new() -> Self {
        Self { yielder: Cell::new(ptr::null()) }
    }

    /// Runs `body`; in it, and only there, [`suspend`](Self::suspend) works.
    pub(crate) fn within<T>(&self, yielder: &Yielder<In, Out>, body: impl FnOnce() -> T) -> T {
        let _back = Back { yielder: self.yielder.replace(yielder), to: &self.yielder };
        body()
    }

    /// Leaves the coroutine with `out`; returns what the coroutine is resumed with.
    ///
    /// # Panics
    /// The VU's coroutine is not running.
    pub(crate) fn suspend(&self, out: Out) -> In {
        let yielder = self.yielder.get();
        assert!(!yielder.is_null(), "a script runs on its coroutine only");
        // SAFETY: the pointer is set for the time of `within`, whose borrow of the yielder outlives it. It is not Send and
        // the VU neither, so this is the thread of the coroutine; and only code on the coroutine runs between `within`'s two
        // stores, since a VU's runtime lives on its coroutine's stack and is entered from there alone.
        unsafe { &*yielder }.suspend(out)
    }

    /// Runs `body` on the stack of the worker's thread, which a VU's own is small beside; where no coroutine runs, in place.
    /// In it nothing suspends and no JavaScript runs: what it takes is `Send`, which JavaScript's values are not.
    pub(crate) fn on_worker_stack<T>(&self, body: impl FnOnce() -> T + Send) -> T {
        let yielder = self.yielder.replace(ptr::null());
        if yielder.is_null() {
            return body();
        }
        let _back = Back { yielder, to: &self.yielder };
        // SAFETY: as in `suspend`. The thread's stack is free below where it resumed the coroutine, which does not go back to
        // it before `body` has ended.
        unsafe { &*yielder }.on_parent_stack(body)
    }
}

/// Puts the yielder back, also where a panic passes.
struct Back<'a, In, Out> {
    yielder: *const Yielder<In, Out>,
    to: &'a Cell<*const Yielder<In, Out>>,
}

impl<In, Out> Drop for Back<'_, In, Out> {
    fn drop(&mut self) {
        self.to.set(self.yielder);
    }
}

/// Something of ours that code on the worker's stack may look at, although it is of this thread.
pub(crate) struct WorkerLoan<'a, T: 'static>(&'a T);

// SAFETY: `on_worker_stack` switches stacks and not threads, and has ended before the loan has: nothing is shared. A `T` that is
// `'static` holds nothing with JavaScript's lifetime. Nothing else takes it: its users are `on_worker_stack`'s closures.
unsafe impl<T> Send for WorkerLoan<'_, T> {}

impl<'a, T> WorkerLoan<'a, T> {
    pub(crate) fn new(value: &'a T) -> Self {
        Self(value)
    }

    pub(crate) fn get(&self) -> &'a T {
        self.0
    }
}

/// A thread of JavaScript within a context: its own globals, modules, jobs and stack.
pub(crate) struct Fiber {
    context: Context,
    fiber: NonNull<qjs::JSFiber>,
}

impl Fiber {
    /// One more fiber of a context; `None` where there is no memory.
    pub(crate) fn new(context: &Context) -> Option<Self> {
        // SAFETY: the context lives as long as `context`; it has one thread, and that is here, outside of all fibers: those
        // are in only during `within`, whose `body` makes no VUs.
        let fiber = unsafe { qjs::JS_NewFiber(context.as_raw().as_ptr()) };
        NonNull::new(fiber).map(|fiber| Self { context: context.clone(), fiber })
    }

    /// Swaps the fiber in for the time of `body`, which switches to its stack and back. Meanwhile the memory of the context's
    /// runtime can grow by `memory_max` bytes.
    pub(crate) fn within<T>(&self, memory_max: usize, body: impl FnOnce() -> T) -> T {
        self.swap(memory_max);
        let _out = SwapOut(self);
        body()
    }

    fn swap(&self, memory_max: usize) {
        // SAFETY: both pointers live as long as `self`. The thread is the context's own. In and out come in pairs, also where a
        // panic passes `body`: `within` alone swaps it in, and `SwapOut` out.
        unsafe {
            qjs::JS_SwapFiber(self.context.as_raw().as_ptr(), self.fiber.as_ptr(), memory_max);
        }
    }
}

/// Swaps a fiber out again.
struct SwapOut<'a>(&'a Fiber);

impl Drop for SwapOut<'_> {
    fn drop(&mut self) {
        self.0.swap(0);
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        // SAFETY: it is freed once, here, and is not in: `within` borrows it. Its VU has ended, so nothing of it is on a stack.
        unsafe { qjs::JS_FreeFiber(self.context.as_raw().as_ptr(), self.fiber.as_ptr()) };
    }
}

/// Frees what nothing of a context's runtime leads to. No fiber is in.
pub(crate) fn collect_garbage(context: &Context) {
    // SAFETY: the context lives as long as `context`, and so its runtime; the thread is its own.
    unsafe { qjs::JS_RunGC(qjs::JS_GetRuntime(context.as_raw().as_ptr())) };
}

/// The bytes that a context's runtime holds.
pub(crate) fn held_memory(context: &Context) -> usize {
    // SAFETY: the context lives as long as `context`, and the function reads one number of its runtime.
    unsafe { qjs::JS_HeldMemory(context.as_raw().as_ptr()) }
}

/// The same of the context that JavaScript runs in.
pub(crate) fn held_here(ctx: &Ctx<'_>) -> usize {
    // SAFETY: as in `held_memory`.
    unsafe { qjs::JS_HeldMemory(ctx.as_raw().as_ptr()) }
}

/// Limits what the context's runtime may hold, in bytes; no fiber is in.
pub(crate) fn limit_memory(ctx: &Ctx<'_>, bytes: usize) {
    // SAFETY: the runtime lives as long as the context, and the function sets one number of it.
    unsafe { qjs::JS_SetMemoryLimit(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), bytes as _) };
}

/// Whether memory ran out since this was last asked.
pub(crate) fn take_out_of_memory(ctx: &Ctx<'_>) -> bool {
    // SAFETY: the context lives, and the function reads and clears one flag of its runtime.
    unsafe { qjs::JS_TakeOutOfMemory(ctx.as_raw().as_ptr()) }
}

/// Hands the context to what runs on the stack of a fiber that is in, and sets QuickJS's limit to where that stack begins.
pub(crate) fn on_stack<T>(context: &Context, body: impl for<'js> FnOnce(Ctx<'js>) -> T) -> T {
    let raw = context.as_raw();
    // SAFETY: the context lives as long as `context`, and its thread is this one. The lock of rquickjs guards nothing without
    // its feature `parallel` but the stack's top, which is set here. The lifetime is `body`'s own, so nothing of it gets out.
    unsafe {
        qjs::JS_UpdateStackTop(qjs::JS_GetRuntime(raw.as_ptr()));
        body(Ctx::from_raw(raw))
    }
}

/// How much of the stack JavaScript may use, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StackBytes {
    /// During a call.
    pub(crate) during: usize,
    /// From its end on.
    pub(crate) after: usize,
}

/// Runs `body`, in which JavaScript, and its parser, may use so much of the stack.
pub(crate) fn with_stack<T>(ctx: &Ctx<'_>, stack: StackBytes, body: impl FnOnce() -> T) -> T {
    let set = |bytes: usize| {
        // SAFETY: the runtime lives as long as the context. That there is so much stack is `deep`'s to see to.
        unsafe { qjs::JS_SetMaxStackSize(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), bytes as _) };
    };
    set(stack.during);
    let done = body();
    set(stack.after);
    done
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

/// Throws what no script can catch.
pub(crate) fn throw_uncatchable(ctx: &Ctx<'_>, text: &str) -> Error {
    let error = Exception::throw_internal(ctx, text);
    let thrown = ctx.catch();
    // SAFETY: the value is of this context, and lives until after the call.
    unsafe { qjs::JS_SetUncatchableError(ctx.as_raw().as_ptr(), thrown.as_raw()) };
    ctx.throw(thrown);
    error
}

/// The exception that ends a call of a script: it cannot be caught.
pub(crate) fn interrupted(ctx: &Ctx<'_>) -> Error {
    throw_uncatchable(ctx, "interrupted")
}

/// Has the interpreter look for an interrupt at its next step: what was called took as long as thousands of steps.
pub(crate) fn look_for_interrupts(ctx: &Ctx<'_>) {
    // SAFETY: the context lives.
    unsafe { qjs::JS_LookForInterrupts(ctx.as_raw().as_ptr()) }
}

/// The contexts of all threads that scripts run in.
static CONTEXTS: Mutex<Vec<ContextAddress>> = Mutex::new(Vec::new());

#[derive(Clone, Copy, PartialEq, Eq)]
struct ContextAddress(NonNull<qjs::JSContext>);

// SAFETY: other threads hand it to `JS_LookForInterrupts` alone, which any thread may call.
unsafe impl Send for ContextAddress {}

/// Has a context be among those that [`look_everywhere`] reaches, as long as this is there.
pub(crate) struct Reachable {
    address: ContextAddress,
    /// It lives until the address is no longer listed.
    _context: Context,
}

impl Reachable {
    pub(crate) fn new(context: &Context) -> Self {
        let address = ContextAddress(context.as_raw());
        CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner).push(address);
        Self { address, _context: context.clone() }
    }
}

impl Drop for Reachable {
    fn drop(&mut self) {
        let mut all = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| *one != self.address);
    }
}

/// Has the next step of every script, in whatever thread, look for an interrupt. The interpreter itself looks once in thousands of
/// steps, whatever a step takes: who calls this every few hundredths of a second bounds it by time.
pub fn look_everywhere() {
    for context in CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        // SAFETY: the context lives: who holds it takes it off the list first, which is locked here.
        unsafe { qjs::JS_LookForInterrupts(context.0.as_ptr()) }
    }
}

/// Another plain object with the same values; both share what says where their properties are, until one of them changes.
///
/// # Errors
/// It is no plain object, or there is no memory: an exception is thrown.
pub(crate) fn copied_object<'js>(object: &Object<'js>) -> Result<Object<'js>> {
    let ctx = object.ctx();
    // SAFETY: context and object live; the value that is given is ours, of this context, and an object or an exception.
    let copy = unsafe {
        let made = qjs::JS_CopyObject(ctx.as_raw().as_ptr(), object.as_value().as_raw());
        Value::from_raw(ctx.clone(), made)
    };
    if copy.is_exception() { Err(Error::Exception) } else { Object::from_value(copy) }
}

/// Whether a value is a function that was written `async`.
pub(crate) fn is_async(value: &Value<'_>) -> bool {
    // SAFETY: the value lives.
    unsafe { qjs::JS_IsAsyncFunction(value.as_raw()) }
}

/// Calls a function with one argument, without what `Function::call` makes of any number of them.
///
/// # Errors
/// It threw, or is no function.
pub(crate) fn call_with<'js>(function: &Value<'js>, argument: &Value<'js>) -> Result<Value<'js>> {
    let (ctx, mut arguments) = (function.ctx(), [argument.as_raw()]);
    // SAFETY: context, function and argument live, and are of one context. What is returned is ours.
    let returned = unsafe {
        let (raw, arguments) = (ctx.as_raw().as_ptr(), arguments.as_mut_ptr());
        let returned = qjs::JS_Call(raw, function.as_raw(), qjs::JS_UNDEFINED, 1, arguments);
        Value::from_raw(ctx.clone(), returned)
    };
    if returned.is_exception() { Err(thrown(ctx, returned)) } else { Ok(returned) }
}

/// The error for a value that says that something was thrown. A panic of a function of ours is an exception to JavaScript, and
/// goes on from here.
#[cold]
fn thrown<'js>(ctx: &Ctx<'js>, exception: Value<'js>) -> Error {
    match Result::<Value<'js>>::from_js(ctx, exception) {
        Ok(Err(error)) | Err(error) => error,
        Ok(Ok(_)) => Error::Exception,
    }
}

/// A string that has only ASCII characters, where it lies; `None` of anything else, and of one that is not in one piece.
pub(crate) fn ascii<'a>(value: &'a Value<'_>) -> Option<&'a str> {
    let mut len = 0;
    // SAFETY: the value lives. Its bytes stay where they are as long as it does, and are not changed: JavaScript's strings are
    // only ever changed where nothing else refers to them, and `value` does. ASCII is UTF-8.
    unsafe {
        let bytes = NonNull::new(qjs::JS_StringBytes(value.as_raw(), &raw mut len).cast_mut())?;
        let bytes = slice::from_raw_parts(bytes.as_ptr(), len);
        bytes.is_ascii().then(|| str::from_utf8_unchecked(bytes))
    }
}

/// The most fields that [`FewFields`] has.
const FEW: usize = 16;

/// The fields of a plain object with few of them: name and value. The names are those of the beginning, a value is the field's of
/// the moment it is asked for.
pub(crate) struct FewFields<'a, 'js> {
    object: &'a Value<'js>,
    names: [qjs::JSAtom; FEW],
    /// Those of the names that are left.
    left: Range<usize>,
}

impl<'a, 'js> FewFields<'a, 'js> {
    /// `None` if it is no plain object, or has many fields, or names that are numbers.
    pub(crate) fn of(object: &'a Value<'js>) -> Option<Self> {
        let mut names = [0; FEW];
        // SAFETY: context and value live, and there is room for so many names.
        let count = unsafe {
            let ctx = object.ctx().as_raw().as_ptr();
            qjs::JS_OwnNames(ctx, object.as_raw(), names.as_mut_ptr(), FEW as _)
        };
        let count = usize::try_from(count).ok()?;
        Some(Self { object, names, left: 0..count })
    }
}

impl<'js> Iterator for FewFields<'_, 'js> {
    type Item = Result<(Value<'js>, Value<'js>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.names[self.left.next()?];
        let ctx = self.object.ctx();
        // SAFETY: context and object live; the name is ours, and freed once. The values that are given are ours.
        let [name, value] = unsafe {
            let raw = ctx.as_raw().as_ptr();
            let text = qjs::JS_AtomToString(raw, name);
            let value = qjs::JS_GetProperty(raw, self.object.as_raw(), name);
            qjs::JS_FreeAtom(raw, name);
            [text, value].map(|value| Value::from_raw(ctx.clone(), value))
        };
        Some(match (name.is_exception(), value.is_exception()) {
            (true, _) => Err(thrown(ctx, name)),
            (_, true) => Err(thrown(ctx, value)),
            _ => Ok((name, value)),
        })
    }
}

impl Drop for FewFields<'_, '_> {
    fn drop(&mut self) {
        let ctx = self.object.ctx().as_raw().as_ptr();
        for name in &self.names[self.left.clone()] {
            // SAFETY: the context lives; the name is ours, and no longer used.
            unsafe { qjs::JS_FreeAtom(ctx, *name) };
        }
    }
}

/// The buffer that a value is; `None` of a detached one and of anything else. `ArrayBuffer::from_value` alone leaves an exception
/// behind, and as the runtime's it ends whichever VU is made next.
pub(crate) fn array_buffer<'js>(value: &Value<'js>) -> Option<ArrayBuffer<'js>> {
    // SAFETY: the value lives.
    let is_buffer = unsafe { qjs::JS_IsArrayBuffer(value.as_raw()) };
    let found = is_buffer.then(|| ArrayBuffer::from_value(value.clone()))?;
    if found.is_none() {
        drop(value.ctx().catch());
    }
    found
}

/// The bytes of a buffer; none of a detached one.
pub(crate) fn copied(buffer: &ArrayBuffer<'_>) -> Vec<u8> {
    // SAFETY: no JavaScript runs before the slice is copied.
    let bytes = unsafe { buffer.as_bytes() }.map(<[u8]>::to_vec);
    bytes.unwrap_or_else(|| {
        drop(buffer.ctx().catch());
        Vec::new()
    })
}

/// Has a context hold something of ours for the functions that run in it; [`context_data`] finds it.
pub(crate) fn set_context_data(ctx: &Ctx<'_>, data: Rc<dyn Any>) -> Result<()> {
    let (raw, data) = (ctx.as_raw().as_ptr(), Rc::new(data));
    // SAFETY: the context lives.
    assert!(unsafe { qjs::JS_GetContextOpaque(raw) }.is_null(), "a context is given data once");
    ctx.store_userdata(ContextData(Rc::clone(&data))).map(drop)?;
    // SAFETY: the context lives. Nothing else sets its pointer.
    unsafe { qjs::JS_SetContextOpaque(raw, Rc::as_ptr(&data).cast_mut().cast()) }
    Ok(())
}

/// What a context holds, if it is of this type. Each function that a script calls asks for it, so it does without the map of
/// rquickjs.
pub(crate) fn context_data<'a, T: 'static>(ctx: &'a Ctx<'_>) -> Option<&'a T> {
    // SAFETY: the context lives. Its pointer is null or `set_context_data`'s: to what the runtime's `ContextData` holds until the
    // runtime is freed, after which nothing runs. Nothing else stores one or takes it away: a runtime here has one context, which
    // is given data once.
    let data =
        unsafe { qjs::JS_GetContextOpaque(ctx.as_raw().as_ptr()).cast::<Rc<dyn Any>>().as_ref() };
    data?.downcast_ref()
}

/// What a context holds for the functions that run in it.
struct ContextData(#[expect(dead_code, reason = "it is held")] Rc<Rc<dyn Any>>);

// SAFETY: what is `'static` holds nothing with JavaScript's lifetime.
unsafe impl JsLifetime<'_> for ContextData {
    type Changed<'to> = Self;
}

/// A value of ours that scripts may hold.
pub(crate) trait HandleClass: 'static {
    /// The name of its class.
    const NAME: &'static str;

    /// What scripts see of it. It is shared by all VUs of a realm.
    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>>;
}

/// A script's hold on a value of ours.
pub(crate) struct Handle<T>(pub(crate) T);

// SAFETY: a `T` that is `'static` holds nothing with JavaScript's lifetime.
unsafe impl<T: 'static> JsLifetime<'_> for Handle<T> {
    type Changed<'to> = Self;
}

impl<T> Trace<'_> for Handle<T> {
    fn trace<'a>(&self, _tracer: Tracer<'a, '_>) {}
}

impl<'js, T: HandleClass> JsClass<'js> for Handle<T> {
    const NAME: &'static str = T::NAME;
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        T::prototype(ctx).map(Some)
    }

    fn constructor(_ctx: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

/// Something of ours that a script holds without seeing into it.
pub(crate) type OpaqueHandle = Handle<Rc<dyn Any>>;

impl OpaqueHandle {
    pub(crate) fn of(value: impl Any) -> Self {
        Self(Rc::new(value))
    }
}

impl HandleClass for Rc<dyn Any> {
    const NAME: &'static str = "Held";

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        Object::new(ctx.clone())
    }
}
