//! A plan made ready: elements with what is in their scope, by numbers.

pub(crate) mod compile;
pub(crate) mod find;
pub(crate) mod group;
pub(crate) mod node;
pub(crate) mod open_model;
pub(crate) mod plugin_groups;
pub(crate) mod property;
pub(crate) mod start_plan;
