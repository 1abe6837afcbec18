//! `grpc list` and `grpc describe`: what a server offers, or a file describes, as text or as JSON.

use calls::{Server, describe, describe_json, json_template, listing, message_of};
use cli::{CommandError, ExitCode, OrExit, Output, ParsedArgs, usage_error};
use grpc::Definitions;
use serde_json::json;

use super::config;
use super::flags::GrpcFlags;
use crate::load::environment::Environment;

/// What is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// Names of services, or of a service's methods.
    List,
    /// A symbol's definition.
    Describe,
}

impl Lookup {
    /// The one that a first word names.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        match word {
            "list" => Some(Self::List),
            "describe" => Some(Self::Describe),
            _ => None,
        }
    }
}

/// Prints what is looked up.
///
/// # Errors
/// The command line is wrong, the definitions cannot be had, or there is nothing of that name.
pub(super) fn run(lookup: Lookup, args: &ParsedArgs<GrpcFlags>) -> Result<ExitCode, CommandError> {
    let (server, symbol) = operands(args)?;
    let definitions = definitions(args, server)?;
    let text = match lookup {
        Lookup::List => list_text(&args.flags, &definitions, symbol)?,
        Lookup::Describe => describe_text(&args.flags, &definitions, symbol)?,
    };
    Output::Stdout.write(text.as_bytes())?;
    Ok(ExitCode::Ok)
}

/// Checks a command line without reading or opening anything.
///
/// # Errors
/// It is wrong.
pub(super) fn validate(args: &ParsedArgs<GrpcFlags>) -> Result<(), CommandError> {
    operands(args)?;
    config::source(&args.flags).map(drop)
}

/// The server, where one is needed, and the symbol.
fn operands(args: &ParsedArgs<GrpcFlags>) -> Result<(Option<Server>, Option<&str>), CommandError> {
    let rest = &args.operands[1..];
    let is_asked = config::source(&args.flags)?.is_reflection();
    // With files a server may be named, and is not asked.
    let (address, symbol) = match rest {
        [] => (None, None),
        [one] if !is_asked && Server::parse(one).is_err() => (None, Some(one.as_str())),
        [address] => (Some(address), None),
        [address, symbol] => (Some(address), Some(symbol.as_str())),
        [_, _, extra, ..] => return Err(usage_error(format!("unexpected \"{extra}\""))),
    };
    if address.is_none() && is_asked {
        let text = "a server is missing: give HOST:PORT, -proto=FILE or -protoset=FILE";
        return Err(usage_error(text));
    }
    let server = address.map(|address| config::server(address, &args.flags)).transpose()?;
    Ok((server, symbol))
}

fn definitions(
    args: &ParsedArgs<GrpcFlags>,
    server: Option<Server>,
) -> Result<Definitions, CommandError> {
    let source = config::source(&args.flags)?;
    let Some(server) = server.filter(|_| source.is_reflection()) else {
        return Ok(source.of_files().or_exit(ExitCode::Input)?);
    };
    let settings = config::call_settings(args, &server, &Environment::of_process())?;
    Ok(calls::load(&source, &server, &settings).or_exit(ExitCode::Input)?)
}

fn list_text(
    flags: &GrpcFlags,
    definitions: &Definitions,
    service: Option<&str>,
) -> Result<String, CommandError> {
    let names = listing(definitions, service).or_exit(ExitCode::Input)?;
    Ok(match flags.display.json {
        true => format!("{}\n", json!(names)),
        false => names.iter().map(|name| format!("{name}\n")).collect(),
    })
}

fn describe_text(
    flags: &GrpcFlags,
    definitions: &Definitions,
    symbol: Option<&str>,
) -> Result<String, CommandError> {
    let names = match symbol {
        Some(symbol) => vec![symbol.to_owned()],
        None => listing(definitions, None).or_exit(ExitCode::Input)?,
    };
    if flags.display.json {
        let all = names.iter().map(|name| as_json(flags, definitions, name));
        let mut all = all.collect::<Result<Vec<_>, CommandError>>()?;
        let document = if symbol.is_some() { all.remove(0) } else { json!(all) };
        return Ok(format!("{document:#}\n"));
    }
    let mut text = String::new();
    for name in &names {
        text.push_str(&describe(definitions, name).or_exit(ExitCode::Input)?);
    }
    if flags.template {
        let message = message_of(definitions, &names[0]).or_exit(ExitCode::Input)?;
        let example = json_template(&message);
        text.push_str(&format!("\nan example of {} as JSON:\n{example:#}\n", message.full_name()));
    }
    Ok(text)
}

fn as_json(
    flags: &GrpcFlags,
    definitions: &Definitions,
    name: &str,
) -> Result<serde_json::Value, CommandError> {
    let mut document = describe_json(definitions, name).or_exit(ExitCode::Input)?;
    if flags.template {
        let message = message_of(definitions, name).or_exit(ExitCode::Input)?;
        document["template"] = json_template(&message);
    }
    Ok(document)
}
