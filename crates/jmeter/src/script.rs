//! Scripts of plans: the place where an interpreter of Groovy and BeanShell is called.
//!
//! The interpreter of scripts has not come yet: no class of scripts is in `jmx::Class`, so that a plan that has them is refused by name
//! before it runs. Once there is one, [`is_script`] says which classes are its own, and the others of these functions call it.

use jmx::Class;

use crate::plan::node::{Part, SamplerNode};
use crate::results::sample::{AssertionResult, SampleKind, SampleResult};
use crate::thread::scope::Thread;

/// Whether elements of a class are scripts.
pub(crate) const fn is_script(_class: Class) -> bool {
    false
}

/// A sampler that is a script: its sample.
pub(crate) fn sample(_part: &Part, thread: &mut Thread) -> SampleResult {
    SampleResult {
        start_ms: thread.unix_ms_now(),
        kind: SampleKind::Plain,
        ..SampleResult::default()
    }
}

/// A script before a sampler.
pub(crate) fn before(_part: &Part, _node: &SamplerNode, _thread: &mut Thread) {}

/// A script behind a sampler, which may change its sample.
pub(crate) fn after(_part: &Part, _sample: &mut SampleResult, _thread: &mut Thread) {}

/// A script that judges a sample.
pub(crate) fn judge(
    _part: &Part,
    _sample: &mut SampleResult,
    _result: &mut AssertionResult,
    _thread: &mut Thread,
) {
}

/// A script that sees a sample.
pub(crate) fn listen(_part: &Part, _sample: &SampleResult, _thread: &mut Thread) {}

/// How long a script that is a timer delays a sampler, in milliseconds.
pub(crate) fn delay_ms(_part: &Part, _thread: &mut Thread) -> u64 {
    0
}
