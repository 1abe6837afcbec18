//! The published crate: where cargo keeps it, which of its files are used, and the hash that they must have. It writes nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::sha256::Sha256;

/// The crate and its version, as `published/Cargo.toml` requests it.
const NAME: &str = "rquickjs-sys";
const VERSION: &str = "0.14.0";

/// SHA-256 of [`FILES`]: see [`Sources::digest`].
const DIGEST: &str = "d1b9ab1ca15ee0a4399cd1de8ba9b65e68a98091604b4a47bf8630c7c71bad2b";

/// The files that are used.
const FILES: [&str; 27] = [
    "quickjs/builtin-array-fromasync.h",
    "quickjs/builtin-iterator-zip-keyed.h",
    "quickjs/builtin-iterator-zip.h",
    "quickjs/cutils.h",
    "quickjs/dtoa.c",
    "quickjs/dtoa.h",
    "quickjs/libregexp-opcode.h",
    "quickjs/libregexp.c",
    "quickjs/libregexp.h",
    "quickjs/libunicode-table.h",
    "quickjs/libunicode.c",
    "quickjs/libunicode.h",
    "quickjs/list.h",
    "quickjs/quickjs-atom.h",
    "quickjs/quickjs-c-atomics.h",
    "quickjs/quickjs-opcode.h",
    "quickjs/quickjs.c",
    "quickjs/quickjs.h",
    "src/bindings/aarch64-apple-darwin.rs",
    "src/bindings/aarch64-unknown-linux-gnu.rs",
    "src/bindings/aarch64-unknown-linux-musl.rs",
    "src/bindings/x86_64-apple-darwin.rs",
    "src/bindings/x86_64-unknown-linux-gnu.rs",
    "src/bindings/x86_64-unknown-linux-musl.rs",
    "src/inlines/common.rs",
    "src/inlines/ptr_32_nan_boxing.rs",
    "src/inlines/ptr_64.rs",
];

/// Finds the folder of the published crate; cargo downloads the crate if it has to. `package` is the folder of the manifest that
/// depends on it.
///
/// The first attempt is offline, so that a build with everything in the cache touches no network. Cargo itself refuses the
/// second one where `CARGO_NET_OFFLINE` or a configuration file says so.
pub(crate) fn find(package: &Path) -> Result<PathBuf, String> {
    let metadata =
        metadata(package, &["--offline"]).or_else(|_| metadata(package, &[])).map_err(|error| {
            format!("cargo cannot provide {NAME} {VERSION}, which QuickJS is built from: {error}")
        })?;
    folder_in(&metadata)
}

/// What `cargo metadata` prints about the package.
fn metadata(package: &Path, more: &[&str]) -> Result<String, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--locked"])
        .args(more)
        // Cargo looks for its configuration files from the current folder upwards.
        .current_dir(package)
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// The folder of the crate, in what `cargo metadata` prints. Of that JSON only the paths of manifests are read; the folder has
/// the name of the crate, with its version in cargo's registry and without it below `cargo vendor`.
fn folder_in(metadata: &str) -> Result<PathBuf, String> {
    let with_version = format!("{NAME}-{VERSION}");
    let mut folders: Vec<PathBuf> = metadata
        .split("\"manifest_path\":\"")
        .skip(1)
        .filter_map(|rest| PathBuf::from(json_string(rest)).parent().map(Path::to_path_buf))
        .filter(|folder| folder.ends_with(&with_version) || folder.ends_with(NAME))
        .collect();
    match (folders.pop(), folders.is_empty()) {
        (Some(folder), true) => Ok(folder),
        _ => Err(format!("cargo metadata does not name one folder {with_version}")),
    }
}

/// The JSON string that ends at the first quote. Of the escapes it knows those that a path has on Unix: `\"` and `\\`.
fn json_string(rest: &str) -> String {
    let mut text = String::new();
    let mut chars = rest.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => break,
            '\\' => text.extend(chars.next()),
            _ => text.push(char),
        }
    }
    text
}

/// The files of the published crate that are used, by name.
#[derive(Debug)]
pub(crate) struct Sources(BTreeMap<String, String>);

impl Sources {
    /// Reads the files from the folder of the crate.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let read = |name: &str| {
            let path = folder.join(name);
            let text = fs::read_to_string(&path);
            Ok((name.to_owned(), text.map_err(|error| format!("{}: {error}", path.display()))?))
        };
        FILES.into_iter().map(read).collect::<Result<_, String>>().map(Self)
    }

    /// Checks that the files are the ones that the additions were written for.
    pub(crate) fn check(&self) -> Result<(), String> {
        let digest = self.digest();
        if digest == DIGEST {
            return Ok(());
        }
        Err(format!(
            "the sources of {NAME} {VERSION} are not the published ones: their SHA-256 is {digest}, expected is {DIGEST}. \
             Delete the crate from cargo's registry so that cargo downloads it again"
        ))
    }

    /// SHA-256 over all files in the order of their names: for each its name, a line feed, its length in bytes as decimal digits,
    /// a line feed, and its bytes.
    fn digest(&self) -> String {
        let mut hash = Sha256::default();
        for (name, text) in &self.0 {
            hash.update(format!("{name}\n{}\n", text.len()).as_bytes());
            hash.update(text.as_bytes());
        }
        hash.finish()
    }

    /// The text of a file.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Names, without the folder, and texts of the files in a folder.
    pub(crate) fn in_folder(&self, folder: &str) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(move |(name, text)| Some((name.strip_prefix(folder)?, &**text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(paths: &[&str]) -> Result<PathBuf, String> {
        let object = |path: &&str| format!("{{\"name\":\"a\",\"manifest_path\":\"{path}\"}}");
        folder_in(&paths.iter().map(object).collect::<Vec<_>>().join(","))
    }

    #[test]
    fn the_folder_is_the_one_of_the_crate() {
        let registry = "/r/rquickjs-sys-0.14.0/Cargo.toml";
        assert_eq!(
            folder(&["/r/cc-1/Cargo.toml", registry]).unwrap(),
            Path::new("/r/rquickjs-sys-0.14.0")
        );
        let vendored = r#"/a \"b\"/vendor/rquickjs-sys/Cargo.toml"#;
        assert_eq!(folder(&[vendored]).unwrap(), Path::new("/a \"b\"/vendor/rquickjs-sys"));
        for wrong in [&[][..], &["/r/rquickjs-sys-0.15.0/Cargo.toml"], &[registry, registry]] {
            let error = folder(wrong).unwrap_err();
            assert!(error.contains("rquickjs-sys-0.14.0"), "{error}");
        }
    }

    #[test]
    fn the_published_files_have_the_digest_and_changed_ones_have_not() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("published");
        let mut sources = Sources::read(&find(&here).unwrap()).unwrap();
        sources.check().unwrap();
        assert_eq!(sources.in_folder("quickjs/").count(), 18);
        assert!(sources.get("quickjs/quickjs.c").is_some());
        sources.0.get_mut("quickjs/list.h").unwrap().push(' ');
        let error = sources.check().unwrap_err();
        assert!(error.contains(&sources.digest()) && error.contains(DIGEST), "{error}");
    }

    #[test]
    fn a_missing_file_and_a_missing_manifest_are_named() {
        let error = Sources::read(Path::new("/no/such/folder")).unwrap_err();
        assert!(error.starts_with("/no/such/folder/quickjs/"), "{error}");
        let error = find(Path::new("/no/such/folder")).unwrap_err();
        assert!(error.contains("rquickjs-sys 0.14.0"), "{error}");
    }
}
