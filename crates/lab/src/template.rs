//! `study new`: a template of a study, which runs as it is.

use std::fs::File;
use std::io::Write;

use anyhow::anyhow;
use cli::{ExitCode, ExitError, eprint_line, reason};

/// The study: `brunt serve` twice, with different service times.
pub const TEMPLATE: &str = include_str!("template.toml");

/// What happens to a file of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It is an error.
    Refuse,
    /// It is overwritten.
    Overwrite,
}

/// Writes the template to `path`.
///
/// # Errors
/// The file exists and may not be overwritten, or cannot be written.
pub fn write_template(path: &str, existing: Existing) -> Result<ExitCode, ExitError> {
    let mut options = File::options();
    options.write(true);
    match existing {
        Existing::Overwrite => options.create(true).truncate(true),
        Existing::Refuse => options.create_new(true),
    };
    let written = options.open(path).and_then(|mut file| file.write_all(TEMPLATE.as_bytes()));
    match written {
        Ok(()) => {
            eprint_line(&format!("wrote {path}; run it with: brunt study run {path} -quick"));
            Ok(ExitCode::Ok)
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(ExitError {
            code: ExitCode::Failure,
            error: anyhow!("{path} exists already (-force overwrites it)"),
        }),
        Err(error) => Err(anyhow!("writing {path}: {}", reason(&error)).into()),
    }
}
