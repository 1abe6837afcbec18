//! Where scripts and their secrets come from, as traits: `Files` and `Secrets`. The crates above implement them.

/// Where scripts lie.
pub trait Files {
    /// The text of a module, by the name it was resolved to.
    ///
    /// # Errors
    /// It cannot be read; the text says why, without the name.
    fn read(&self, name: &str) -> Result<Vec<u8>, String>;
}

/// Where secrets come from. It is asked by the VUs of all threads; what it gave away it keeps out of every log.
pub trait Secrets: Send + Sync {
    /// The secret of this name, from the source of this name, or from the default one.
    ///
    /// # Errors
    /// There is no such secret; the text says why.
    fn get(&self, source: Option<&str>, key: &str) -> Result<String, String>;

    /// Whether there is a source of this name.
    fn has_source(&self, name: &str) -> bool;
}
