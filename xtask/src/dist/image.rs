//! The container image, from nothing but the program: an archive in OCI's image layout that `docker load`, `podman load`, `skopeo`
//! and `crane` read. No daemon and no registry is asked. (OCI Image Format 1.1; `manifest.json` is Docker's list of the same parts.)

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::archive;
use super::release::{Release, copy};

/// The user of the image, one that owns nothing.
const USER: u32 = 65532;

const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// A part of an image, by its hash.
struct Blob {
    digest: String,
    size: usize,
}

impl Blob {
    /// Stores it below `layout`.
    fn store(layout: &Path, bytes: &[u8]) -> Result<Self> {
        let digest = archive::sha256(bytes);
        let path = layout.join("blobs/sha256").join(&digest);
        fs::write(&path, bytes).with_context(|| format!("writing {}", path.display()))?;
        Ok(Self { digest, size: bytes.len() })
    }

    fn descriptor(&self, kind: &str) -> Value {
        json!({ "mediaType": kind, "digest": format!("sha256:{}", self.digest), "size": self.size })
    }

    /// Its place in the archive.
    fn path(&self) -> String {
        format!("blobs/sha256/{}", self.digest)
    }
}

/// `brunt-VERSION-linux-PROCESSOR.oci.tar`.
pub(super) fn write(release: &Release) -> Result<PathBuf> {
    let tar = layer(release)?;
    let packed = release.work.join("layer.tar.gz");
    archive::compress(&tar, &packed)?;
    let layout = release.folder("image")?;
    fs::create_dir_all(layout.join("blobs/sha256")).context("making the folder of blobs")?;
    let layer = Blob::store(&layout, &archive::read(&packed)?)?;
    let config = config(release, &archive::sha256_of(&tar)?);
    let config = Blob::store(&layout, config.to_string().as_bytes())?;
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": config.descriptor(CONFIG),
        "layers": [layer.descriptor(LAYER)],
        "annotations": labels(release),
    });
    let manifest = Blob::store(&layout, manifest.to_string().as_bytes())?;
    let mut entry = manifest.descriptor(MANIFEST);
    entry["platform"] = json!({ "architecture": release.architecture(), "os": "linux" });
    entry["annotations"] = json!({
        "io.containerd.image.name": format!("docker.io/library/brunt:{}", release.version),
        "org.opencontainers.image.ref.name": release.version,
    });
    let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [entry] });
    let docker = json!([{
        "Config": config.path(),
        "RepoTags": [format!("brunt:{}", release.version)],
        "Layers": [layer.path()],
    }]);
    let version = json!({ "imageLayoutVersion": "1.0.0" });
    for (name, text) in [("oci-layout", version), ("index.json", index), ("manifest.json", docker)]
    {
        fs::write(layout.join(name), text.to_string())
            .with_context(|| format!("writing {name}"))?;
    }
    let file = release.file(".oci.tar");
    archive::pack(release, &layout, &file)?;
    Ok(file)
}

/// The only layer: the program, a user, and a folder for temporary files.
fn layer(release: &Release) -> Result<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let root = release.folder("layer")?;
    copy(&release.program, &root.join("usr/local/bin/brunt"), 0o755)?;
    for folder in ["etc", "tmp"] {
        fs::create_dir(root.join(folder)).with_context(|| format!("making {folder}"))?;
    }
    fs::set_permissions(root.join("tmp"), fs::Permissions::from_mode(0o1777))?;
    fs::write(root.join("etc/passwd"), format!("brunt:x:{USER}:{USER}:brunt:/tmp:/none\n"))?;
    fs::write(root.join("etc/group"), format!("brunt:x:{USER}:\n"))?;
    let tar = release.work.join("layer.tar");
    archive::pack(release, &root, &tar)?;
    Ok(tar)
}

fn config(release: &Release, layer: &str) -> Value {
    let path = "PATH=/usr/local/bin";
    json!({
        "created": time(release.made),
        "architecture": release.architecture(),
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "Env": [path, "HOME=/tmp"],
            "Entrypoint": ["/usr/local/bin/brunt"],
            "WorkingDir": "/tmp",
            "Labels": labels(release),
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{layer}")] },
        "history": [{ "created": time(release.made), "created_by": "cargo xtask dist" }],
    })
}

fn labels(release: &Release) -> Value {
    json!({
        "org.opencontainers.image.title": "brunt",
        "org.opencontainers.image.description": "load tester for web servers",
        "org.opencontainers.image.version": release.version,
        "org.opencontainers.image.revision": release.revision,
        "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
        "org.opencontainers.image.created": time(release.made),
    })
}

/// Seconds since 1970 as RFC 3339 writes a time. Days become a date by Hinnant's `civil_from_days`.
pub(super) fn time(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months from March, so that the leap day is the last of a year.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year_of_era + carry;
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_795_478_400, "2026-11-24T00:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(time(seconds), text);
        }
    }

    #[test]
    fn an_image_names_its_parts_by_their_hashes() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("image");
        fs::create_dir_all(&dir).unwrap();
        let program = dir.join("program");
        fs::write(&program, "a program").unwrap();
        let release = Release {
            root: dir.clone(),
            out: dir.clone(),
            work: dir.join("work"),
            program,
            profile: None,
            version: "1.2.3".to_owned(),
            target: "x86_64-unknown-linux-musl".to_owned(),
            revision: "abc".to_owned(),
            made: 1_709_164_800,
        };
        let file = write(&release).unwrap();
        assert_eq!(file.file_name().unwrap(), "brunt-1.2.3-linux-x86_64.oci.tar");
        let first = archive::sha256_of(&file).unwrap();
        let layout = release.work.join("image");
        let read = |path: &str| archive::read(&layout.join(path)).unwrap();
        let json = |path: &str| serde_json::from_slice::<Value>(&read(path)).unwrap();
        let blob = |value: &Value| {
            let path = value["digest"].as_str().unwrap().replace("sha256:", "blobs/sha256/");
            assert_eq!(archive::sha256(&read(&path)), path.rsplit_once('/').unwrap().1);
            assert_eq!(read(&path).len() as u64, value["size"]);
            path
        };
        let manifest = json(&blob(&json("index.json")["manifests"][0]));
        let config = json(&blob(&manifest["config"]));
        let layer = blob(&manifest["layers"][0]);
        assert_eq!(config["architecture"], "amd64");
        assert_eq!(config["config"]["Entrypoint"][0], "/usr/local/bin/brunt");
        let docker = &json("manifest.json")[0];
        assert_eq!(docker["Layers"][0], layer.as_str());
        // The layer's own hash is that of its bytes before compression.
        let tar = archive::sha256_of(&release.work.join("layer.tar")).unwrap();
        assert_eq!(config["rootfs"]["diff_ids"][0], format!("sha256:{tar}"));
        assert_eq!(archive::sha256_of(&write(&release).unwrap()).unwrap(), first, "the same bytes");
        fs::remove_dir_all(&dir).unwrap();
    }
}
