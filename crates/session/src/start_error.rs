//! Why a run could not start, in the words of the command line: the engine says what is wrong, this adds the flag.

use engine::{CertificateRole, StartError};

use crate::go_words;

/// The error's text, with the flag that gave what is at fault.
#[must_use]
pub fn with_flag(error: &StartError) -> String {
    match error {
        StartError::Certificate { role, reason } => {
            format!("{}: {}", flag_of(*role), go_words::tls_setup(reason))
        }
        StartError::Uring(reason) => format!("--io=uring: {reason}"),
        error => error.to_string(),
    }
}

/// The flag, or k6's option, that gives certificates for this.
const fn flag_of(role: CertificateRole) -> &'static str {
    match role {
        CertificateRole::Client => "-cert",
        CertificateRole::ClientOfHosts => "tlsAuth",
        CertificateRole::Roots => "-root-certs",
    }
}

#[cfg(test)]
mod tests {
    use wire::tls::TlsSetupError;

    use super::*;

    #[test]
    fn the_flag_stands_before_the_reason() {
        let reason = TlsSetupError::NoRoots;
        for (role, text) in [
            (CertificateRole::Client, "-cert: tls: no root certificate is trusted"),
            (CertificateRole::ClientOfHosts, "tlsAuth: tls: no root certificate is trusted"),
            (CertificateRole::Roots, "-root-certs: tls: no root certificate is trusted"),
        ] {
            let error = StartError::Certificate { role, reason: reason.clone() };
            assert_eq!(with_flag(&error), text);
        }
    }
}
