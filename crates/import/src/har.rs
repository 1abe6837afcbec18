//! Har inputs; not understood yet.

use crate::{Import, ImportError, Input, Kind};

pub(crate) fn import(_input: &Input<'_>) -> Result<Import, ImportError> {
    Err(ImportError::NotBuilt { kind: Kind::Har })
}
