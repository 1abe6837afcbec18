//! `Provenance`: how a run was made: its command line, its machine, the versions. Results record it before the first row.

/// How a run was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The command line as one would type it, without secrets.
    pub command: String,
    /// The offset of the machine's local time from UTC when the run began, in seconds to the east.
    pub zone_s: i32,
    /// The name of the machine that offered the load.
    pub host: String,
    /// Cores that the process could use.
    pub cores: u64,
    /// The system's name and release.
    pub kernel: String,
    /// The processor's name.
    pub processor: String,
    /// The version of brunt.
    pub brunt: String,
    /// The commit of the working tree that the run was started in; empty where there is none.
    pub commit: String,
    /// The results it is of, where a report has several; else empty. Results do not record it.
    pub run: String,
}
