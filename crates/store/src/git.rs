//! `git`: what git says of the folder that the user is in. That folder may be anybody's, an unpacked archive's say: no program that its
//! configuration names is started, and an answer that takes long is none.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long all that is asked for one purpose may take: a run waits for it.
const LIMIT: Duration = Duration::from_secs(5);
/// The same where the answer is not worth a wait.
const BRIEF_LIMIT: Duration = Duration::from_secs(1);
/// Bytes of an answer that are read.
const ANSWER_MAX: u64 = 16 << 20;

/// The question which files that git follows were changed. No submodule is looked into, as a git of its own would do it, with the
/// submodule's configuration: only another commit of it is a change.
pub(crate) const CHANGES: [&str; 4] =
    ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty"];

/// Asks git about the working folder, several times within one [`LIMIT`].
pub(crate) struct Questions<'f> {
    folder: &'f Path,
    limit: Duration,
    deadline: Instant,
}

impl Questions<'_> {
    pub(crate) fn begin() -> Self {
        Self::within(Path::new("."), LIMIT)
    }

    /// Of what every run asks.
    pub(crate) fn brief() -> Self {
        Self::within(Path::new("."), BRIEF_LIMIT)
    }
}

impl<'f> Questions<'f> {
    fn within(folder: &'f Path, limit: Duration) -> Self {
        Self { folder, limit, deadline: Instant::now() + limit }
    }

    /// What git prints; else the first line of what it complains of.
    pub(crate) fn ask(&self, args: &[&str]) -> Result<String, String> {
        let filters = if args.first() == Some(&"status") { self.filters()? } else { Vec::new() };
        let mut words = vec!["-c".to_owned(), "core.fsmonitor=false".to_owned()];
        words.extend(["-c".to_owned(), "core.hooksPath=/dev/null".to_owned()]);
        words.extend(filters.iter().flat_map(|name| ["-c".to_owned(), format!("{name}=")]));
        words.extend(args.iter().map(|word| (*word).to_owned()));
        self.answer(&words)
    }

    /// The filters of contents that the repository itself configures. Git would run them to see whether a file has changed; those of
    /// the user's own configuration stay.
    fn filters(&self) -> Result<Vec<String>, String> {
        let words = "config --includes --show-scope --name-only --get-regexp ^filter\\.";
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let listed = match self.answer(&words) {
            // That there are none is a failure without a word.
            Err(complaint) if complaint == FAILED => String::new(),
            listed => listed?,
        };
        // `-c` would name another one.
        if listed.contains(char::REPLACEMENT_CHARACTER) {
            return Err("git: the repository has a filter whose name is not UTF-8".to_owned());
        }
        let own = |line: &str| {
            let (scope, name) = line.split_once('\t')?;
            let starts = [".clean", ".smudge", ".process", ".required"];
            let is_its_own = matches!(scope, "local" | "worktree");
            (is_its_own && starts.iter().any(|end| name.ends_with(end))).then(|| name.to_owned())
        };
        let names: Vec<String> = listed.lines().filter_map(own).collect();
        // `-c` could not name it.
        match names.iter().find(|name| name.contains('=')) {
            Some(name) => Err(format!("git: the repository has a filter of the name {name}")),
            None => Ok(names),
        }
    }

    fn answer(&self, words: &[String]) -> Result<String, String> {
        let too_long = || format!("git takes longer than {} s", self.limit.as_secs_f64());
        if self.left().is_zero() {
            return Err(too_long());
        }
        let mut child =
            command(self.folder, words).spawn().map_err(|error| format!("git: {error}"))?;
        let (stdout, stderr) = (read_aside(child.stdout.take()), read_aside(child.stderr.take()));
        let texts = self.wait_for(&stdout).and_then(|out| Some((out, self.wait_for(&stderr)?)));
        let Some((printed, complaint)) = texts else {
            end(&mut child);
            return Err(too_long());
        };
        let status = child.wait().map_err(|error| format!("git: {error}"))?;
        if status.success() {
            return Ok(printed.trim().to_owned());
        }
        Err(complaint.lines().next().unwrap_or(FAILED).to_owned())
    }

