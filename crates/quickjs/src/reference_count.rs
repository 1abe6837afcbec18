//! Reference counts that are changed in place: an iteration of a script changes some two hundred, and a call of C for each costs
//! more than most of what is done with the values. What reaches nothing goes the way of QuickJS.
#![allow(unsafe_code, reason = "the counts lie in QuickJS's memory")]
#![allow(non_snake_case, reason = "the functions have the names of QuickJS's interface")]

use core::ffi::{c_int, c_void};

use crate::{JSContext, JSValue, published};

/// A count lies so many bytes below what it counts; `c/fibers.c` asserts it.
const BELOW: usize = 4;

/// The place of a count.
///
/// # Safety
/// `counted` was allocated by QuickJS and is not freed.
#[inline]
const unsafe fn count_of(counted: *mut c_void) -> *mut c_int {
    // SAFETY: the header of eight bytes lies in the same allocation, and its second half is the count.
    unsafe { counted.byte_sub(BELOW).cast() }
}

/// Counts one more reference to a context.
///
/// # Safety
/// The context is valid.
#[inline]
pub unsafe fn JS_DupContext(ctx: *mut JSContext) -> *mut JSContext {
    // SAFETY: the caller's promise.
    unsafe { *count_of(ctx.cast()) += 1 };
    ctx
}

/// Gives a reference to a context back; frees it with the last one.
///
/// # Safety
/// The context is valid, and the reference is the caller's.
#[inline]
pub unsafe fn JS_FreeContext(ctx: *mut JSContext) {
    // SAFETY: the caller's promise.
    unsafe {
        let count = count_of(ctx.cast());
        if *count > 1 { *count -= 1 } else { published::JS_FreeContext(ctx) }
    }
}

/// Counts one more reference to a value, where it has a count.
///
/// # Safety
/// The value is valid.
#[inline]
pub unsafe fn JS_DupValue(_ctx: *mut JSContext, value: JSValue) -> JSValue {
    // SAFETY: the caller's promise; what has a count is a pointer.
    unsafe {
        if published::JS_VALUE_HAS_REF_COUNT(value) {
            *count_of(published::JS_VALUE_GET_PTR(value)) += 1;
        }
    }
    value
}

/// Gives a reference to a value back; frees it with the last one.
///
/// # Safety
/// Context and value are valid, and the reference is the caller's.
#[inline]
pub unsafe fn JS_FreeValue(ctx: *mut JSContext, value: JSValue) {
    // SAFETY: the caller's promise; what has a count is a pointer.
    unsafe {
        if !published::JS_VALUE_HAS_REF_COUNT(value) {
            return;
        }
        let count = count_of(published::JS_VALUE_GET_PTR(value));
        if *count > 1 { *count -= 1 } else { published::JS_FreeValue(ctx, value) }
    }
}
