//! References that servers give, as addresses, by the rules of `java.net.URL`: they differ from RFC 3986 where there is a query alone.

use wire::url::{Url, UrlError};

/// The address that a reference in an answer of this address means.
///
/// # Errors
/// It means none.
pub(super) fn joined(base: &Url, reference: &str) -> Result<Url, UrlError> {
    if !reference.starts_with('?') {
        return base.join(reference);
    }
    // The query is of the folder, and not of the file in it.
    let path = base.path_and_query.split('?').next().unwrap_or("/");
    let folder = path.rfind('/').map_or("/", |slash| &path[..=slash]);
    base.join(&format!("{folder}{reference}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_alone_is_of_the_folder() {
        for (base, reference, expect) in [
            ("http://h/dir/rel", "?q=1", "http://h/dir/?q=1"),
            ("http://h/dir/?a=/b", "?q=1", "http://h/dir/?q=1"),
            ("http://h/", "?q", "http://h/?q"),
            ("http://h/dir/rel", "x?q=1", "http://h/dir/x?q=1"),
            ("http://h/dir/rel", "//b/x", "http://b/x"),
        ] {
            let base = Url::parse(base).expect("a URL");
            let joined = joined(&base, reference).expect("an address");
            assert_eq!(joined.to_string(), expect, "{reference}");
        }
    }
}
