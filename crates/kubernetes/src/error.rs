//! `ClusterError`: why a fleet does not come to life in a cluster.

use thiserror::Error;

use crate::options::OptionsError;

/// Why a fleet does not come to life in a cluster.
#[derive(Debug, Error)]
pub enum ClusterError {
    /// A value that the cluster would refuse.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// kubectl is not installed, or does not start.
    #[error(
        "starting kubectl: {0} (https://kubernetes.io/docs/tasks/tools/ says how to install it)"
    )]
    NoKubectl(std::io::Error),
    /// kubectl refused, in its own words.
    #[error("kubectl {action}: {words}")]
    Kubectl {
        /// What it was to do.
        action: String,
        /// Its standard error.
        words: String,
    },
    /// kubectl printed something else than JSON.
    #[error("kubectl {action} printed what is no list of objects: {cause}")]
    Output {
        /// What it was to do.
        action: String,
        /// What is wrong with it.
        cause: serde_json::Error,
    },
    /// Not all pods run in time; each that does not, with the reason.
    #[error("{running} of {wanted} pods run after {waited}s{}", reasons.iter().map(|reason| format!("; {reason}")).collect::<String>())]
    NotRunning {
        /// Pods that run.
        running: usize,
        /// Pods that should.
        wanted: usize,
        /// Seconds waited.
        waited: u64,
        /// The pods that do not, and why.
        reasons: Vec<String>,
    },
    /// Interrupted by the user.
    #[error("interrupted while the pods were starting")]
    Interrupted,
    /// A file of the chart cannot be written.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: String,
        /// The system's reason.
        error: std::io::Error,
    },
}
