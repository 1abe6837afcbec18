//! `status`, `stop`, `pause`, `resume`, `scale`: what a test that runs elsewhere is asked through its REST API.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use cli::{ExitCode, Output};
use serde_json::{Value, json};

/// The address of a test's REST API, unless the command line gives one.
const ADDRESS: &str = "127.0.0.1:6565";
/// The longest answer that is read.
const ANSWER_MAX: u64 = 1 << 20;

/// Carries out a command of this name, if it is one of these; flags may stand before it.
pub fn remote(name: &str, before: &[String], args: &[String]) -> Option<ExitCode> {
    let all: Vec<&String> = before.iter().chain(args).collect();
    let attributes = match name {
        "status" => None,
        "stop" => Some(json!({ "stopped": true })),
        "pause" => Some(json!({ "paused": true })),
        "resume" => Some(json!({ "paused": false })),
        "scale" => {
            let numbers = |names: &[&str]| {
                let value = valued(&all, names)?;
                value.parse::<u64>().ok()
            };
            let Some(vus) = numbers(&["-u", "--vus"]) else {
                cli::eprint_line("specify a new number of users with -u");
                return Some(ExitCode::Other);
            };
            Some(json!({ "vus": vus, "vus-max": numbers(&["-m", "--max"]) }))
        }
        _ => return None,
    };
    let address = valued(&all, &["-a", "--address"]).map(str::to_owned);
    let address = address.or_else(|| crate::option_layers::text(None, "K6_ADDRESS"));
    Some(match ask(address.as_deref().unwrap_or(ADDRESS), attributes) {
        Ok(text) => match Output::Stdout.write(text.as_bytes()) {
            Ok(()) => ExitCode::Ok,
            Err(_) => ExitCode::Other,
        },
        Err(text) => {
            cli::eprint_line(&text);
            ExitCode::Other
        }
    })
}

/// The value of a flag of these names.
fn valued<'a>(args: &[&'a String], names: &[&str]) -> Option<&'a str> {
    let at = args.iter().position(|arg| names.contains(&arg.as_str()));
    if let Some(at) = at {
        return args.get(at + 1).map(|value| value.as_str());
    }
    args.iter().find_map(|arg| {
        let (name, value) = arg.split_once('=')?;
        names.contains(&name).then_some(value)
    })
}

/// Asks for the status, or for a change of it; gives the answer.
fn ask(address: &str, attributes: Option<Value>) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{address}: {}", cli::reason(&error));
    let address_of = address.replacen("localhost:", "127.0.0.1:", 1);
    let mut stream = TcpStream::connect(address_of).map_err(failed)?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).map_err(failed)?;
    let (method, body) = match attributes {
        None => ("GET", String::new()),
        Some(attributes) => {
            let data = json!({ "type": "status", "id": "default", "attributes": attributes });
            ("PATCH", json!({ "data": data }).to_string())
        }
    };
    write!(
        stream,
        "{method} /v1/status HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .map_err(failed)?;
    let mut answer = String::new();
    stream.take(ANSWER_MAX).read_to_string(&mut answer).map_err(failed)?;
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let document: Value =
        serde_json::from_str(body).map_err(|_| format!("{address}: the answer is no JSON"))?;
    let attributes = document["data"]["attributes"].as_object().ok_or("the answer is no status")?;
    Ok(attributes.iter().map(|(name, value)| format!("{name}: {value}\n")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_after_or_beside() {
        let args: Vec<String> = ["-u", "5", "--max=9"].map(str::to_owned).to_vec();
        let all: Vec<&String> = args.iter().collect();
        assert_eq!((valued(&all, &["-u"]), valued(&all, &["--max"])), (Some("5"), Some("9")));
        assert_eq!(valued(&all, &["-a"]), None);
        assert!(remote("run", &[], &[]).is_none());
    }
}
