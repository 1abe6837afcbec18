//! `study new`: a study to begin with, which runs as it is.

use std::fs::File;
use std::io::Write;

use anyhow::anyhow;

use crate::exit_code::{ExitCode, Failed};
use crate::flags::study::StudyFlags;
use crate::input::reason;
use crate::output::complain;

/// The study: `brunt serve` twice, with different service times.
const TEMPLATE: &str = include_str!("template.toml");

/// Writes it. A file that is there is only overwritten where `-force` says so.
///
/// # Errors
/// It is there, or cannot be written.
pub(super) fn write(path: &str, flags: &StudyFlags) -> Result<ExitCode, Failed> {
    let mut options = File::options();
    options.write(true);
    if flags.force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let written = options.open(path).and_then(|mut file| file.write_all(TEMPLATE.as_bytes()));
    match written {
        Ok(()) => {
            complain(&format!("wrote {path}; run it with: brunt study run {path} -quick"));
            Ok(ExitCode::Ok)
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(Failed {
            code: ExitCode::Failure,
            error: anyhow!("{path} is there already (-force overwrites it)"),
        }),
        Err(error) => Err(anyhow!("writing {path}: {}", reason(&error)).into()),
    }
}
