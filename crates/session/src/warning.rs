//! Warnings: what a user should know of a run, though nothing failed.

/// Prints a warning on standard error, in a line that names the program.
pub fn warn(text: &str) {
    cli::eprint_line(&format!("brunt: {text}"));
}
