//! Module `k6/http`: requests and their responses.

mod body;
mod constants;
mod cookies;
mod malformed;
mod many;
mod module;
mod page;
mod params;
mod read;
mod response;
mod response_class;
mod select;
mod send;
mod statuses;
mod url;

pub(super) use self::cookies::JarRef;
pub(super) use self::malformed::malformed;
pub(super) use self::module::Http;
pub(super) use self::params::canonical;
pub(super) use self::response::{fields_of, text_of};
