//! The Debian package: one static program, its manual page and completions. It depends on nothing.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::archive;
use super::release::Release;
use crate::process;

/// `brunt_VERSION_ARCHITECTURE.deb`.
pub(super) fn write(release: &Release) -> Result<PathBuf> {
    let folder = release.folder("deb")?;
    release.install(&folder.join("usr"))?;
    let share = folder.join("usr/share");
    let documents = share.join("doc/brunt");
    for page in [share.join("man/man1/brunt.1"), documents.join("CHANGELOG.md")] {
        compress(&page)?;
    }
    fs::rename(documents.join("CHANGELOG.md.gz"), documents.join("changelog.gz"))?;
    // Debian's place for licences.
    let texts = ["LICENSE-MIT", "LICENSE-APACHE"].map(|name| documents.join(name));
    let licences = texts.iter().map(fs::read_to_string).collect::<Result<Vec<_>, _>>()?;
    let head = "brunt is licensed under either of these licences, at your choice.";
    fs::write(documents.join("copyright"), format!("{head}\n\n{}", licences.join("\n\n")))?;
    texts.iter().try_for_each(fs::remove_file)?;
    fs::create_dir(folder.join("DEBIAN"))?;
    fs::write(folder.join("DEBIAN/control"), control(release, size(&folder)?))?;
    let name = format!("brunt_{}_{}.deb", release.version, release.architecture());
    let file = release.out.join(name);
    let (from, to) = (folder.to_string_lossy(), file.to_string_lossy());
    let arguments = ["--build", "--root-owner-group", "-Zxz", &from, &to];
    let time = release.made.to_string();
    process::stream_with(&release.root, "dpkg-deb", &arguments, &[("SOURCE_DATE_EPOCH", &time)])?;
    Ok(file)
}

/// Compresses a file in its place.
fn compress(file: &Path) -> Result<()> {
    let mut packed = file.as_os_str().to_owned();
    packed.push(".gz");
    archive::compress(file, Path::new(&packed))?;
    fs::remove_file(file).with_context(|| format!("removing {}", file.display()))
}

/// Bytes of all files.
fn size(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        sum += if path.is_dir() { size(&path)? } else { fs::metadata(&path)?.len() };
    }
    Ok(sum)
}

fn control(release: &Release, bytes: u64) -> String {
    format!(
        "Package: brunt\nVersion: {}\nArchitecture: {}\nMaintainer: the brunt authors\n\
         Section: web\nPriority: optional\nInstalled-Size: {}\nSuggests: nats-server, kubectl\n\
         Description: load tester for web servers\n \
         Sends requests at a rate or from many users, runs k6 scripts, tests Action Cable,\n \
         watches the server, compares variants and says what a measurement is worth.\n \
         Reads the command lines and results of Vegeta, ab, wrk, hey, perfer and k6.\n",
        release.version,
        release.architecture(),
        bytes.div_ceil(1024)
    )
}
