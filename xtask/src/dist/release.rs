//! `Release`: what is handed out, and the files of an installation.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Files beside the program: where they are, and their place below `share/` of an installation.
const SHARED: [(&str, &str); 4] = [
    ("docs/man/brunt.1", "man/man1/brunt.1"),
    ("docs/completions/brunt.bash", "bash-completion/completions/brunt"),
    ("docs/completions/_brunt", "zsh/vendor-completions/_brunt"),
    ("docs/completions/brunt.fish", "fish/vendor_completions.d/brunt.fish"),
];

/// Files for people, in `share/doc/brunt/`.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// What is handed out: a program of one version for one kind of machine.
pub(super) struct Release {
    /// The checkout.
    pub(super) root: PathBuf,
    /// Where the files go.
    pub(super) out: PathBuf,
    /// A folder for what is packed.
    pub(super) work: PathBuf,
    /// The program.
    pub(super) program: PathBuf,
    /// The profile that it is optimised by.
    pub(super) profile: Option<PathBuf>,
    /// brunt's version.
    pub(super) version: String,
    /// The compiler's name of the kind of machine.
    pub(super) target: String,
    /// The commit.
    pub(super) revision: String,
    /// When the commit was made, in seconds since 1970: the time of every file.
    pub(super) made: u64,
}

impl Release {
    /// The processor's name, as the kernel calls it.
    pub(super) fn processor(&self) -> &str {
        self.target.split('-').next().unwrap_or_default()
    }

    /// The processor's name, as Debian and container registries call it.
    pub(super) fn architecture(&self) -> &str {
        match self.processor() {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        }
    }

    /// A file to hand out.
    pub(super) fn file(&self, ending: &str) -> PathBuf {
        self.out.join(format!("brunt-{}-linux-{}{ending}", self.version, self.processor()))
    }

    /// An empty folder to fill.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.work.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .with_context(|| format!("emptying {}", folder.display()))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        Ok(folder)
    }

    /// Program, manual page, completions and documents below `prefix`.
    pub(super) fn install(&self, prefix: &Path) -> Result<()> {
        copy(&self.program, &prefix.join("bin/brunt"), 0o755)?;
        for (from, to) in SHARED {
            copy(&self.root.join(from), &prefix.join("share").join(to), 0o644)?;
        }
        for name in DOCUMENTS {
            copy(&self.root.join(name), &prefix.join("share/doc/brunt").join(name), 0o644)?;
        }
        Ok(())
    }
}

/// Copies a file, and makes its folder.
pub(super) fn copy(from: &Path, to: &Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    fs::copy(from, to).with_context(|| format!("copying {}", from.display()))?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode))
        .with_context(|| format!("the permissions of {}", to.display()))
}
