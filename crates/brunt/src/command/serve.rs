//! `serve`: the demo server on chosen addresses, until interrupted.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use cli::{
    ExitCode, ExitError, INTERRUPT_CHECK_INTERVAL, Interrupts, OrExit, eprint_line, input,
    is_closed_pipe, reason,
};
use demo::{Cable, Config, Identity, Server, ServiceTime};
use net::Address;
use stdx::Bytes;

use super::{CommandError, usage_error};
use crate::dialect::{Invocation, ParsedArgs};
use crate::flags::serve::{SERVE, ServeFlags};

/// Serves until interrupted.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(SERVE)?;
    let (config, addresses) = resolve(&typed)?;
    let tls = config.tls.is_some();
    let interrupts = Interrupts::watch()?;
    let server = Server::start(config, &addresses).map_err(|error| {
        let places: Vec<String> = addresses.iter().map(|address| url(address, tls)).collect();
        ExitError::from(anyhow!("cannot listen on {}: {}", places.join(", "), reason(&error)))
    })?;
    let places: Vec<String> = server.addresses().iter().map(|address| url(address, tls)).collect();
    // Said at once, so that a script that started us can read where we are.
    let mut stdout = std::io::stdout();
    let written =
        writeln!(stdout, "listening on {}", places.join(" ")).and_then(|()| stdout.flush());
    if let Err(error) = written
        && !is_closed_pipe(&error)
    {
        return Err(ExitError::from(anyhow!("standard output: {}", reason(&error))).into());
    }
    while interrupts.seen() == 0 {
        std::thread::sleep(INTERRUPT_CHECK_INTERVAL);
    }
    let stats = server.stop();
    eprint_line(&format!("served {stats}"));
    Ok(ExitCode::Ok)
}

/// What was typed, validated and with its files read.
fn resolve(typed: &ParsedArgs<ServeFlags>) -> Result<(Config, Vec<Address>), CommandError> {
    let flags = &typed.flags;
    if let Some(extra) = typed.operands.first() {
        return Err(usage_error(format!("unexpected \"{extra}\"")));
    }
    let addresses = match flags.listen.as_slice() {
        [] => vec![address(DEFAULT_ADDRESS)?],
        given => given.iter().map(|text| address(text)).collect::<Result<_, _>>()?,
    };
    let config = Config {
        workers: u32::try_from(flags.workers).unwrap_or(u32::MAX),
        service: service("-service", &flags.service)?,
        queue_limit: usize::try_from(flags.queue).unwrap_or(usize::MAX),
        error_rate: flags.error_rate,
        body: Bytes(flags.body),
        seed: flags.seed,
        cable: cable(flags)?,
        tls: identity(flags)?,
        ..Config::default()
    };
    Ok((config, addresses))
}

/// The default address to listen on.
const DEFAULT_ADDRESS: &str = "127.0.0.1:8080";

/// `ADDR:PORT`, `:PORT` or `unix:PATH`.
fn address(text: &str) -> Result<Address, CommandError> {
    if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
        return Ok(Address::Unix(PathBuf::from(path)));
    }
    let named = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let every = text.strip_prefix(':').map(|port| format!("0.0.0.0:{port}"));
    let text = named.or(every).unwrap_or_else(|| text.to_owned());
    text.parse().map(Address::Ip).map_err(|_| {
        usage_error(format!(
            "flag -listen: \"{text}\" is not an address (expected ADDR:PORT or unix:PATH)"
        ))
    })
}

/// Action Cable, if it is asked for. Its defects without it are a mistake.
fn cable(flags: &ServeFlags) -> Result<Option<Cable>, CommandError> {
    let cable = Cable {
        ping: flags.cable_ping,
        delay: service("-cable-delay", &flags.cable_delay)?,
        loss: flags.cable_loss,
        duplicate: flags.cable_duplicate,
        reorder: flags.cable_reorder,
        reject: flags.cable_reject,
        no_confirm: flags.cable_no_confirm,
        disconnect_after: flags.cable_disconnect_after,
    };
    match (flags.cable, cable == Cable::default()) {
        (true, _) => Ok(Some(cable)),
        (false, true) => Ok(None),
        (false, false) => Err(usage_error("the flags -cable-… need -cable")),
    }
}

/// The law of times that a flag names, its file read.
fn service(flag: &str, text: &str) -> Result<ServiceTime, CommandError> {
    let law =
        ServiceTime::parse(text).map_err(|error| usage_error(format!("flag {flag}: {error}")))?;
    let ServiceTime::File(path) = &law else {
        return Ok(law);
    };
    let name = path.display().to_string();
    let bytes = input::read_text(&name)?;
    let read = ServiceTime::from_lines(&String::from_utf8_lossy(&bytes));
    Ok(read.with_context(|| name).or_exit(ExitCode::Input)?)
}

/// The certificate given, or a throw-away one.
fn identity(flags: &ServeFlags) -> Result<Option<Identity>, CommandError> {
    match (&flags.tls_cert, &flags.tls_key) {
        (None, None) if !flags.tls => Ok(None),
        (None, None) => Ok(Some(demo::self_signed().or_exit(ExitCode::Failure)?)),
        (Some(cert), key) => {
            let certificate_pem = pem(cert)?;
            let key_pem = key.as_ref().map_or(Ok(certificate_pem.clone()), |key| pem(key))?;
            Ok(Some(Identity { certificate_pem, key_pem }))
        }
        (None, Some(_)) => Err(usage_error("-tls-key needs a -tls-cert")),
    }
}

fn pem(path: &str) -> Result<String, ExitError> {
    String::from_utf8(input::read_whole(path)?)
        .with_context(|| format!("{path} is not a PEM file"))
        .or_exit(ExitCode::Input)
}

/// An address as one would ask it.
fn url(address: &Address, tls: bool) -> String {
    match address {
        Address::Ip(addr) if tls => format!("https://{addr}"),
        Address::Ip(addr) => format!("http://{addr}"),
        Address::Unix(path) => format!("unix:{}", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let cases = [
            ("127.0.0.1:80", "http://127.0.0.1:80"),
            ("localhost:0", "http://127.0.0.1:0"),
            (":8080", "http://0.0.0.0:8080"),
            ("[::1]:1", "http://[::1]:1"),
            ("unix:/tmp/s", "unix:/tmp/s"),
        ];
        for (text, expected) in cases {
            assert_eq!(url(&address(text).unwrap(), false), expected, "{text}");
        }
        for text in ["", "8080", "unix:", "host:80"] {
            assert!(address(text).is_err(), "{text}");
        }
    }

    #[test]
    fn laws_and_certificates_are_checked() {
        assert!(
            service("-service", "fixed:60ms").is_ok() && service("-service", "gauss:1ms").is_err()
        );
        assert!(service("-service", "file:/nowhere/at/all").is_err());
        let flags = ServeFlags { cable_loss: 0.5, ..ServeFlags::default() };
        assert!(cable(&flags).is_err());
        let cabled = cable(&ServeFlags { cable: true, ..flags }).unwrap();
        assert_eq!(cabled.map(|cable| cable.loss), Some(0.5));
        let flags = ServeFlags { tls_key: Some("k".into()), ..ServeFlags::default() };
        assert!(identity(&flags).is_err());
    }
}
