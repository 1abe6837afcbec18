//! `JunitCase`: something that was judged, as build servers know it.

/// One test case.
pub(crate) struct JunitCase {
    /// Its name.
    pub(crate) name: String,
    /// The figure that was judged, in words; empty where there is none.
    pub(crate) figure: String,
    /// Why it failed.
    pub(crate) failure: Option<String>,
}

impl JunitCase {
    pub(crate) fn new(name: &str, figure: String, failure: Option<String>) -> Self {
        Self { name: name.to_owned(), figure, failure }
    }
}
