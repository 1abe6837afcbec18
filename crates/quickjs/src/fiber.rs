//! The functions that `c/fibers.c` and `c/objects.c` add to QuickJS; `c/fibers.h` declares them.
#![allow(unsafe_code, reason = "a declaration of C functions is unsafe code")]
#![allow(non_snake_case, reason = "the functions have the names of QuickJS's interface")]

use core::ffi::c_int;

use crate::{JSAtom, JSContext, JSValue};

/// A thread of JavaScript within a context, with its own global object, module instances, job queue and C stack.
#[repr(C)]
#[derive(Debug)]
pub struct JSFiber {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    /// Creates a fiber, swapped out. Returns null where memory is short.
    ///
    /// # Safety
    /// The context is valid, and none of its fibers is swapped in.
    pub fn JS_NewFiber(ctx: *mut JSContext) -> *mut JSFiber;

    /// Swaps the fiber in, or out if it is in. While it is in, the memory of the runtime can grow by `memory_max` bytes; out, the
    /// number is of no account.
    ///
    /// # Safety
    /// Both are valid, the fiber is of this context, and no other fiber of the context is swapped in. The caller switches
    /// stacks: after it swapped the fiber in, and back before it swaps it out.
    pub fn JS_SwapFiber(ctx: *mut JSContext, fiber: *mut JSFiber, memory_max: usize);

    /// Returns the bytes that the context's runtime holds.
    ///
    /// # Safety
    /// The context is valid.
    pub fn JS_HeldMemory(ctx: *mut JSContext) -> usize;

    /// Returns whether memory ran out since it was last asked.
    ///
    /// # Safety
    /// The context is valid.
    pub fn JS_TakeOutOfMemory(ctx: *mut JSContext) -> bool;

    /// Frees the fiber with its modules and jobs.
    ///
    /// # Safety
    /// Both are valid; the fiber is swapped out, its stack is empty, and it is not used again.
    pub fn JS_FreeFiber(ctx: *mut JSContext, fiber: *mut JSFiber);

    /// Returns a copy of a plain object that shares its shape, or an exception if `from` is no plain object or memory is short.
    ///
    /// # Safety
    /// The context and the value are valid, and the value is of this context.
    pub fn JS_CopyObject(ctx: *mut JSContext, from: JSValue) -> JSValue;

    /// Writes the names of a plain object's enumerable properties to `names`, in their order; returns how many there are, each of
    /// which the caller frees. Returns -1 if it is no plain object, has more than `max`, or a name that is a number or a symbol.
    ///
    /// # Safety
    /// The context and the value are valid, and the value is of this context; `names` has room for `max`.
    pub fn JS_OwnNames(ctx: *mut JSContext, of: JSValue, names: *mut JSAtom, max: c_int) -> c_int;

    /// Returns where the characters of a string are, a byte each (Latin-1), and sets `len`; null if it is no string, has wider
    /// characters, or is not in one piece. They stay there until the string is freed.
    ///
    /// # Safety
    /// The value is valid.
    pub fn JS_StringBytes(of: JSValue, len: *mut usize) -> *const u8;

    /// Has the next step of the interpreter look for an interrupt, instead of one of the next 10,000. Any thread may ask; of
    /// another thread's requests a few are lost.
    ///
    /// # Safety
    /// The context is valid, and stays so during the call.
    pub fn JS_LookForInterrupts(ctx: *mut JSContext);
}
