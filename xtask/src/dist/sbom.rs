//! What the program is made of, as CycloneDX 1.6 writes it: each crate with its version, licence and checksum, and which needs which.
//! `sbom` is a command by itself: it prints the bill of the program for this machine, or with `--check` what is wrong with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::release::Release;
use super::{archive, image};
use crate::{npm, process, sanitizer, workspace};

/// The command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let is_check = match arguments {
        [] => false,
        [option] if option == "--check" => true,
        _ => bail!("sbom takes --check or nothing"),
    };
    let root = workspace::root();
    let made = process::capture(&root, "git", &["log", "-1", "--format=%ct"])?;
    let made = made.trim().parse().context("the commit's time")?;
    let bill = read(&root, &sanitizer::host(&root)?, made)?;
    if !is_check {
        println!("{}", serde_json::to_string_pretty(&bill)?);
        return Ok(ExitCode::SUCCESS);
    }
    let problems = problems(&bill);
    problems.iter().for_each(|problem| println!("sbom: {problem}"));
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// `brunt-VERSION-linux-PROCESSOR.cdx.json`.
pub(super) fn write(release: &Release) -> Result<PathBuf> {
    let bill = read(&release.root, &release.target, release.made)?;
    let file = release.file(".cdx.json");
    let text = serde_json::to_string_pretty(&bill)? + "\n";
    fs::write(&file, text).with_context(|| format!("writing {}", file.display()))?;
    Ok(file)
}

/// The bill of the program for a kind of machine, at a commit of this time.
fn read(root: &Path, target: &str, made: u64) -> Result<Value> {
    let arguments = ["metadata", "--format-version=1", "--locked", "--filter-platform", target];
    let metadata = process::capture(root, "cargo", &arguments)?;
    let metadata: Value = serde_json::from_str(&metadata).context("reading cargo metadata")?;
    let lock = fs::read_to_string(root.join("Cargo.lock")).context("reading Cargo.lock")?;
    let mut bill = bill(&metadata, &checksums(&lock), &image::time(made))?;
    add_npm(&mut bill, &npm::packages(root)?);
    Ok(bill)
}

/// Adds the packages of npm that are in the program, as needs of the program itself.
fn add_npm(bill: &mut Value, packages: &[npm::Package]) {
    let program = bill["metadata"]["component"]["bom-ref"].clone();
    let purl = |package: &npm::Package| format!("pkg:npm/{}@{}", package.name, package.version);
    for edge in bill["dependencies"].as_array_mut().into_iter().flatten() {
        if edge["ref"] == program
            && let Some(needs) = edge["dependsOn"].as_array_mut()
        {
            needs.extend(packages.iter().map(|package| Value::from(purl(package))));
        }
    }
    for package in packages {
        let component = json!({
            "type": "library",
            "bom-ref": purl(package),
            "name": package.name,
            "version": package.version,
            "purl": purl(package),
            "licenses": [{ "expression": package.licence }],
        });
        if let Some(components) = bill["components"].as_array_mut() {
            components.push(component);
        }
        if let Some(edges) = bill["dependencies"].as_array_mut() {
            edges.push(json!({ "ref": purl(package), "dependsOn": [] }));
        }
    }
    bill["serialNumber"] = Value::Null;
    bill["serialNumber"] = serial_number(bill).into();
}

/// What a reader of CycloneDX would miss in a bill, one sentence each.
fn problems(bill: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let serial = bill["serialNumber"].as_str().unwrap_or_default();
    let has_head = bill["bomFormat"] == "CycloneDX" && bill["specVersion"] == "1.6";
    if !has_head || bill["version"] != 1 || !serial.starts_with("urn:uuid:") {
        problems.push("it has no head of CycloneDX 1.6".to_owned());
    }
    let components = bill["components"].as_array().map(Vec::as_slice).unwrap_or_default();
    let all: Vec<&Value> = components.iter().chain([&bill["metadata"]["component"]]).collect();
    let mut places = BTreeSet::new();
    for component in all.iter().copied() {
        let text = |key: &str| component[key].as_str().unwrap_or_default();
        let name = format!("{} {}", text("name"), text("version"));
        let is_whole = !text("name").is_empty()
            && !text("version").is_empty()
            && ["pkg:cargo/", "pkg:npm/"].iter().any(|start| text("purl").starts_with(start))
            && component["licenses"][0]["expression"].is_string();
        if !is_whole {
            problems.push(format!("{name} lacks a name, version, licence or place"));
        }
        let hash = component["hashes"][0]["content"].as_str();
        if hash.is_some_and(|hash| hash.len() != 64 || !hash.bytes().all(|c| c.is_ascii_hexdigit()))
        {
            problems.push(format!("{name} has a checksum that is none"));
        }
        if !places.insert(component["bom-ref"].as_str().unwrap_or_default()) {
            problems.push(format!("{name} is there twice"));
        }
    }
    let edges = bill["dependencies"].as_array().into_iter().flatten();
    let needs = |edge: &Value| edge["dependsOn"].as_array().cloned().unwrap_or_default();
    let ends = edges.flat_map(|edge| needs(edge).into_iter().chain([edge["ref"].clone()]));
    for end in ends.filter(|end| !places.contains(end.as_str().unwrap_or_default())) {
        problems.push(format!("{end} is needed and is not there"));
    }
    problems
}

