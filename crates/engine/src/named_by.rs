//! `NamedBy`: the source of a site's name.

/// The source of a site's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamedBy {
    /// The plan, a lazy target or a script.
    User,
    /// A server, by a redirect.
    Redirect,
}
