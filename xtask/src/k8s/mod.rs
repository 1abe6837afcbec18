//! `k8s`: `brunt fleet k8s` against a real API server under Pod Security "restricted", with a user of rights in one namespace alone;
//! the pods run real agents and a real nats-server, on nodes of our own that fork processes. Not a part of CI: the cluster's programs
//! take minutes to build.

mod build;
mod cluster;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::{process, workspace};
use cluster::{TestCluster, wait};

/// The images of the test, which the nodes know by name.
const IMAGE: &str = "registry.example/brunt:test";
const NATS_IMAGE: &str = "docker.io/library/nats:2.12";
/// The namespace of the team, and one with a quota too small for any pod.
const NAMESPACES: &str = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: load\n  labels:\n    \
     pod-security.kubernetes.io/enforce: restricted\n    pod-security.kubernetes.io/warn: restricted\n---\n\
     apiVersion: v1\nkind: Namespace\nmetadata:\n  name: small\n  labels:\n    \
     pod-security.kubernetes.io/enforce: restricted\n---\n\
     apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: cores\n  namespace: small\nspec:\n  hard:\n    limits.cpu: \"1\"\n";

/// A check: what it shows, and how.
type Check = (&'static str, fn(&Bench) -> Result<()>);

const CHECKS: [Check; 8] = [
    ("the API server takes the manifests under \"restricted\" without a warning", accepted),
    ("Helm makes the same objects of the chart", chart),
    ("an attack from three pods comes to the whole, and all is cleaned up", attack),
    ("a k6 script runs on two pods, thresholds and all", script),
    ("an image that cannot be had is named", no_image),
    ("pods that find no node are explained", no_room),
    ("a quota that is too small is named", no_quota),
    ("a namespace without rights is refused in kubectl's words", no_rights),
];

/// What the checks share.
struct Bench {
    cluster: TestCluster,
    brunt: PathBuf,
    helm: PathBuf,
    dir: PathBuf,
    /// A server to load, and its port.
    url: String,
}

/// How a command of brunt ended.
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// The command.
pub(crate) fn run(_arguments: &[String]) -> Result<ExitCode> {
    for program in ["kubectl", "nats-server", "openssl", "unshare"] {
        ensure!(process::find(program).is_some(), "{program} is not installed");
    }
    let root = workspace::root();
    process::stream(&root, "cargo", &["build", "--bin", "brunt"])?;
    let target = workspace::target_dir()?;
    let programs = build::programs(&target.join("k8s"))?;
    let brunt = target.join("debug/brunt");
    let nats = process::find("nats-server").context("nats-server")?;
    let images = format!("{IMAGE}={},{NATS_IMAGE}={}", brunt.display(), nats.display());
    let dir = target.join("k8s/run");
    let cluster = TestCluster::start(&programs, &dir.join("cluster"), &images)?;
    cluster.apply(NAMESPACES)?;
    give_rights(&cluster, &root)?;
    let (mut server, url) = serve(&brunt)?;
    let helm = build::helm(&programs)?;
    let bench = Bench { cluster, brunt, helm, dir, url };
    let mut failed = 0;
    for (what, check) in CHECKS {
        let outcome = check(&bench);
        println!("k8s: {what}: {}", if outcome.is_ok() { "ok" } else { "FAILED" });
        if let Err(error) = outcome {
            println!("k8s:   {error:#}");
            failed += 1;
        }
    }
    let _ = server.kill();
    let _ = server.wait();
    println!("{} passed, {failed} failed", CHECKS.len() - failed);
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Gives the team its rights in its namespaces, and in no other.
fn give_rights(cluster: &TestCluster, root: &Path) -> Result<()> {
    let role = fs::read_to_string(root.join("examples/kubernetes/role.yaml"))?;
    for namespace in ["load", "small"] {
        cluster.apply(
            &role.replace("metadata:\n", &format!("metadata:\n  namespace: {namespace}\n")),
        )?;
        let binding =
            ["create", "rolebinding", "team", "--role=brunt-fleet", "--user=team", "-n", namespace];
        cluster.kubectl(&binding)?;
    }
    Ok(())
}

/// Starts a server to load.
fn serve(brunt: &Path) -> Result<(std::process::Child, String)> {
    let mut command = process::command(brunt);
    command.args(["serve", "-listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().context("starting brunt serve")?;
    let mut line = String::new();
    let stdout = child.stdout.take().context("its output")?;
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line)?;
    let url = line.split_whitespace().find(|word| word.starts_with("http://"));
    let url = url
        .with_context(|| format!("no address in {line:?}"))?
        .trim_end_matches(['/', ',', '.'])
        .to_owned();
    Ok((child, url))
}

impl Bench {
    /// Runs brunt as the team, on a fleet of this many agents.
    fn fleet(&self, name: &str, agents: usize, more: &[&str]) -> Result<Ran> {
        let dir = self.dir.join(name);
        let agents = agents.to_string();
        let dir = dir.to_string_lossy();
        let own = ["fleet", "k8s", "-dir", &dir, "-name", name, "-agents", &agents];
        let output = process::command(&self.brunt)
            .args(own)
            .args(more)
            .env("KUBECONFIG", self.cluster.kubeconfig("team"))
            .current_dir(&self.dir)
            .stdin(Stdio::null())
            .output()
            .context("starting brunt")?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Ran {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        })
    }

    /// The objects that the API server makes of a text, each as a line, sorted.
    fn read_by_cluster(&self, text: &str) -> Result<Vec<String>> {
        let path = self.dir.join("read.yaml");
        fs::write(&path, text)?;
        let path = path.to_string_lossy();
        let list =
            self.cluster.kubectl(&["create", "--dry-run=client", "-o", "json", "-f", &path])?;
        // One document after the other.
        let objects = serde_json::Deserializer::from_str(&list).into_iter::<Value>();
        let mut lines =
            objects.map(|object| Ok(object?.to_string())).collect::<Result<Vec<_>>>()?;
        lines.sort();
        Ok(lines)
    }

    /// What is left of a fleet in the cluster.
    fn left(&self, name: &str) -> Result<String> {
        let label = format!("app.kubernetes.io/instance={name}");
        self.cluster.kubectl(&[
            "get",
            "all,secrets,networkpolicies",
            "-n",
            "load",
            "-l",
            &label,
            "-o",
            "name",
        ])
    }
}

impl Ran {
    /// Ended with this code, and said this on standard error.
    fn expect(&self, code: i32, words: &str) -> Result<()> {
        let Self { code: got, stdout, stderr } = self;
        ensure!(*got == Some(code), "it ended with {got:?}, not {code}: {stdout}{stderr}");
        ensure!(stderr.contains(words), "it did not say \"{words}\": {stderr}");
        Ok(())
    }
}

fn accepted(bench: &Bench) -> Result<()> {
    for (name, more) in [("plain", &["-n", "load", "-image", IMAGE][..]), ("rich", &RICH[..])] {
        let ran = bench.fleet(name, 3, more)?;
        ran.expect(0, "")?;
        let path = bench.dir.join(format!("{name}.yaml"));
        fs::write(&path, &ran.stdout)?;
        let path = path.to_string_lossy();
        let access = format!("--kubeconfig={}", bench.cluster.kubeconfig("team").display());
        let output = process::command("kubectl")
            .args([&access, "apply", "--dry-run=server", "--validate=strict", "-f", &path])
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.success() && said.is_empty(), "{said}");
    }
    Ok(())
}

/// Every flag of the manifests.
const RICH: [&str; 20] = [
    "-n",
    "load",
    "-image",
    IMAGE,
    "-cores",
    "2",
    "-memory",
    "1Gi",
    "-labels",
    "zone=eu",
    "-node-labels",
    "kubernetes.io/os=linux",
    "-pull-secret",
    "registry",
    "-deadline",
    "90m",
    "-nats-image",
    "nats:2.11",
    "-port",
    "4333",
];

fn chart(bench: &Bench) -> Result<()> {
    let own = ["-n", "load", "-image", IMAGE, "-memory", "1Gi", "-deadline", "90m"];
    let folder = bench.dir.join("chart");
    let folder = folder.to_string_lossy();
    bench.fleet("plain", 3, &[&own[..], &["-chart", &folder]].concat())?.expect(0, "")?;
    let plain = bench.fleet("plain", 3, &own)?.stdout;
    let helm = bench.helm.to_string_lossy();
    let templated = process::capture(&bench.dir, &helm, &["template", "plain", &folder])?;
    let objects = |text: &str| bench.read_by_cluster(text);
    ensure!(objects(&plain)? == objects(&templated)?, "other objects: {templated}");
    let changed = ["template", "plain", &folder, "--set", "agents=2,cpu=4"];
    let templated = process::capture(&bench.dir, &helm, &changed)?;
    let has = |line: &str| templated.lines().any(|found| found.trim() == line);
    ensure!(has("completions: 2") && has("cpu: '4'"), "{templated}");
    Ok(())
}

fn attack(bench: &Bench) -> Result<()> {
    let targets = bench.dir.join("targets");
    fs::write(&targets, format!("GET {}/\n", bench.url))?;
    let (targets, results) = (targets.to_string_lossy(), bench.dir.join("results.arrow"));
    let results = results.to_string_lossy();
    let more = [
        "-n",
        "load",
        "-image",
        IMAGE,
        "-apply",
        "--",
        "attack",
        "-targets",
        &targets,
        "-rate=600",
        "-duration=5s",
        "-output",
        &results,
    ];
    bench.fleet("whole", 3, &more)?.expect(0, "whole-agents-")?;
    let report = process::capture(
        &bench.dir,
        &bench.brunt.to_string_lossy(),
        &["report", "-json", &results],
    )?;
    let report: Value = serde_json::from_str(&report)?;
    let (requests, success) = (&report["requests"], &report["success"]);
    ensure!(requests == 3000 && *success == 1, "{requests} requests, {success} of them a success");
    let agents = report["brunt"]["fleet"]["agents"].as_array().context("no agents")?;
    ensure!(agents.len() == 3 && agents.iter().all(|agent| agent["sent"] == 1000), "{agents:?}");
    wait("an empty namespace", || bench.left("whole").is_ok_and(|left| left.is_empty()))
}

fn script(bench: &Bench) -> Result<()> {
    let path = bench.dir.join("script.js");
    let text = "import http from 'k6/http';\nimport { check } from 'k6';\n\
                export const options = { vus: 4, iterations: 40, thresholds: { checks: ['rate==1'], http_reqs: ['count==40'] } };\n\
                export default () => { check(http.get(__ENV.HOST), { ok: (r) => r.status === 200 }); };\n";
    fs::write(&path, text)?;
    let (path, host) = (path.to_string_lossy(), format!("HOST={}", bench.url));
    let more = ["-n", "load", "-image", IMAGE, "-apply", "--", "run", "-e", &host, &path];
    bench.fleet("script", 2, &more)?.expect(0, "")
}

fn no_image(bench: &Bench) -> Result<()> {
    let more = ["-n", "load", "-image", "registry.example/other:1", "-apply", "-wait=5s"];
    bench
        .fleet("image", 1, &more)?
        .expect(1, "its image registry.example/other:1 cannot be had")?;
    wait("an empty namespace", || bench.left("image").is_ok_and(|left| left.is_empty()))
}

fn no_room(bench: &Bench) -> Result<()> {
    let more = ["-n", "load", "-image", IMAGE, "-cores", "16", "-apply", "-wait=6s"];
    bench.fleet("room", 2, &more)?.expect(1, "Insufficient cpu")
}

fn no_quota(bench: &Bench) -> Result<()> {
    let more = ["-n", "small", "-image", IMAGE, "-cores", "2", "-apply", "-wait=8s"];
    bench.fleet("quota", 1, &more)?.expect(1, "exceeded quota")
}

fn no_rights(bench: &Bench) -> Result<()> {
    let ran = bench.fleet("rights", 1, &["-n", "default", "-image", IMAGE, "-apply"])?;
    ran.expect(1, "forbidden")?;
    if ran.stdout.contains("rights-agents") {
        bail!("it went on: {}", ran.stdout);
    }
    Ok(())
}
