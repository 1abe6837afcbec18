//! `inspect`, `archive` and `new`: what a script is, a script with all it needs in one file, and a script to begin with.

use std::path::Path;

use anyhow::anyhow;
use cli::{CommandError, ExitCode, ExitError, Invocation, Output, ParsedArgs, reason};
use script::{ConsolidatedOptions, Fields, Level, Options};
use serde_json::{Map, Value, json};

use crate::arguments::typed;
use crate::config::load;
use crate::flags::{ARCHIVE, INSPECT, NEW, NewFlags, RunFlags};
use crate::script_variables::ScriptVariables;
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
pub(super) fn operand(typed: &ParsedArgs<RunFlags>) -> Option<&str> {
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
    let none = ScriptVariables::default();
    let variables = if flags.exclude_env { &none } else { &loaded.variables };
    let options = &loaded.options;
    let bytes = bytes(&loaded.source, options, variables, compatibility(flags).as_deref());
    if let Some(text) = left_behind(&loaded.source, &loaded.variables) {
        loaded.logger.log_line(Level::Warn, &text);
    }
    let out = flags.archive_out.as_deref().unwrap_or("archive.tar");
    Output::named(Some(out)).write(&bytes)?;
    Ok(ExitCode::Ok)
}

/// The language that flags or the environment name.
fn compatibility(flags: &RunFlags) -> Option<String> {
    option_layers::text(flags.compatibility.as_deref(), "K6_COMPATIBILITY_MODE")
}

/// An archive of a script: all that leaves this machine of it, whether to a file or to the agents of a fleet. That is the files that it
/// has read so far, its options, and the variables that were named.
pub(super) fn bytes(
    source: &Source,
    options: &Options,
    variables: &ScriptVariables,
    compatibility: Option<&str>,
) -> Vec<u8> {
    let pwd = Path::new(&source.main).parent().unwrap_or(Path::new("/"));
    let env: Map<String, Value> =
        variables.named.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    let metadata = json!({
        "type": "js",
        "options": options_to_go(options),
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

/// The options that an archive holds. A user's own file of options may have more than options: k6 stores the token of its cloud there,
/// which no archive needs.
fn options_to_go(options: &Options) -> Fields {
    let is_option = |name: &String| !options.unknown.contains(name);
    let given = options.given.iter().filter(|(name, _)| is_option(name));
    let mut fields: Fields = given.map(|(name, value)| (name.clone(), value.clone())).collect();
    for path in [&["cloud"][..], &["ext", "loadimpact"]] {
        let (first, rest) = path.split_first().expect("each path has a name");
        let begin = fields.get_mut(*first);
        let part = rest.iter().try_fold(begin, |part, name| Some(part?.get_mut(*name)));
        if let Some(Some(Value::Object(part))) = part {
            part.remove("token");
        }
    }
    fields
}

/// What to tell of variables of this machine that a script reads and that its archive does not hold.
pub(super) fn left_behind(source: &Source, variables: &ScriptVariables) -> Option<String> {
    let read = source.read_so_far();
    let names = variables.left_behind(read.values().map(Vec::as_slice));
    (!names.is_empty()).then(|| {
        format!(
            "the script reads variables of this machine, which do not leave it: {}; name them with -e NAME if they are to",
            names.join(", ")
        )
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(bytes: &[u8], what: &str) -> bool {
        bytes.windows(what.len()).any(|part| part == what.as_bytes())
    }

    #[test]
    fn an_archive_holds_what_was_named_and_nothing_else() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let system = vec![pair("GITHUB_TOKEN", "canary-1"), pair("HOME", "/home/canary-2")];
        let variables = ScriptVariables::of(&[], &system, &[pair("HOST", "named")]);
        let given = json!({
            "vus": 3, "collectors": { "cloud": { "token": "canary-3" } },
            "cloud": { "name": "n", "token": "canary-4" }, "ext": { "loadimpact": { "token": "canary-5" } },
        });
        let options = Options::of(given.as_object().cloned().unwrap()).unwrap();
        let archived = bytes(&Source::default(), &options, &variables, None);
        assert!(holds(&archived, "named") && holds(&archived, "\"vus\": 3"));
        assert!(!holds(&archived, "canary"), "{}", String::from_utf8_lossy(&archived));
        let again = Source::of_archive(&archived).map_err(|error| error.text).unwrap();
        assert_eq!(again.env, variables.named);
    }
}