    /// What was read of a pipe; `None` where it takes until the deadline.
    fn wait_for(&self, text: &mpsc::Receiver<String>) -> Option<String> {
        text.recv_timeout(self.left()).ok()
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

/// The complaint of a git that says nothing.
const FAILED: &str = "git failed";

fn command(folder: &Path, words: &[String]) -> Command {
    let mut command = Command::new("git");
    command.args(words).current_dir(folder).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    // Neither a question to the user, nor a file written, nor a repository elsewhere asked for what is missing here, also by a git that
    // does not know the variable of lazy fetches.
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
    command
}

/// Reads all of a pipe on a thread of its own: what git started may hold it open for ever.
fn read_aside(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let read = move || {
        let mut bytes = Vec::new();
        pipe.map(|pipe| pipe.take(ANSWER_MAX).read_to_end(&mut bytes).ok());
        // It is no longer waited for.
        sender.send(String::from_utf8_lossy(&bytes).into_owned()).ok();
    };
    // Without a thread there is no answer.
    std::thread::Builder::new().name("git".to_owned()).spawn(read).ok();
    receiver
}

fn end(child: &mut Child) {
    // It may have ended by itself.
    child.kill().ok();
    child.wait().ok();
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;
    use std::time::Instant;

    use super::*;

    /// A repository with a commit, and a program that notes that it was started.
    fn repository(name: &str, program: &str) -> (PathBuf, PathBuf) {
        let folder = tempfile::Builder::new()
            .prefix(&format!("brunt-git-{name}-"))
            .tempdir()
            .unwrap()
            .keep();
        fs::create_dir_all(&folder).unwrap();
        let marker = folder.join("started");
        let hostile = folder.join("hostile");
        fs::write(&hostile, format!("#!/bin/sh\ntouch {}\n{program}\n", marker.display())).unwrap();
        fs::set_permissions(&hostile, fs::Permissions::from_mode(0o755)).unwrap();
        begin_repository(&folder);
        (folder, marker)
    }

    fn begin_repository(folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("file.txt"), "one\n").unwrap();
        run_git(folder, &["init", "-q"]);
        run_git(folder, &["add", "file.txt"]);
        run_git(folder, &["commit", "-q", "-m", "one"]);
    }

    fn run_git(folder: &Path, words: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words);
        let output = command.current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
    }

    /// Appends to a repository's configuration.
    fn configure(repository: &Path, more: &str) {
        let file = repository.join(".git/config");
        fs::write(&file, fs::read_to_string(&file).unwrap() + more).unwrap();
    }

