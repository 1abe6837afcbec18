//! HTTP samplers: the request as JMeter writes it, redirects and embedded resources as samples below it, and the result.

pub(crate) mod auth;
pub(crate) mod body;
pub(crate) mod cache;
pub(crate) mod charset;
pub(crate) mod cookies;
pub(crate) mod embedded;
pub(crate) mod exchange;
pub(crate) mod field;
pub(crate) mod fields;
pub(crate) mod form;
pub(crate) mod headers;
pub(crate) mod receive;
pub(crate) mod reference;
pub(crate) mod send;
pub(crate) mod spec;

#[cfg(test)]
pub(crate) mod tests;
