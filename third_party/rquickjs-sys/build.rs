//! Compiles QuickJS, which lies beside this file.

use std::path::Path;
use std::{env, fs};

const SOURCES: [&str; 4] = ["libregexp.c", "libunicode.c", "quickjs.c", "dtoa.c"];

fn main() {
    println!("cargo:rerun-if-changed=quickjs");
    println!("cargo:rerun-if-changed=build.rs");
    let mut builder = cc::Build::new();
    builder
        .extra_warnings(false)
        .flag_if_supported("-Wno-implicit-const-int-float-conversion")
        .define("_GNU_SOURCE", None)
        .files(SOURCES.map(|name| Path::new("quickjs").join(name)))
        .compile("libquickjs.a");
    write_target();
}

/// `src/lib.rs` asks a macro of this name which file of bindings it is to include.
fn write_target() {
    let variable = |name| env::var(name).expect("cargo sets it");
    let target = variable("TARGET");
    let text =
        format!("macro_rules! bindings_env {{ (\"TARGET\") => {{ \"{target}\" }}; }}\n");
    let path = Path::new(&variable("OUT_DIR")).join("bindings.rs");
    fs::write(path, text).expect("the output folder is ours");
}
