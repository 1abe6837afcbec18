//! Builds QuickJS with fibers: finds the published sources in cargo's registry, checks that they are the expected ones, adds the
//! code in `c/`, and compiles the result. It changes nothing outside of `OUT_DIR`.

mod additions;
mod published;
mod sha256;
mod splice;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use published::Sources;

/// The translation units of QuickJS.
const UNITS: [&str; 4] = ["libregexp.c", "libunicode.c", "quickjs.c", "dtoa.c"];

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    for path in ["build", "c", "published"] {
        println!("cargo::rerun-if-changed={path}");
    }
    refuse_features()?;
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(variable("OUT_DIR")?);
    let sources = Sources::read(&published::find(&here.join("published"))?)?;
    sources.check()?;
    write_sources(&sources, &out)?;
    write_bindings(&sources, &out)?;
    // Clippy reads the bindings and links nothing, and under its compiler this script is another one, with a folder of its own.
    if env::var_os("CLIPPY_ARGS").is_none() {
        compile(&out, &here.join("c"));
    }
    Ok(())
}

/// Writes the C sources into `out`, with the additions.
fn write_sources(sources: &Sources, out: &Path) -> Result<(), Box<dyn Error>> {
    for (name, text) in sources.in_folder("quickjs/") {
        match additions::of(name) {
            Some(additions) => fs::write(out.join(name), splice::apply(text, additions)?)?,
            None => fs::write(out.join(name), text)?,
        }
    }
    Ok(())
}

/// Writes the Rust files that `src/lib.rs` includes: the bindings of the target, and the macros of the C headers.
fn write_bindings(sources: &Sources, out: &Path) -> Result<(), Box<dyn Error>> {
    let target = variable("TARGET")?;
    let name = format!("src/bindings/{target}.rs");
    let bindings = sources.get(&name).ok_or_else(|| {
        format!("QuickJS has no bindings for {target} here; published::FILES lists the targets")
    })?;
    fs::write(out.join("bindings.rs"), bindings)?;
    for (name, text) in sources.in_folder("src/inlines/") {
        fs::write(out.join(name), text)?;
    }
    Ok(())
}

/// Compiles QuickJS with the flags of the published build script.
fn compile(sources: &Path, additions: &Path) {
    cc::Build::new()
        .cargo_warnings(false)
        .extra_warnings(false)
        .flag_if_supported("-Wno-implicit-const-int-float-conversion")
        .define("_GNU_SOURCE", None)
        .include(additions)
        .files(UNITS.map(|name| sources.join(name)))
        .compile("libquickjs.a");
}

/// The published crate's features change how it is built; nothing here does what they ask for.
fn refuse_features() -> Result<(), String> {
    match env::vars().find_map(|(name, _)| name.strip_prefix("CARGO_FEATURE_").map(str::to_owned)) {
        Some(feature) => Err(format!("feature {feature} of rquickjs-sys is not supported here")),
        None => Ok(()),
    }
}

/// A variable that cargo sets for build scripts.
fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|error| format!("{name}: {error}"))
}
