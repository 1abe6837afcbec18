//! `asan`: the tests of `script` with AddressSanitizer in Rust and in QuickJS's C, since memory there is JavaScript's to reach; and
//! more of the random walks than a usual run of the tests takes.

use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};

use crate::sanitizer::{self, ADDRESS, UNSTABLE};
use crate::{process, workspace};

/// Walks over a realm (`crates/script/tests/scripts/walk.rs`), unless `--walks` says another number.
const WALKS: u64 = 500;
/// The C compiler's part: QuickJS and ring.
const C_FLAGS: &str = "-fsanitize=address -fno-omit-frame-pointer";
/// Coroutines have stacks of their own, which the search for returned frames does not follow. What a realm holds at the end of the
/// process is not given back, so leaks are noise.
const ASAN_OPTIONS: &str = "detect_leaks=0:detect_stack_use_after_return=0";
/// It measures how deep a script may recurse, and AddressSanitizer makes frames larger.
const LEFT_OUT: &str = "native_work_has_room_at_any_depth";

/// The command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let walks = match arguments {
        [] => WALKS,
        [option, number] if option == "--walks" => number.parse().context("--walks N")?,
        _ => bail!("asan takes --walks N or nothing"),
    };
    let root = workspace::root();
    let host = sanitizer::host(&root)?;
    ensure!(
        sanitizer::has_address_runtime(&root, &host)?,
        "rustc has no AddressSanitizer for {host}"
    );
    let target_dir = workspace::target_dir()?.join("asan").to_string_lossy().into_owned();
    let words = ["test", "--package", "script", "--locked", "--no-fail-fast"];
    // Named, the target has build scripts and macros compiled without the flags.
    let place = ["--target", &host, "--target-dir", &target_dir];
    let words = [&words[..], &place, &["--", "--skip", LEFT_OUT]].concat();
    let c_flags = format!("CFLAGS_{}", host.replace('-', "_"));
    let walks = walks.to_string();
    let variables = [
        UNSTABLE,
        ("RUSTFLAGS", ADDRESS),
        (&c_flags, C_FLAGS),
        ("ASAN_OPTIONS", ASAN_OPTIONS),
        ("SCRIPT_WALKS", &walks),
    ];
    process::stream_with(&root, "cargo", &words, &variables)?;
    println!("asan: no fault in the tests of script, nor in {walks} walks");
    Ok(ExitCode::SUCCESS)
}
