//! `import`: what people already have becomes a k6 script or targets. Crate `import` reads and writes; here are its files.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use ::import::{FileProblem, Files, Import, ImportError, Input, Kind, Note, ScriptSettings};
use cli::{ExitCode, ExitError, Output, eprint_line, input};
use jmx::{UnknownScripts, read_plan};

use super::access_log::{self, LogForm};
use super::{CommandError, usage_error};
use crate::dialect::Invocation;
use crate::flags::import::{Form, IMPORT, ImportFlags};
use crate::load::jmeter;

/// What the help says beside the flags.
pub(super) const ABOUT: &str = "Reads HARs of browsers, command lines of curl, OpenAPI documents, Postman collections and .http
files, and test plans of JMeter's; the kind is found from the content, and - is standard input. Of a HAR, values that answers gave (tokens, ids) are taken
from the answers again. An access log (nginx, Apache, Rails, ELB, Caddy) becomes targets by their frequency, and the rate by the
minute for -shape=replay. What was left out or changed is listed on standard error, with its place.
Files that the input names are read only below the input's own folder, or below -allow-read; the script opens them when
it runs. docs/reference/import.md lists what is understood.";

/// How large a file may be that an input names and that is read at once, in bytes.
const NAMED_FILE_BYTES_MAX: u64 = 64 << 20;

/// Imports every file named, and writes one script or one list of targets.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(IMPORT)?;
    if typed.operands.is_empty() {
        return Err(usage_error("a file is missing (expected for example brunt import orders.sh)"));
    }
    let output = Output::named(typed.flags.output.as_deref());
    output.spares("output", &typed.operands)?;
    if let Some(logs) = logs(&typed.operands, &typed.flags)? {
        return access_log::run(&logs, &typed.flags);
    }
    if let [name] = typed.operands.as_slice()
        && jmeter::is_plan(name)
    {
        return import_plan(name, &typed.flags, &output);
    }
    let mut whole = Import::default();
    for name in &typed.operands {
        whole.append(import_file(name, &typed.flags)?);
    }
    for note in &whole.notes {
        eprint_line(&format!("{}: {}", note.place, note.text));
    }
    let first = typed.operands.first().map_or("-", String::as_str);
    let text = match typed.flags.to.unwrap_or(Form::K6) {
        Form::K6 => {
            let open_prefix = open_prefix(first, typed.flags.output.as_deref());
            ::import::write_script(&whole, &ScriptSettings { open_prefix })
        }
        Form::Targets => ::import::write_targets(&whole)
            .map_err(|error| ExitError::new(ExitCode::Input, error.to_string()))?,
    };
    output.write(text.as_bytes())?;
    Ok(ExitCode::Ok)
}

/// Writes the script of a test plan of JMeter's.
fn import_plan(name: &str, flags: &ImportFlags, output: &Output) -> Result<ExitCode, CommandError> {
    if flags.to == Some(Form::Targets) {
        let text = format!(
            "{name}: a plan of JMeter's has users and conditions, which targets do not have (give -to=k6)"
        );
        return Err(ExitError::new(ExitCode::Input, text).into());
    }
    let bytes = input::read_text(name)?;
    let read = read_plan(&bytes, UnknownScripts::Refused);
    let (plan, problems) =
        read.map_err(|error| ExitError::new(ExitCode::Input, format!("{name}: {error}")))?;
    // Scripts that the interpreter does not run may still stand in the script as comments.
    for problem in problems.iter().filter(|problem| !problem.text.starts_with("script: ")) {
        eprint_line(&format!("{name}: {problem}; it is left out"));
    }
    let script = ::import::write_plan(name, &plan, &open_prefix(name, flags.output.as_deref()));
    for note in &script.notes {
        eprint_line(&format!("{name}: {}: {}", note.path, note.text));
    }
    output.write(script.text.as_bytes())?;
    Ok(ExitCode::Ok)
}

/// The script of a recording with this name, and the notes on it. A recording names no files.
pub(super) fn script_of_har(name: &str, text: &str) -> Result<(String, Vec<Note>), ImportError> {
    let input = Input {
        name,
        text,
        kind: Kind::Har,
        files: &FolderFiles { base: PathBuf::new(), allowed: vec![] },
        environment: None,
        tags: &[],
        environment_name: None,
    };
    let import = ::import::import(&input)?;
    let script = ::import::write_script(&import, &ScriptSettings { open_prefix: String::new() });
    Ok((script, import.notes))
}

