//! `CommandLines`: what a study takes from the command lines that it runs. brunt hands it in: the study does not know the
//! commands.

/// Names and checks of command lines that offer load.
pub(crate) struct CommandLines {
    /// The other load testers whose command lines brunt reads, by name.
    pub(crate) tools: Vec<&'static str>,
    /// Checks the words of a line without running it; the error is one line.
    pub(crate) validate: fn(Vec<String>) -> Result<(), String>,
}
