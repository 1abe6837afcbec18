//! A thread of a plan: its variables, its way through the plan, its samples.

pub(crate) mod action;
pub(crate) mod after;
pub(crate) mod delivery;
pub(crate) mod ground;
pub(crate) mod judge;
pub(crate) mod processors;
pub(crate) mod schedule;
pub(crate) mod scope;
pub(crate) mod transaction;
pub(crate) mod user;
