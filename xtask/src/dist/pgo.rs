//! Profile-guided optimisation: a build that counts what it does runs the bench's workloads, and the program is built again by these
//! counts. They differ from run to run, so what is handed out is made again from the profile that lies beside it, not from the
//! commit alone (`--profile FILE`), and the same tools.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::archive;
use super::program::{self, Compiler, Pgo};
use crate::{bench, process, workspace};

/// Where the profile of the program comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum ProfileSource {
    /// It is made here if the tools for it are, and else left out.
    #[default]
    Auto,
    /// It is made here.
    Training,
    /// It was made before.
    File(PathBuf),
    /// The program is built without one.
    None,
}

impl ProfileSource {
    /// `train`, `none` or a file.
    pub(super) fn parse(value: &str) -> Result<Self> {
        match value {
            "train" => Ok(Self::Training),
            "none" => Ok(Self::None),
            file => Ok(Self::File(fs::canonicalize(file).context("--profile FILE|train|none")?)),
        }
    }

    /// The profile, if there is to be one; it was put into `out` where it was made here.
    pub(super) fn profile(&self, target: &str, out: &Path) -> Result<Option<PathBuf>> {
        match self {
            Self::Auto => Ok(train(target, out)
                .inspect_err(|error| {
                    println!("dist: without a profile, and so slower: {error:#}");
                })
                .ok()),
            Self::Training => train(target, out).map(Some),
            Self::File(file) => {
                let beside = out.join(name_of(target)?);
                if fs::canonicalize(&beside).ok().as_ref() != Some(file) {
                    fs::copy(file, &beside)
                        .with_context(|| format!("copying {}", file.display()))?;
                }
                Ok(Some(fs::canonicalize(beside)?))
            }
            Self::None => Ok(None),
        }
    }
}

/// A copy of a profile whose name says what is in it: compilers are run again where their arguments change, not where a file does.
pub(super) fn by_content(profile: &Path) -> Result<PathBuf> {
    let folder = workspace::target_dir()?.join("pgo");
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let copy = folder.join(format!("{}.profdata", archive::sha256_of(profile)?));
    fs::copy(profile, &copy).with_context(|| format!("copying {}", profile.display()))?;
    // Each crate is compiled in a folder of its own.
    Ok(fs::canonicalize(copy)?)
}

/// What the profile of a release is called.
fn name_of(target: &str) -> Result<String> {
    Ok(format!("brunt-{}-{target}.profdata", workspace::version("brunt")?))
}

/// Builds a program that counts, has it do what the bench has, and gives the counts.
fn train(target: &str, out: &Path) -> Result<PathBuf> {
    let merge = merging_tool()?;
    bench::check_needed()?;
    ensure!(can_count(target)?, "the compiler has no profiler_builtins for {target}");
    let counts = workspace::target_dir()?.join("pgo").join(target);
    // Counts of another build are of no use to this one.
    fs::remove_dir_all(&counts).ok();
    fs::create_dir_all(&counts).with_context(|| format!("making {}", counts.display()))?;
    let counts = fs::canonicalize(&counts)?;
    let counting = program::build(target, &Pgo::Generate(counts.clone()))?;
    println!("dist: the bench's workloads run, to be counted");
    bench::train(&counting, &counts)?;
    let profile = out.join(name_of(target)?);
    let mut arguments = vec!["merge".to_owned(), "-o".to_owned(), profile.display().to_string()];
    for entry in fs::read_dir(&counts)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "profraw") {
            arguments.push(path.display().to_string());
        }
    }
    ensure!(arguments.len() > 3, "{} counted nothing", counting.display());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    process::stream(Path::new("."), &merge.display().to_string(), &arguments)?;
    // Each crate is compiled in a folder of its own.
    Ok(fs::canonicalize(profile)?)
}

/// Whether the compiler has what counts for this target.
fn can_count(target: &str) -> Result<bool> {
    let arguments = ["--print", "target-libdir", "--target", target];
    let folder = process::capture(Path::new("."), "rustc", &arguments)?;
    let mut names = fs::read_dir(folder.trim())?.flatten().map(|entry| entry.file_name());
    Ok(names.any(|name| name.to_string_lossy().starts_with("libprofiler_builtins")))
}

/// The program that merges counts, of the LLVM that the compiler is made with: others cannot read them.
fn merging_tool() -> Result<PathBuf> {
    let Compiler { host, llvm } = Compiler::of_system()?;
    let libraries = process::capture(Path::new("."), "rustc", &["--print", "sysroot"])?;
    let own = format!("{}/lib/rustlib/{host}/bin/llvm-profdata", libraries.trim());
    let own = Some(PathBuf::from(own)).filter(|path| path.is_file());
    own.or_else(|| process::find(&format!("llvm-profdata-{llvm}"))).with_context(|| {
        format!(
            "no llvm-profdata of LLVM {llvm}: apt-get install llvm-{llvm}, or rustup component add llvm-tools"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_made_given_or_left_out() {
        assert_eq!(ProfileSource::parse("train").unwrap(), ProfileSource::Training);
        assert_eq!(ProfileSource::parse("none").unwrap(), ProfileSource::None);
        let given = ProfileSource::parse("/dev/null").unwrap();
        assert_eq!(given, ProfileSource::File("/dev/null".into()));
        assert!(ProfileSource::parse("/not/there").is_err());
        let out = Path::new("/out");
        assert_eq!(ProfileSource::None.profile("x", out).unwrap(), None);
        assert!(given.profile("x", out).is_err(), "it cannot be copied there");
    }
}
