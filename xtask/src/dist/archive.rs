//! Archives whose bytes depend on their files alone, and checksums.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};

use super::release::Release;
use crate::process;

/// `brunt-VERSION-linux-PROCESSOR.tar.gz`: a folder to unpack anywhere.
pub(super) fn write(release: &Release) -> Result<PathBuf> {
    let folder = release.folder("archive")?;
    let top = format!("brunt-{}", release.version);
    release.install(&folder.join(&top))?;
    let tar = release.work.join("archive.tar");
    pack(release, &folder, &tar)?;
    let file = release.file(".tar.gz");
    compress(&tar, &file)?;
    Ok(file)
}

/// All of a folder as a tar file: sorted, of one time, of no user.
pub(super) fn pack(release: &Release, folder: &Path, tar: &Path) -> Result<()> {
    let (folder, tar) = (folder.to_string_lossy(), tar.to_string_lossy());
    let time = format!("--mtime=@{}", release.made);
    let options = ["--sort=name", "--format=ustar", "--owner=0", "--group=0", "--numeric-owner"];
    let arguments = [&options[..], &[&time, "-cf", &tar, "-C", &folder, "."]].concat();
    process::stream(&release.root, "tar", &arguments)
}

/// Compresses a file, without its name and time.
pub(super) fn compress(from: &Path, to: &Path) -> Result<()> {
    let output = File::create(to).with_context(|| format!("writing {}", to.display()))?;
    let status = process::command("gzip")
        .args(["-9", "-n", "-c"])
        .arg(from)
        .stdout(output)
        .status()
        .context("starting gzip")?;
    anyhow::ensure!(status.success(), "gzip ended with {status}");
    Ok(())
}

/// The SHA-256 of a file, in hexadecimal digits.
pub(super) fn sha256_of(file: &Path) -> Result<String> {
    let mut input = File::open(file).with_context(|| format!("reading {}", file.display()))?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return Ok(hex(&hash.finalize())),
            Ok(len) => hash.update(&buffer[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error).with_context(|| format!("reading {}", file.display())),
        }
    }
}

/// The SHA-256 of bytes, in hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes of a file, with the file's name where they cannot be read.
pub(super) fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("reading {}", file.display()))
}
