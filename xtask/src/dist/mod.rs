//! `dist`: what is handed out: one static program as an archive, a Debian package and a container image, with the list of what it is
//! made of and checksums. The same commit, the same profile and the same tools give the same bytes.

mod archive;
mod deb;
mod image;
mod pgo;
mod program;
mod release;
pub(crate) mod sbom;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::{process, workspace};
use pgo::ProfileSource;
use program::Pgo;
use release::Release;

/// The programs that every form needs.
const NEEDED: [&str; 4] = ["tar", "gzip", "dpkg-deb", "git"];

/// The command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let options = Options::parse(arguments)?;
    for program in NEEDED {
        process::find(program).with_context(|| format!("{program} is not installed"))?;
    }
    let release = release(options)?;
    let mut files = vec![archive::write(&release)?, deb::write(&release)?, image::write(&release)?];
    files.push(sbom::write(&release)?);
    files.extend(release.profile.clone());
    files.push(write_sums(&release.out, &files)?);
    for file in &files {
        let size = fs::metadata(file).map_or(0, |metadata| metadata.len());
        println!("dist: {} ({:.1} MB)", file.display(), size as f64 / 1e6);
    }
    Ok(ExitCode::SUCCESS)
}

/// What was asked for on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Options {
    target: Option<String>,
    out: Option<PathBuf>,
    profile: ProfileSource,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value =
                || arguments.next().with_context(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--target" => options.target = Some(value()?.clone()),
                "--out" => options.out = Some(PathBuf::from(value()?)),
                "--profile" => options.profile = ProfileSource::parse(value()?)?,
                other => bail!(
                    "unknown argument \"{other}\" (expected --target TRIPLE, --out FOLDER or --profile FILE|train|none)"
                ),
            }
        }
        Ok(options)
    }
}

/// Builds the program, and finds out what it is.
fn release(options: Options) -> Result<Release> {
    let root = workspace::root();
    let target = options.target.map_or_else(program::default_target, Ok)?;
    let out = options.out.unwrap_or(workspace::target_dir()?.join("dist-files"));
    fs::create_dir_all(&out).with_context(|| format!("making {}", out.display()))?;
    let profile = options.profile.profile(&target, &out)?;
    let pgo = match &profile {
        Some(profile) => Pgo::Use(pgo::by_content(profile)?),
        None => Pgo::Off,
    };
    let program = program::build(&target, &pgo)?;
    let git = |arguments: &[&str]| process::capture(&root, "git", arguments);
    let made = git(&["log", "-1", "--format=%ct"])?.trim().parse().context("the commit's time")?;
    let mut revision = git(&["rev-parse", "HEAD"])?.trim().to_owned();
    if !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty() {
        println!("dist: the checkout has changes that are not committed: this is no release");
        revision.push_str("-dirty");
    }
    let work = workspace::target_dir()?.join("dist-work").join(&target);
    let version = workspace::version("brunt")?;
    Ok(Release { root, out, work, program, profile, version, target, revision, made })
}

/// The checksums of the files, as `sha256sum -c` reads them.
fn write_sums(out: &Path, files: &[PathBuf]) -> Result<PathBuf> {
    let mut lines = String::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        lines.push_str(&format!("{}  {name}\n", archive::sha256_of(file)?));
    }
    let path = out.join("SHA256SUMS");
    fs::write(&path, lines).with_context(|| format!("writing {}", path.display()))?;
    Ok(path)
}
