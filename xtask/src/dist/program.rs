//! The program itself: built for one kind of machine, and linked statically.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::{process, workspace};

/// The kind of machine this one is, with musl where the compiler has it, else with glibc.
pub(super) fn default_target() -> Result<String> {
    let processor = std::env::consts::ARCH;
    let musl = format!("{processor}-unknown-linux-musl");
    if is_installed(&musl) {
        return Ok(musl);
    }
    let gnu = format!("{processor}-unknown-linux-gnu");
    ensure!(is_installed(&gnu), "the compiler has neither {musl} nor {gnu}");
    println!(
        "dist: the compiler lacks {musl} (rustup target add {musl}): glibc is linked statically"
    );
    Ok(gnu)
}

/// The compiler has the standard library of this target.
fn is_installed(target: &str) -> bool {
    let arguments = ["--print", "target-libdir", "--target", target];
    process::capture(Path::new("."), "rustc", &arguments)
        .is_ok_and(|folder| Path::new(folder.trim()).is_dir())
}

/// What `rustc` says of itself.
pub(super) struct Compiler {
    /// The kind of machine it runs on.
    pub(super) host: String,
    /// The major version of the LLVM that it is made with.
    pub(super) llvm: String,
}

impl Compiler {
    pub(super) fn of_system() -> Result<Self> {
        let about = process::capture(Path::new("."), "rustc", &["-vV"])?;
        let field =
            |name: &str| about.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let (host, version) = field("host:").zip(field("LLVM version:")).context("rustc -vV")?;
        let llvm = version.split('.').next().unwrap_or(version);
        Ok(Self { host: host.to_owned(), llvm: llvm.to_owned() })
    }
}

/// Profile-guided optimisation of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pgo {
    Off,
    /// The program counts what it does, and writes that into this folder.
    Generate(PathBuf),
    /// The program is optimised by this profile.
    Use(PathBuf),
}

impl Pgo {
    /// The compiler's flags.
    fn flags(&self) -> String {
        const STATIC: &str = "-C target-feature=+crt-static";
        match self {
            Self::Off => STATIC.to_owned(),
            // What counts keeps functions that nothing calls, of symbols that a static libc lacks.
            Self::Generate(folder) => format!("-C profile-generate={}", folder.display()),
            // Most code is not run by a bench: that it has no counts says nothing.
            Self::Use(profile) => format!(
                "{STATIC} -C profile-use={} -C llvm-args=-pgo-warn-missing-function=false",
                profile.display()
            ),
        }
    }
}

/// clang's flags for the C in the program, QuickJS above all; `None` where C has nothing to do with a profile.
fn c_flags(pgo: &Pgo) -> Option<String> {
    match pgo {
        Pgo::Off => None,
        Pgo::Generate(folder) => Some(format!("-fprofile-generate={}", folder.display())),
        Pgo::Use(profile) => {
            let profile = profile.display();
            Some(format!("-fprofile-use={profile} -Wno-profile-instr-unprofiled"))
        }
    }
}

/// The variables by which C is compiled with the same profile as Rust. That takes clang of the LLVM that `rustc` is made with, and
/// the headers of the system: C for another kind of machine, musl's included, is compiled without a profile.
///
/// # Errors
/// clang is not installed: without it the same profile would give another program.
fn c_variables(target: &str, pgo: &Pgo) -> Result<Vec<(String, String)>> {
    let Compiler { host, llvm } = Compiler::of_system()?;
    let Some(flags) = c_flags(pgo).filter(|_| host == target) else { return Ok(Vec::new()) };
    let clang = process::find(&format!("clang-{llvm}")).with_context(|| {
        format!("no clang-{llvm}, which compiles C with a profile: apt-get install clang-{llvm}")
    })?;
    let target = target.replace('-', "_");
    let clang = clang.display().to_string();
    Ok(vec![(format!("CC_{target}"), clang), (format!("CFLAGS_{target}"), flags)])
}

/// Builds it; its path.
pub(super) fn build(target: &str, pgo: &Pgo) -> Result<PathBuf> {
    if !is_installed(target) {
        bail!("the compiler lacks the target {target}: rustup target add {target}");
    }
    let name = format!("CARGO_TARGET_{}_RUSTFLAGS", target.to_uppercase().replace('-', "_"));
    let arguments = ["build", "--locked", "--release", "--bin", "brunt", "--target", target];
    let mut variables = c_variables(target, pgo)?;
    variables.push((name, pgo.flags()));
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    process::stream_with(&workspace::root(), "cargo", &arguments, &variables)?;
    let program = workspace::target_dir()?.join(target).join("release/brunt");
    let bytes = fs::read(&program).with_context(|| format!("reading {}", program.display()))?;
    let must_be_static = !matches!(pgo, Pgo::Generate(_));
    ensure!(!must_be_static || is_static(&bytes), "{} is not linked statically", program.display());
    Ok(program)
}

/// An ELF file of 64 bits that asks for no dynamic linker: it has no program header of type `PT_INTERP` (System V ABI, chapter 5).
fn is_static(elf: &[u8]) -> bool {
    const INTERPRETER: [u8; 4] = 3u32.to_le_bytes();
    let number = |at: usize, len: usize| {
        let bytes = elf.get(at..at + len)?;
        bytes
            .iter()
            .rev()
            .try_fold(0usize, |sum, byte| sum.checked_mul(256)?.checked_add((*byte).into()))
    };
    let headers = || Some((number(32, 8)?, number(54, 2)?, number(56, 2)?));
    let Some((first, size, count)) = headers().filter(|_| elf.starts_with(b"\x7fELF\x02\x01"))
    else {
        return false;
    };
    (0..count).all(|index| {
        let kind = first.checked_add(index * size).and_then(|at| elf.get(at..at.checked_add(4)?));
        kind.is_some_and(|kind| kind != INTERPRETER)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_is_compiled_with_the_profile_of_this_machine() {
        assert_eq!(c_flags(&Pgo::Off), None);
        let counting = Pgo::Generate("/counts".into());
        assert_eq!(c_flags(&counting).as_deref(), Some("-fprofile-generate=/counts"));
        let used = c_flags(&Pgo::Use("/a.profdata".into())).unwrap();
        assert!(used.starts_with("-fprofile-use=/a.profdata "), "{used}");
        assert_eq!(c_variables("x86_64-unknown-linux-musl", &counting).unwrap(), []);
    }

    #[test]
    fn a_program_of_the_system_is_not_static() {
        let dynamic = fs::read("/proc/self/exe").unwrap();
        assert!(!is_static(&dynamic));
        assert!(!is_static(b"#!/bin/sh\n") && !is_static(b"\x7fELF\x02\x01"));
        // The same file, its PT_INTERP renamed to PT_NULL.
        let mut patched = dynamic;
        let (first, size) = (64, 56);
        let count = usize::from(patched[56]);
        let types = (0..count).map(|index| first + index * size);
        let interpreter = types.into_iter().find(|at| patched[*at] == 3).unwrap();
        patched[interpreter] = 0;
        assert!(is_static(&patched));
    }
}