    /// Issue 19, X7.
    #[test]
    fn a_repository_starts_no_programs() {
        let (folder, marker) = repository("hostile", "cat");
        let hostile = folder.join("hostile").display().to_string();
        let config = format!(
            "[core]\nfsmonitor = {hostile}\nhooksPath = {0}\n[filter \"x\"]\nclean = {hostile}\nprocess = {hostile}\nrequired = true\n",
            folder.display()
        );
        configure(&folder, &config);
        fs::write(folder.join(".git/info/attributes"), "* filter=x\n").unwrap();
        // Its times differ, so its content is looked at.
        fs::write(folder.join("file.txt"), "two\n").unwrap();
        let ask = |args: &[&str]| Questions::within(&folder, LIMIT).ask(args);
        assert_eq!(ask(&CHANGES).unwrap(), "M file.txt");
        assert!(ask(&["rev-parse", "--verify", "HEAD"]).unwrap().len() >= 40);
        assert!(!marker.exists(), "git started what the repository names");
        // As it is without the care.
        Command::new("git").args(CHANGES).current_dir(&folder).output().unwrap();
        assert!(marker.exists(), "the trap works");
        fs::remove_file(&marker).unwrap();
        configure(&folder, &config.replace("filter \"x\"", "filter \"a=b\""));
        fs::write(folder.join(".git/info/attributes"), "* filter=a=b\n").unwrap();
        assert!(ask(&CHANGES).unwrap_err().contains("filter.a=b.clean"));
        assert!(!marker.exists());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_filter_whose_name_is_not_utf_8_is_not_started() {
        let (folder, marker) = repository("bytes", "cat");
        let config = folder.join(".git/config");
        let mut bytes = fs::read(&config).unwrap();
        let hostile = folder.join("hostile");
        bytes.extend(b"[filter \"x\xff\"]\n\tclean = ");
        bytes.extend(hostile.display().to_string().bytes());
        fs::write(&config, bytes).unwrap();
        fs::create_dir_all(folder.join(".git/info")).unwrap();
        fs::write(folder.join(".git/info/attributes"), b"* filter=x\xff\n").unwrap();
        fs::write(folder.join("file.txt"), "two\n").unwrap();
        let refused = Questions::within(&folder, LIMIT).ask(&CHANGES).unwrap_err();
        assert!(refused.contains("UTF-8"), "{refused}");
        assert!(!marker.exists(), "the filter was started");
        fs::remove_dir_all(&folder).unwrap();
    }

    /// Issue 19: git asks a submodule's files for changes by a git of its own, with the submodule's configuration.
    #[test]
    fn a_submodule_starts_no_programs() {
        let (folder, marker) = repository("submodule", "cat");
        let inner = folder.join("inner");
        begin_repository(&inner);
        let hostile = folder.join("hostile").display().to_string();
        run_git(&folder, &["add", "inner"]);
        run_git(&folder, &["commit", "-q", "-m", "two"]);
        configure(&inner, &format!("[filter \"x\"]\nclean = {hostile}\nrequired = true\n"));
        fs::write(inner.join(".git/info/attributes"), "* filter=x\n").unwrap();
        fs::write(inner.join("file.txt"), "two\n").unwrap();
        let ask = |args: &[&str]| Questions::within(&folder, LIMIT).ask(args);
        assert_eq!(ask(&CHANGES).unwrap(), "");
        assert!(!marker.exists(), "git started what the submodule names");
        let dirty = ["status", "--porcelain", "--untracked-files=no"];
        Command::new("git").args(dirty).current_dir(&folder).output().unwrap();
        assert!(marker.exists(), "the trap works");
        // Another commit of it is still a change.
        run_git(&inner, &["-c", "filter.x.clean=", "-c", "filter.x.required=", "add", "file.txt"]);
        run_git(&inner, &["commit", "-q", "-m", "two"]);
        assert_eq!(ask(&CHANGES).unwrap(), "M inner");
        fs::remove_dir_all(&folder).unwrap();
    }

    /// Issue 19: a git from before the variable of lazy fetches would get what is missing as the repository says.
    #[test]
    fn a_repository_reaches_nothing_elsewhere() {
        let (folder, marker) = repository("elsewhere", "");
        let hostile = folder.join("hostile").display().to_string();
        let config =
            format!("[protocol]\nallow = always\n[remote \"far\"]\nurl = ext::{hostile}\n");
        configure(&folder, &config);
        let refused = Questions::within(&folder, LIMIT).ask(&["ls-remote", "far"]).unwrap_err();
        assert!(refused.contains("transport 'ext' not allowed"), "{refused}");
        assert!(!marker.exists());
        Command::new("git").args(["ls-remote", "far"]).current_dir(&folder).output().unwrap();
        assert!(marker.exists(), "the trap works");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn an_answer_that_takes_long_is_none() {
        let (folder, _) = repository("slow", "");
        let head = folder.join(".git/HEAD");
        fs::remove_file(&head).unwrap();
        assert!(Command::new("mkfifo").arg(&head).status().unwrap().success());
        let begin = Instant::now();
        let limit = Duration::from_millis(200);
        let questions = Questions::within(&folder, limit);
        for _ in 0..50 {
            let refused = questions.ask(&["rev-parse", "HEAD"]).unwrap_err();
            assert_eq!(refused, "git takes longer than 0.2 s");
        }
        assert!(begin.elapsed() < 25 * limit, "the limit is of all questions together");
        fs::remove_dir_all(&folder).unwrap();
    }
}
