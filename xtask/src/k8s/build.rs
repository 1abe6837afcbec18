//! The programs of a cluster, from the Go module proxy: built once, minutes each.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::{process, workspace};

/// The programs, and the packages that they are built from.
const PROGRAMS: [(&str, &str); 5] = [
    ("etcd", "./etcd"),
    ("node", "./node"),
    ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
    ("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    ("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
];

/// Helm's package.
const HELM: &str = "helm.sh/helm/v3/cmd/helm@v3.18.6";

/// Builds what is missing or older than its sources; the folder of the programs.
pub(super) fn programs(dir: &Path) -> Result<PathBuf> {
    if process::find("go").is_none() {
        bail!("go is not installed (https://go.dev/doc/install)");
    }
    let (sources, programs) = (dir.join("src"), dir.join("bin"));
    copy(&workspace::root().join("xtask/kubernetes"), &sources)?;
    fs::create_dir_all(&programs).context("making the folder of programs")?;
    for (name, package) in PROGRAMS {
        println!("k8s: building {name}");
        let output = programs.join(name).to_string_lossy().into_owned();
        // The copy may have its go.sum written; what it is checked against is Go's checksum database.
        let arguments = ["build", "-mod=mod", "-ldflags=-s -w", "-o", &output, package];
        process::stream(&sources, "go", &arguments)?;
    }
    Ok(programs)
}

/// Builds Helm, which has dependencies of its own versions.
pub(super) fn helm(programs: &Path) -> Result<PathBuf> {
    println!("k8s: building helm");
    let folder = programs.to_string_lossy().into_owned();
    process::stream_with(programs, "go", &["install", HELM], &[("GOBIN", &folder)])?;
    Ok(programs.join("helm"))
}

/// Copies a folder of sources.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("making {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("reading {}", from.display()))? {
        let entry = entry.context("reading a folder")?;
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)?;
            continue;
        }
        // A copied go.mod has lines that Go added.
        let is_new = fs::read(&target).ok() != fs::read(entry.path()).ok();
        if is_new && !(target.ends_with("go.mod") && target.is_file()) {
            fs::copy(entry.path(), &target)
                .with_context(|| format!("copying {}", target.display()))?;
        }
    }
    Ok(())
}