/// The inputs as logs; none: they are none. Traffic and single requests do not go together.
fn logs(
    names: &[String],
    flags: &ImportFlags,
) -> Result<Option<Vec<(String, LogForm)>>, CommandError> {
    let mut logs = vec![];
    for name in names {
        logs.extend(access_log::form_of(name, flags)?.map(|form| (name.clone(), form)));
    }
    match logs.len() {
        0 => Ok(None),
        count if count == names.len() => Ok(Some(logs)),
        _ => {
            let text = "access logs and other inputs do not go together: import them one by one";
            Err(ExitError::new(ExitCode::Input, text.to_owned()).into())
        }
    }
}

fn import_file(name: &str, flags: &ImportFlags) -> Result<Import, CommandError> {
    let text = read(name)?;
    let Some(kind) = flags.from.or_else(|| Kind::detect(&text)) else {
        let words = Kind::ALL.map(Kind::word).join(", ");
        let text = format!("{name}: neither of {words}, log by its content; -from says what it is");
        return Err(ExitError::new(ExitCode::Input, text).into());
    };
    let environment = flags.env.as_deref().map(read).transpose()?;
    let files = FolderFiles::of(name, &flags.allow_read);
    let input = Input {
        name,
        text: &text,
        kind,
        files: &files,
        environment: environment.as_deref(),
        tags: &flags.only_tags,
        environment_name: flags.env_name.as_deref(),
    };
    let import = ::import::import(&input).map_err(|error| failure(&error))?;
    Ok(import)
}

fn failure(error: &ImportError) -> ExitError {
    ExitError::new(ExitCode::Input, error.to_string())
}

/// The text of an input. Bytes that are no UTF-8 are replaced: a curl line with them is still a curl line.
fn read(name: &str) -> Result<String, ExitError> {
    if input::is_stdin(name) {
        input::announce_stdin("what is to be imported");
    }
    let bytes = input::read_text(name)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The folder of the input, from the folder that the script will lie in; empty where they are the same.
fn open_prefix(input_name: &str, output: Option<&str>) -> String {
    let folder = |name: &str| {
        let parent = Path::new(name).parent().unwrap_or(Path::new(""));
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned())
    };
    let from = if input::is_stdin(input_name) { PathBuf::from(".") } else { folder(input_name) };
    let to = output.map_or_else(|| folder("."), folder);
    if fs::canonicalize(&from).is_ok_and(|from| from == to) {
        String::new()
    } else {
        from.display().to_string()
    }
}

/// Files below the input's folder and the folders that are allowed, links resolved.
struct FolderFiles {
    base: PathBuf,
    allowed: Vec<PathBuf>,
}

impl FolderFiles {
    fn of(name: &str, allow_read: &[String]) -> Self {
        let base = if input::is_stdin(name) {
            PathBuf::from(".")
        } else {
            Path::new(name).parent().map_or_else(PathBuf::new, Path::to_owned)
        };
        let base = if base.as_os_str().is_empty() { PathBuf::from(".") } else { base };
        let mut allowed: Vec<PathBuf> = vec![base.clone()];
        allowed.extend(allow_read.iter().map(PathBuf::from));
        let allowed = allowed.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
        Self { base, allowed }
    }
}

impl Files for FolderFiles {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileProblem> {
        let found = fs::canonicalize(self.base.join(path)).map_err(|_| FileProblem::Unreadable)?;
        if !self.allowed.iter().any(|folder| found.starts_with(folder)) {
            return Err(FileProblem::NotAllowed);
        }
        // A pipe or a device would wait, or never end.
        if !found.is_file() {
            return Err(FileProblem::Unreadable);
        }
        let file = fs::File::open(&found).map_err(|_| FileProblem::Unreadable)?;
        let mut bytes = vec![];
        file.take(NAMED_FILE_BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(|_| FileProblem::Unreadable)?;
        if bytes.len() as u64 > NAMED_FILE_BYTES_MAX {
            return Err(FileProblem::TooLarge);
        }
        Ok(bytes)
    }

    fn now_s(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_outside_of_the_inputs_folder_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
        fs::create_dir(&inside).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(inside.join("a.txt"), "a").unwrap();
        fs::write(outside.join("b.txt"), "b").unwrap();
        std::os::unix::fs::symlink(outside.join("b.txt"), inside.join("link.txt")).unwrap();
        let name = inside.join("x.sh").display().to_string();
        let files = FolderFiles::of(&name, &[]);
        assert_eq!(files.read("a.txt"), Ok(b"a".to_vec()));
        assert_eq!(files.read("../out/b.txt"), Err(FileProblem::NotAllowed));
        assert_eq!(files.read("link.txt"), Err(FileProblem::NotAllowed));
        assert_eq!(files.read("/etc/passwd"), Err(FileProblem::NotAllowed));
        assert_eq!(files.read("none.txt"), Err(FileProblem::Unreadable));
        let files = FolderFiles::of(&name, &[outside.display().to_string()]);
        assert_eq!(files.read("../out/b.txt"), Ok(b"b".to_vec()));
    }
}
