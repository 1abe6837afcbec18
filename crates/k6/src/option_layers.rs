//! The layers of options: the configuration file, the script, the environment's `K6_` variables, the command line.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use cli::reason;
use script::{Fields, Options, OptionsError, VARIABLES, canonical, merged, overridden};
use serde_json::Value;

use crate::error::K6Error;
use crate::flags::RunFlags;
use crate::script_variables::ScriptVariables;

/// The options of all layers.
pub(super) struct LayeredOptions {
    /// The script itself, or the archive that it comes from: an archive brings what counted when it was made.
    pub(super) own: Fields,
    /// All together.
    pub(super) all: Fields,
    /// The layers that set an option of execution, which drops the scenarios of layers below them.
    pub(super) overriding: Vec<&'static str>,
}

/// Reads and merges all layers.
///
/// # Errors
/// One cannot be read.
pub(super) fn all(
    script: Option<&str>,
    archived: Option<Fields>,
    flags: &RunFlags,
) -> Result<LayeredOptions, K6Error> {
    let wrong = |error: OptionsError| K6Error::config(error.to_string());
    let exported = || Options::exported(script).map_err(wrong);
    let own = archived.map_or_else(exported, |archived| canonical(archived).map_err(wrong))?;
    let variable = |name: &str| std::env::var(name).ok();
    let (file, environment) = match flags.is_part {
        true => (Fields::new(), Fields::new()),
        false => (file(flags)?, environment(variable)?),
    };
    let mut typed = flags.options.clone();
    let below = merged([file.clone(), own.clone(), environment.clone()]);
    if !flags.is_part && says_vus_alone(&typed, &below) {
        // k6 2.1: as many iterations as users, in place of the scenarios.
        typed.insert("iterations".to_owned(), typed["vus"].clone());
    }
    let overriding =
        overridden(&[("file", &file), ("script", &own), ("env", &environment), ("cli", &typed)]);
    let all = merged([below, typed]);
    Ok(LayeredOptions { own, all, overriding })
}

/// Whether the command line gives a number of users to scenarios, which have numbers of their own.
fn says_vus_alone(typed: &Fields, below: &Fields) -> bool {
    let is_set = |fields: &Fields, name: &str| fields.get(name).is_some_and(|v| !v.is_null());
    let has_scenarios = below.get("scenarios").and_then(Value::as_object);
    is_set(typed, "vus")
        && !["duration", "iterations", "stages"].iter().any(|name| is_set(typed, name))
        && has_scenarios.is_some_and(|list| !list.is_empty())
}

/// A whole file, decompressed where it is compressed.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stdx::decompressed(File::open(path)?).take(CONFIG_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// As much is read of a configuration file: 16 MiB.
const CONFIG_MAX: u64 = 16 << 20;

/// The configuration file's; none where no flag names one and k6's default path has none.
fn file(flags: &RunFlags) -> Result<Fields, K6Error> {
    let named = text(flags.config.as_deref(), "K6_CONFIG");
    let path = named.clone().map(PathBuf::from).or_else(|| {
        let home = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")));
        home.map(|home| home.join("k6").join("config.json"))
    });
    let Some(path) = path else { return Ok(Fields::new()) };
    let shown = path.display();
    let json = match read(&path) {
        Ok(json) => stdx::plain_text(json),
        Err(_) if named.is_none() => return Ok(Fields::new()),
        Err(error) => return Err(K6Error::config(format!("{shown}: {}", reason(&error)))),
    };
    match serde_json::from_slice(&json) {
        Ok(Value::Object(fields)) => {
            canonical(fields).map_err(|error| K6Error::config(format!("{shown}: {error}")))
        }
        Ok(_) => Err(K6Error::config(format!("{shown}: it is no JSON object"))),
        Err(error) => Err(K6Error::config(format!("{shown}: {error}"))),
    }
}

/// The environment's.
fn environment(variable: impl Fn(&str) -> Option<String>) -> Result<Fields, K6Error> {
    let mut fields = Fields::new();
    for (name, option, format) in VARIABLES {
        let Some(text) = variable(&format!("K6_{name}")).filter(|text| !text.is_empty()) else {
            continue;
        };
        let value =
            format.read(&text).map_err(|wrong| K6Error::config(format!("K6_{name}: {wrong}")))?;
        fields.insert((*option).to_owned(), value);
    }
    Ok(fields)
}

