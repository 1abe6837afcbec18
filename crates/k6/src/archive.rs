//! `inspect`, `archive` and `new`: what a script is, a script with all it needs in one file, and a script to begin with.

use std::path::Path;

use anyhow::anyhow;
use cli::{CommandError, ExitCode, ExitError, Invocation, Output, ParsedArgs, reason};
use script::{ConsolidatedOptions, Fields};
use serde_json::{Map, Value, json};

use crate::arguments::typed;
use crate::config::load;
use crate::flags::{ARCHIVE, INSPECT, NEW, NewFlags, RunFlags};
use crate::source::Source;
use crate::{option_layers, tar};

/// Prints a script's options.
pub fn inspect(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = match typed(invocation, INSPECT)? {
        Ok(typed) => typed,
        Err(code) => return Ok(code),
    };
    let Some(path) = operand(&typed) else { return Ok(ExitCode::Other) };
    // Without its requirements a script is shown as it is.
    let requirements = typed.flags.requirements;
    let loaded = match load(path, &typed.flags, false) {
        Ok(loaded) => loaded,
        Err(code) => return Ok(code),
    };
    let shown = if requirements {
        loaded.warn();
        let functions = loaded.check_functions(path);
        if let Err(error) = functions.and_then(|()| loaded.check_thresholds(&typed.flags)) {
            return Ok(loaded.logger.report(&error));
        }
        let options = &loaded.options;
        let needed = options.reservation();
        options.derived().with("totalDuration", needed.end.to_string()).with("maxVUs", needed.vus)
    } else {
        ConsolidatedOptions::own(&loaded.own)
    };
    let text = shown.pretty() + "\n";
    Output::Stdout.write(text.as_bytes())?;
    Ok(ExitCode::Ok)
}

/// The only operand; others are reported as errors.
fn operand(typed: &ParsedArgs<RunFlags>) -> Option<&str> {
    match typed.operands.as_slice() {
        [path] => Some(path),
        _ => {
            cli::eprint_line("expected one script");
            None
        }
    }
}

/// Writes a script with all it needs into one file.
pub fn archive(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = match typed(invocation, ARCHIVE)? {
        Ok(typed) => typed,
        Err(code) => return Ok(code),
    };
    let Some(path) = operand(&typed) else { return Ok(ExitCode::Other) };
    let flags = &typed.flags;
    let loaded = match load(path, flags, false) {
        Ok(loaded) => loaded,
        Err(code) => return Ok(code),
    };
    loaded.warn();
    if let Err(error) = loaded.check_functions(path) {
        return Ok(loaded.logger.report(&error));
    }
    let env = if flags.exclude_env { &[] } else { loaded.env.as_slice() };
    let given = &loaded.options.given;
    let bytes = bytes(&loaded.source, given, env, compatibility(flags).as_deref());
    let out = flags.archive_out.as_deref().unwrap_or("archive.tar");
    Output::named(Some(out)).write(&bytes)?;
    Ok(ExitCode::Ok)
}

/// The language that flags or the environment name.
fn compatibility(flags: &RunFlags) -> Option<String> {
    option_layers::text(flags.compatibility.as_deref(), "K6_COMPATIBILITY_MODE")
}

/// An archive of a script, with all files that it read so far, its options and its variables.
pub(super) fn bytes(
    source: &Source,
    options: &Fields,
    env: &[(String, String)],
    compatibility: Option<&str>,
) -> Vec<u8> {
    let pwd = Path::new(&source.main).parent().unwrap_or(Path::new("/"));
    let env: Map<String, Value> =
        env.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    let metadata = json!({
        "type": "js",
        "options": options,
        "filename": format!("file://{}", source.main),
        "pwd": format!("file://{}/", pwd.display()),
        "env": env,
        "compatibilityMode": compatibility.unwrap_or("extended"),
        "k6version": "1.8.1",
        "goos": std::env::consts::OS,
    });
    let metadata = serde_json::to_vec_pretty(&metadata).unwrap_or_default();
    let read = source.read_so_far();
    let mut files = vec![
        ("metadata.json".to_owned(), metadata),
        ("data".to_owned(), read.get(&source.main).cloned().unwrap_or_default()),
    ];
    for (name, bytes) in read {
        let place = match name.strip_prefix("https://") {
            Some(address) => format!("https/{address}"),
            None => format!("file{name}"),
        };
        files.push((place, bytes));
    }
    tar::written(&files)
}

/// The scripts to begin with.
const TEMPLATES: [(&str, &str); 2] = [
    ("minimal", include_str!("templates/minimal.js")),
    ("protocol", include_str!("templates/protocol.js")),
];

/// Writes a script to begin with.
pub fn new(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let ParsedArgs { flags, operands, .. }: ParsedArgs<NewFlags> = invocation.parse(NEW)?;
    let path = operands.first().map_or("script.js", String::as_str);
    let name = if flags.template.is_empty() { "minimal" } else { &flags.template };
    let Some((_, text)) = TEMPLATES.iter().find(|(known, _)| *known == name) else {
        let text = format!("there is no template \"{name}\"; there are minimal and protocol");
        return Err(failed(text).into());
    };
    let mut options = std::fs::File::options();
    if flags.force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let written = options
        .write(true)
        .open(path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    if let Err(error) = written {
        let hint = if error.kind() == std::io::ErrorKind::AlreadyExists {
            ", use the `--force` flag to overwrite it"
        } else {
            ""
        };
        return Err(failed(format!("{path}: {}{hint}", reason(&error))).into());
    }
    Output::Stdout.write(format!("New script created: {path} ({name} template).\n").as_bytes())?;
    Ok(ExitCode::Ok)
}

fn failed(text: String) -> ExitError {
    ExitError { code: ExitCode::Other, error: anyhow!(text) }
}
