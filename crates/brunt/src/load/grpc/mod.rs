//! `grpc`: its flags, and the load test they come to; what a server offers is in [`describe`].

pub(crate) mod config;
mod describe;
pub(crate) mod flags;

use cli::{CommandError, ExitCode, Invocation, ParsedArgs};
use session::save::SavedTest;

use self::describe::Lookup;
use self::flags::{FLAGS, GrpcFlags};
use super::environment::Environment;
use super::run::run_load_test;
use crate::dialect::LoadRules;

/// The text of `brunt help grpc` before the flags.
pub(crate) const ABOUT: &str = "Calls a method at a rate (-rate, -shape), or as a closed loop (-workers), over -connections. The method's
definition comes from the server's reflection, or from -proto or -protoset. A call's outcome is its gRPC status,
in results, gates (-fail-on 'status.UNAVAILABLE>1%') and reports; its response time counts from when it was due.
A stream of the client is sent at once, and a call ends with the server's last message.
list shows services, or a service's methods; describe shows a symbol as its .proto would; both take -json.

templates in -data and -metadata, as in ghz:
  {{.RequestNumber}} {{.WorkerID}} {{.UUID}} {{.TimestampUnix}} {{.TimestampUnixMilli}} {{.TimestampUnixNano}} {{.Timestamp}}
  {{.MethodName}} {{.ServiceName}} {{.FullyQualifiedName}} {{.InputName}} {{.OutputName}}
  {{newUUID}} {{randomInt 1 100}} {{randomString 8}} {{randNumeric 6}} {{add .RequestNumber 1}} {{mod .RequestNumber 10}}";

/// Makes calls.
///
/// # Errors
/// The command line is wrong, or the test cannot be carried out.
pub(crate) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let args = invocation.parse(FLAGS)?;
    if let Some(lookup) = lookup(&args) {
        return describe::run(lookup, &args);
    }
    let environment = Environment::of_process_with_report();
    let mut load_test = config::resolve(&args, &environment)?;
    let GrpcFlags { results, saving, .. } = &args.flags;
    let files = files(&args.flags);
    load_test.spares(&files)?;
    let (command, name) = ("grpc", results.name.as_str());
    load_test.saving =
        saving.request(SavedTest { command, args: &invocation.args, name, inputs: &files })?;
    Ok(run_load_test(load_test, &LoadRules::NATIVE)?)
}

/// The files that the test reads.
fn files(flags: &GrpcFlags) -> Vec<&str> {
    let data = flags.data.as_deref().and_then(|text| text.strip_prefix('@'));
    let data = data.filter(|path| !path.is_empty() && *path != "-");
    let lists = [&flags.protos, &flags.protosets];
    let listed = lists.into_iter().flatten().map(String::as_str);
    data.into_iter().chain(flags.data_binary.as_deref()).chain(listed).collect()
}

/// Checks a command line without reading or opening anything.
///
/// # Errors
/// The command line is wrong.
pub(crate) fn validate(invocation: &Invocation) -> Result<(), CommandError> {
    let args = invocation.parse(FLAGS)?;
    match lookup(&args) {
        Some(_) => describe::validate(&args),
        None => config::validate(&args),
    }
}

/// Whether something is looked up instead.
fn lookup(args: &ParsedArgs<GrpcFlags>) -> Option<Lookup> {
    Lookup::of_word(args.operands.first()?)
}