/// The checksum of each package of a registry, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |block: &str, key: &str| {
        let start = format!("{key} = \"");
        let line = block.lines().find_map(|line| line.strip_prefix(&start));
        line.map(|line| line.trim_end_matches('"').to_owned())
    };
    let entry = |block: &str| {
        let name = (value(block, "name")?, value(block, "version")?);
        Some((name, value(block, "checksum")?))
    };
    lock.split("[[package]]").filter_map(entry).collect()
}

/// The bill of materials.
fn bill(
    metadata: &Value,
    checksums: &BTreeMap<(String, String), String>,
    time: &str,
) -> Result<Value> {
    let graph = graph(metadata)?;
    let packages = metadata["packages"].as_array().context("cargo metadata: no packages")?;
    let is_part =
        |package: &&Value| package["id"].as_str().is_some_and(|id| graph.contains_key(id));
    let parts: Vec<&Value> = packages.iter().filter(is_part).collect();
    let purl = |id: &str| {
        let package = parts.iter().find(|package| package["id"] == id);
        package.map(|package| purl(package)).unwrap_or_default()
    };
    let (own, others): (Vec<&Value>, Vec<&Value>) =
        parts.iter().partition(|package| package["name"] == "brunt");
    let own = own.first().context("cargo metadata: no package brunt")?;
    let components: Vec<Value> =
        others.iter().map(|package| component(package, "library", checksums)).collect();
    let dependencies: Vec<Value> = graph
        .iter()
        .map(|(id, needs)| {
            let needs: Vec<String> = needs.iter().map(|id| purl(id)).collect();
            json!({ "ref": purl(id), "dependsOn": needs })
        })
        .collect();
    let mut bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "tools": { "components": [{ "type": "application", "name": "cargo xtask dist" }] },
            "component": component(own, "application", checksums),
        },
        "components": components,
        "dependencies": dependencies,
    });
    bill["serialNumber"] = serial_number(&bill).into();
    Ok(bill)
}

/// What brunt is made of: each package with those that it needs to be built. Tests' needs are left out.
fn graph(metadata: &Value) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let nodes = metadata["resolve"]["nodes"].as_array().context("cargo metadata: no graph")?;
    let is_shipped = |dependency: &&Value| {
        let kinds = dependency["dep_kinds"].as_array();
        kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"] != "dev"))
    };
    let needs = |node: &Value| -> BTreeSet<String> {
        let all = node["deps"].as_array().into_iter().flatten().filter(is_shipped);
        all.filter_map(|dependency| dependency["pkg"].as_str().map(str::to_owned)).collect()
    };
    let all: BTreeMap<&str, &Value> =
        nodes.iter().filter_map(|node| Some((node["id"].as_str()?, node))).collect();
    let packages = metadata["packages"].as_array().context("cargo metadata: no packages")?;
    let root = packages.iter().find(|package| package["name"] == "brunt");
    let root = root.and_then(|package| package["id"].as_str()).context("no package brunt")?;
    let (mut graph, mut open) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(id) = open.pop() {
        if graph.contains_key(&id) {
            continue;
        }
        let needs = all.get(id.as_str()).map(|node| needs(node)).unwrap_or_default();
        open.extend(needs.iter().cloned());
        graph.insert(id, needs);
    }
    Ok(graph)
}

fn component(package: &Value, kind: &str, checksums: &BTreeMap<(String, String), String>) -> Value {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let mut component = json!({
        "type": kind,
        "bom-ref": purl(package),
        "name": text("name"),
        "version": text("version"),
        "purl": purl(package),
    });
    if let Some(licence) = package["license"].as_str() {
        // Cargo once allowed a slash where SPDX has OR.
        component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
    }
    if let Some(checksum) = checksums.get(&(text("name"), text("version"))) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    component
}

