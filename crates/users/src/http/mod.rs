//! HTTP as users do it: calls with their cookies, redirects and digests, and the targets that the engine gets of them.

pub(crate) mod call;
pub(crate) mod call_tags;
pub(crate) mod calls;
pub(crate) mod cookie_jar;
pub(crate) mod digest;
pub(crate) mod failure;
pub(crate) mod plan;
pub(crate) mod row_tags;
pub(crate) mod targets;
