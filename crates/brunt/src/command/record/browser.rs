//! `Browser`: a Chromium behind the proxy, with an empty profile. It trusts this process's certificates and no others.

use std::ffi::OsString;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use cli::{ExitCode, ExitError, OrExit};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use recorder::Recorder;
use stdx::private_file;

/// Names of Chromium and its kin, as systems have them.
const NAMES: [&str; 6] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
/// How long it may take to end.
const END_TIME_MAX: Duration = Duration::from_secs(3);

/// A browser that runs. Dropped, it ends, and its profile goes.
#[derive(Debug)]
pub(super) struct Browser {
    child: Child,
    name: String,
    profile: PathBuf,
}

impl Browser {
    /// Starts the first that is found.
    pub(super) fn start(recorder: &Recorder, url: Option<&str>) -> Result<Self, ExitError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = find(&path).ok_or_else(missing)?;
        let number = RandomState::new().hash_one(std::process::id());
        let profile = std::env::temp_dir().join(format!("brunt-browser-{number:016x}"));
        private_file::make_folder(&profile)
            .with_context(|| format!("making {}", profile.display()))
            .or_exit(ExitCode::Failure)?;
        let mut command = Command::new(&program);
        command.args(arguments(recorder, &profile, url));
        // Ctrl-C is for us: the browser ends once what it sends is recorded.
        command.process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command
            .spawn()
            .with_context(|| format!("starting {}", program.display()))
            .or_exit(ExitCode::Failure)?;
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { child, name, profile })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it has been closed.
    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    fn signal(&self, signal: Signal) {
        if let Ok(group) = i32::try_from(self.child.id()) {
            // It may have ended meanwhile.
            killpg(Pid::from_raw(group), signal).ok();
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.has_ended() {
            self.signal(Signal::SIGTERM);
            let begin = Instant::now();
            while !self.has_ended() && begin.elapsed() < END_TIME_MAX {
                std::thread::sleep(Duration::from_millis(20));
            }
            if !self.has_ended() {
                self.signal(Signal::SIGKILL);
                // It is reaped, however it ended.
                self.child.wait().ok();
            }
        }
        // What is left of the profile is of no use, and lies where temporary files go.
        fs::remove_dir_all(&self.profile).ok();
    }
}

/// The first browser of this `PATH`.
fn find(path: &OsString) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(path).collect();
    NAMES.iter().find_map(|name| {
        let in_folders = folders.iter().map(|folder| folder.join(name));
        in_folders.into_iter().find(|program| program.is_file())
    })
}

fn missing() -> ExitError {
    ExitError::new(
        ExitCode::Missing,
        "-browser: no Chromium or Chrome is found (apt-get install -y chromium, dnf install chromium, brew install --cask \
         chromium); any other browser records as well: brunt record -authority shows how",
    )
}

fn arguments(recorder: &Recorder, profile: &Path, url: Option<&str>) -> Vec<OsString> {
    let mut user_data = OsString::from("--user-data-dir=");
    user_data.push(profile);
    let mut all = vec![user_data];
    all.extend(texts(&recorder.address().to_string(), recorder.key_hash()).map(OsString::from));
    // The folder is its maker's, us.
    if profile.metadata().is_ok_and(|profile| profile.uid() == 0) {
        // Its sandbox refuses to work for root, as in containers.
        all.push("--no-sandbox".into());
    }
    all.push(url.unwrap_or("about:blank").into());
    all
}

fn texts(proxy: &str, key_hash: &str) -> [String; 10] {
    [
        format!("--proxy-server=http://{proxy}"),
        // Servers of this machine too.
        "--proxy-bypass-list=<-loopback>".to_owned(),
        format!("--ignore-certificate-errors-spki-list={key_hash}"),
        "--no-first-run".to_owned(),
        "--no-default-browser-check".to_owned(),
        // What the browser would send by itself is no step of its user.
        "--disable-background-networking".to_owned(),
        "--disable-component-update".to_owned(),
        "--disable-sync".to_owned(),
        "--disable-quic".to_owned(),
        "--disable-features=OptimizationHints,MediaRouter".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_browser_of_the_path_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().as_os_str().to_owned();
        if !Path::new(NAMES[5]).exists() {
            assert_eq!(find(&path), None);
        }
        fs::write(folder.path().join("google-chrome"), "").unwrap();
        assert_eq!(find(&path), Some(folder.path().join("google-chrome")));
        fs::create_dir(folder.path().join("chromium")).unwrap();
        assert_eq!(find(&path), Some(folder.path().join("google-chrome")), "a folder is none");
        assert!(missing().to_string().contains("apt-get install -y chromium"));
    }
}
