//! `LoadRules`: what differs between the dialects in a load test, as values. The commands that offer load get the rules of their
//! command line's dialect, and never ask for the dialect itself.

use anyhow::{Context, anyhow};
use cli::{CommandError, Dialect, ExitCode, ExitError, OrExit, input, usage_error};
use engine::{AllProxy, Capture, CapturedHeaders, HeadStyle};
use results::Encoding;
use session::BarePort;
use stdx::Nanos;
use workload::arrival::Rate;
use workload::targets::Grammar;

/// What differs between the dialects in a load test.
pub(crate) struct LoadRules {
    /// The header fields that are added to requests.
    pub(crate) head: HeadStyle,
    /// Whether `ALL_PROXY` names a proxy.
    pub(crate) all_proxy: AllProxy,
    /// The grammar of targets.
    pub(crate) grammar: Grammar,
    /// The rate for the word `infinity`; `None` is a closed loop.
    pub(crate) infinite_rate: Option<Rate>,
    /// A shorter attack sends only what is due in its first nanosecond.
    pub(crate) duration_min: Nanos,
    /// Whether what cannot work is refused before the first request: operands, foreign local addresses, a key without a
    /// certificate, URLs without a host, a port for live metrics that is taken.
    pub(crate) checks_first: bool,
    /// Whether a limit of open files that is too low for the plan is warned of.
    pub(crate) warns_of_descriptors: bool,
    /// The encoding of results that always go out, with neither report nor progress; `None` where flags and terminal decide.
    pub(crate) bare_results: Option<Encoding>,
    /// What is kept of each response.
    pub(crate) capture: fn(max_body: Option<Option<u64>>, keep_headers: bool) -> Capture,
    /// Whether an error in targets names their file, and all wrong lines; else it is the first wrong line's alone.
    pub(crate) lists_problems: bool,
    /// Whether a wrong target, or the end, of `-lazy` is a last hit that fails.
    pub(crate) fails_last_hit: bool,
    /// What `:PORT` means for live metrics.
    pub(crate) bare_port: BarePort,
    /// The whole error for root certificates that cannot be used; `None` gives flag and reason.
    pub(crate) bad_roots: Option<&'static str>,
    /// Reads the PEM file that a flag names.
    pub(crate) read_pem: fn(flag: &str, path: &str) -> Result<Vec<u8>, ExitError>,
    /// The error of a format of targets that is unknown.
    pub(crate) unknown_format: fn(format: &str) -> CommandError,
    /// The error of `-max-workers=0`.
    pub(crate) no_workers: fn() -> CommandError,
}

impl LoadRules {
    /// The rules of our own command line.
    pub(crate) const NATIVE: Self = Self {
        head: HeadStyle::Native,
        all_proxy: AllProxy::Read,
        grammar: Grammar::Native,
        infinite_rate: None,
        duration_min: Nanos::ZERO,
        checks_first: true,
        warns_of_descriptors: true,
        bare_results: None,
        capture: native_capture,
        lists_problems: true,
        fails_last_hit: false,
        bare_port: BarePort::Loopback,
        bad_roots: None,
        read_pem: native_pem,
        unknown_format: |format| {
            usage_error(format!("flag -format: \"{format}\" is not one of http, json"))
        },
        no_workers: || usage_error("flag -max-workers: 0 would send nothing (expected 1 or more)"),
    };

    /// Vegeta's rules.
    const VEGETA: Self = Self {
        head: HeadStyle::Go,
        all_proxy: AllProxy::Ignored,
        grammar: Grammar::Vegeta,
        // Vegeta accepts the word and uses its default rate.
        infinite_rate: Some(Rate { hits: 50, per: Nanos::SECOND }),
        // Vegeta looks at the clock before its first request, when less than a microsecond is over already.
        duration_min: Nanos::MICRO,
        checks_first: false,
        warns_of_descriptors: false,
        bare_results: Some(Encoding::Gob),
        capture: vegeta_capture,
        lists_problems: false,
        fails_last_hit: true,
        bare_port: BarePort::AllAddresses,
        bad_roots: Some("bad certificate"),
        read_pem: vegeta_pem,
        unknown_format: |format| {
            ExitError::from(anyhow!("format \"{format}\" isn't one of [http, json]")).into()
        },
        no_workers: || ExitError::from(anyhow!("-max-workers=0 sends nothing")).into(),
    };

    /// The rules of a dialect.
    #[must_use]
    pub(crate) const fn of(dialect: Dialect) -> &'static Self {
        match dialect {
            Dialect::Native => &Self::NATIVE,
            Dialect::Vegeta => &Self::VEGETA,
        }
    }
}

/// Nothing is kept unless it is asked for.
fn native_capture(max_body: Option<Option<u64>>, keep_headers: bool) -> Capture {
    let body_max = max_body.map_or(0, |size| size.unwrap_or(Capture::BODY_MAX));
    Capture {
        body_max: body_max.min(Capture::BODY_MAX),
        count_kept_only: false,
        headers: if keep_headers { CapturedHeaders::All } else { CapturedHeaders::Nothing },
    }
}

/// Vegeta keeps everything, and counts the bytes it kept.
fn vegeta_capture(max_body: Option<Option<u64>>, _keep_headers: bool) -> Capture {
    let size = max_body.flatten();
    Capture {
        body_max: size.unwrap_or(Capture::BODY_MAX).min(Capture::BODY_MAX),
        count_kept_only: size.is_some(),
        headers: CapturedHeaders::All,
    }
}

/// The error names the flag.
fn native_pem(flag: &str, path: &str) -> Result<Vec<u8>, ExitError> {
    input::read_whole(path)
        .map_err(|failed| failed.error)
        .with_context(|| format!("flag -{flag}"))
        .or_exit(ExitCode::Input)
}

/// The error is the system's.
fn vegeta_pem(_flag: &str, path: &str) -> Result<Vec<u8>, ExitError> {
    if path.is_empty() {
        return Err(anyhow!("bad certificate").into());
    }
    input::read_whole(path).map_err(|failed| {
        let (text, before) = (failed.to_string(), format!("error opening {path}: "));
        anyhow!(text.strip_prefix(&before).unwrap_or(&text).to_owned()).into()
    })
}
