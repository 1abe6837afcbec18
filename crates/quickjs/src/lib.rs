//! The C interface of QuickJS, as rquickjs uses it, and of the fibers that this crate adds to QuickJS.
//!
//! The build script takes QuickJS-ng and the bindings from the published crate of the same name and version and adds the files
//! in `c/`. See `README.md` beside this file.
#![no_std]

mod fiber;
mod reference_count;

pub use fiber::*;
pub use published::*;
// Instead of the published ones: a name that is imported by itself hides the same name of a glob.
pub use reference_count::{JS_DupContext, JS_DupValue, JS_FreeContext, JS_FreeValue};

/// The published bindings, and the C macros that are written in Rust there.
#[allow(
    clippy::all,
    clippy::semicolon_if_nothing_returned,
    clippy::uninlined_format_args,
    clippy::use_self,
    dead_code,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    rustdoc::all,
    unreachable_pub,
    unsafe_code,
    unsafe_op_in_unsafe_fn,
    reason = "the names and the text are the published crate's"
)]
mod published {
    use ::core::ptr;

    include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
    #[cfg(target_pointer_width = "64")]
    include!(concat!(env!("OUT_DIR"), "/ptr_64.rs"));
    #[cfg(target_pointer_width = "32")]
    include!(concat!(env!("OUT_DIR"), "/ptr_32_nan_boxing.rs"));
    include!(concat!(env!("OUT_DIR"), "/common.rs"));
}

/// The message of rquickjs where a C `size_t` does not fit a `usize`.
pub const SIZE_T_ERROR: &str = "a C size_t does not fit a Rust usize";