/// Where a package is, as purl's specification writes it.
fn purl(package: &Value) -> String {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    format!("pkg:cargo/{}@{}", text("name"), text("version").replace('+', "%2B"))
}

/// A UUID of version 8 (RFC 9562) from the content: the same bill has the same number.
fn serial_number(bill: &Value) -> String {
    let mut hash = archive::sha256(bill.to_string().as_bytes());
    hash.replace_range(12..13, "8");
    hash.replace_range(16..17, "8");
    let parts = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)].map(|(from, to)| &hash[from..to]);
    format!("urn:uuid:{}", parts.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bill_has_what_is_shipped_and_not_what_tests_need() {
        let package = |name: &str| json!({ "id": name, "name": name, "version": "1.0.0+a", "license": "MIT/Apache-2.0" });
        let needs = |id: &str, kind: Value| json!({ "pkg": id, "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "packages": [package("brunt"), package("lib"), package("macro"), package("tester"), package("stray")],
            "resolve": { "nodes": [
                { "id": "brunt", "deps": [needs("lib", Value::Null), needs("tester", "dev".into())] },
                { "id": "lib", "deps": [needs("macro", "build".into())] },
                { "id": "macro", "deps": [] }, { "id": "tester", "deps": [] }, { "id": "stray", "deps": [] },
            ] },
        });
        let lock = "[[package]]\nname = \"lib\"\nversion = \"1.0.0+a\"\nchecksum = \"cafe\"\n\n[[package]]\nname = \"brunt\"\nversion = \"1.0.0+a\"\n";
        let bill = bill(&metadata, &checksums(lock), "now").unwrap();
        let names: Vec<&str> = bill["components"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|part| part["name"].as_str())
            .collect();
        assert_eq!(names, ["lib", "macro"]);
        assert_eq!(bill["metadata"]["component"]["name"], "brunt");
        let lib = &bill["components"][0];
        assert_eq!(lib["purl"], "pkg:cargo/lib@1.0.0%2Ba");
        assert_eq!(lib["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(lib["hashes"][0]["content"], "cafe");
        assert_eq!(bill["dependencies"][0]["dependsOn"], json!(["pkg:cargo/lib@1.0.0%2Ba"]));
        let expect = ["lib 1.0.0+a has a checksum that is none"];
        assert_eq!(problems(&bill), expect, "\"cafe\" is too short");
        let number = bill["serialNumber"].as_str().unwrap();
        assert_eq!((number.len(), &number[23..24], &number[28..29]), (45, "8", "8"));
    }

    #[test]
    fn packages_of_npm_are_in_the_bill() {
        let package = json!({ "id": "brunt", "name": "brunt", "version": "1", "license": "MIT" });
        let metadata = json!({ "packages": [package], "resolve": { "nodes": [{ "id": "brunt", "deps": [] }] } });
        let mut bill = bill(&metadata, &BTreeMap::new(), "now").unwrap();
        add_npm(&mut bill, &npm::packages(&workspace::root()).unwrap());
        assert!(problems(&bill).is_empty(), "{:?}", problems(&bill));
        let needs = bill["dependencies"][0]["dependsOn"].as_array().unwrap();
        assert!(needs.contains(&"pkg:npm/papaparse@5.1.1".into()), "{needs:?}");
    }

    #[test]
    fn what_a_bill_lacks_is_named() {
        let component = |name: &str| {
            json!({ "name": name, "version": "1", "purl": format!("pkg:cargo/{name}@1"),
                "bom-ref": name, "licenses": [{ "expression": "MIT" }] })
        };
        let sound = json!({
            "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "serialNumber": "urn:uuid:0",
            "metadata": { "component": component("brunt") },
            "components": [component("a")],
            "dependencies": [{ "ref": "brunt", "dependsOn": ["a"] }, { "ref": "a", "dependsOn": [] }],
        });
        assert!(problems(&sound).is_empty(), "{:?}", problems(&sound));
        let changes: [(&str, Value); 4] = [
            ("specVersion", "1.4".into()),
            ("components", json!([component("a"), component("a")])),
            ("components", json!([component("a"), { "name": "b", "bom-ref": "b" }])),
            ("dependencies", json!([{ "ref": "c", "dependsOn": [] }])),
        ];
        for (key, value) in changes {
            let mut bill = sound.clone();
            bill[key] = value;
            assert_eq!(problems(&bill).len(), 1, "{key}: {:?}", problems(&bill));
        }
        assert!(!problems(&json!({})).is_empty());
    }
}