/// The value of a flag, or else of a variable of the environment.
pub(super) fn text(flag: Option<&str>, variable: &str) -> Option<String> {
    let given = flag.map(str::to_owned).or_else(|| std::env::var(variable).ok());
    given.filter(|text| !text.is_empty())
}

/// The same of a switch.
pub(super) fn switch(flag: Option<bool>, variable: &str) -> bool {
    flag.unwrap_or_else(|| {
        std::env::var(variable)
            .is_ok_and(|text| matches!(text.as_str(), "1" | "t" | "T" | "true" | "TRUE" | "True"))
    })
}

/// The names of outputs.
pub(super) fn outputs(flags: &RunFlags) -> Vec<String> {
    if !flags.outputs.is_empty() {
        return flags.outputs.clone();
    }
    let listed = std::env::var("K6_OUT").unwrap_or_default();
    listed.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Where secrets come from.
pub(super) fn secrets(flags: &RunFlags) -> Vec<String> {
    if !flags.secret_sources.is_empty() {
        return flags.secret_sources.clone();
    }
    std::env::var("K6_SECRET_SOURCE").ok().filter(|text| !text.is_empty()).into_iter().collect()
}

/// Where the script's console goes, as the command line and the environment have it; a script cannot say.
pub(super) fn console(flags: &RunFlags) -> Option<String> {
    let flag = flags.options.get("consoleOutput").and_then(Value::as_str);
    text(flag, "K6_CONSOLE_OUTPUT")
}

/// The variables of a script: those that its archive brings, what it is shown of the environment, and what `-e` adds.
pub(super) fn variables(
    flags: &RunFlags,
    shows_env: bool,
    archived: &[(String, String)],
) -> ScriptVariables {
    let all = std::env::var("K6_INCLUDE_SYSTEM_ENV_VARS").map_or(shows_env, |text| text != "false");
    let utf8 = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let system: Vec<_> = match flags.include_system_env.unwrap_or(all) {
        true => std::env::vars_os().filter_map(utf8).collect(),
        false => Vec::new(),
    };
    ScriptVariables::of(archived, &system, &flags.env)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn users_alone_on_the_command_line_take_the_place_of_scenarios() {
        let of = |script: &str, options: Value| {
            let options = options.as_object().cloned().unwrap_or_default();
            let flags = RunFlags { options, is_part: false, ..RunFlags::default() };
            let layers = all(Some(script), None, &flags).map_err(|error| error.text).unwrap();
            (layers.all.get("iterations").cloned(), layers.overriding.concat())
        };
        let scenarios = r#"{"scenarios":{"s":{"executor":"per-vu-iterations","vus":9}}}"#;
        assert_eq!(of(scenarios, json!({"vus": 3})), (Some(json!(3)), "cli".to_owned()));
        assert_eq!(of(scenarios, json!({"tags": {}})), (None, String::new()));
        assert_eq!(of(scenarios, json!({"vus": 3, "duration": "5s"})), (None, "cli".to_owned()));
        assert_eq!(of(r#"{"iterations":7}"#, json!({"vus": 3})).0, Some(json!(7)));
        assert_eq!(of("{}", json!({"vus": 3})), (None, String::new()));
    }

    #[test]
    fn variables_are_a_tier() {
        let variable = |name: &str| match name {
            "K6_VUS" => Some("3".to_owned()),
            "K6_DURATION" => Some("5".to_owned()),
            "K6_TAGS" => Some("a:b".to_owned()),
            "K6_USER_AGENT" => Some(String::new()),
            _ => None,
        };
        let expect = json!({ "vus": 3, "duration": "5", "tags": { "a": "b" } });
        assert_eq!(environment(variable).map(Value::Object), Ok(expect));
        let wrong = |name: &str| (name == "K6_VUS").then(|| "abc".to_owned());
        assert_eq!(environment(wrong).unwrap_err().code as u8, 104);
    }
}
