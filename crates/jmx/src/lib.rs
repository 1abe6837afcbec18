//! JMeter's test plans, read from JMX: what is in a plan is known before anything is sent, and what is not understood has its place.
//!
//! ```text
//!   bytes ─▶ document ─▶ read ─▶ Element { Class, Properties of Text, children }, Problems
//!                                                        │
//!                                Text ── evaluate(Scope) ─▶ String: variables, properties, functions
//! ```
//!
//! [`read_plan`] builds [`Element`]s of a list of known classes; nothing else of a file is looked at. A [`Text`] is parsed once and
//! evaluated for each thread, in a [`Scope`] that has the thread's variables. The crate does no I/O: a scope brings files and the time.
//!
//! ```text
//!   SampleView ─┬─▶ extract(Element, Scope): sets variables
//!               └─▶ assert_sample(Element, Scope) ─▶ AssertionFailure, in JMeter's words
//! ```

mod arguments;
mod class;
mod date;
mod document;
mod element;
mod ending;
mod expression;
mod extract;
mod functions;
mod html;
mod jmes;
mod jsonpath;
mod module;
mod pattern;
mod read;
mod sample;
mod scope;
mod script;
mod text;
mod thrown;
mod verify;
mod xpath;

pub use class::{Class, Role};
pub use date::format as format_date;
pub use document::{DEPTH_MAX, DocumentError, PLAN_BYTES_MAX};
pub use element::{Element, Properties, Property};
pub use ending::end_with;
pub use expression::{
    ExpressionError, evaluate as evaluate_expression, evaluate_in as evaluate_script,
};
pub use extract::{ExtractError, extract};
pub use functions::encode::url_encode;
pub use module::module_target;
pub use pattern::matches_whole;
pub use read::{PlanFile, Problem, UnknownScripts, read_plan, script_language, script_property};
pub use sample::{Reach, SampleView};
pub use scope::{MemoryScope, Place, Scope, Shared, Writing};
pub use script::{
    Action, Bindings, Field, Host, Language, SCRIPT_BYTES_MAX, ScopeContext, Script, ScriptContext,
    ScriptError, ScriptLimit, ScriptProblem, Store, Value,
};
pub use text::{Text, TextPiece};
pub use thrown::Thrown;
pub use verify::{
    AssertionFailure, CHILDREN_FAILED, Failing, assert_sample, assertion_reach, assumes_success,
};
