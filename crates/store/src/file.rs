//! Files that are replaced as a whole.

use std::io::Write as _;
use std::path::Path;

use stdx::private_file::{ALL_AS_MASKED, NewFile};

use crate::error::StoreError;

/// Replaces a file, or creates it: it is the old one or the new one at any moment, whatever happens to this process.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let written = NewFile::beside(path, ALL_AS_MASKED).and_then(|mut file| {
        file.write_all(bytes)?;
        file.publish()
    });
    written.map_err(StoreError::io(path))
}
