//! A cluster on loopback: etcd, the API server, the controllers that Jobs and StatefulSets need, the scheduler, and two nodes whose
//! pods are processes.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::process;

/// How long the API server, and then the nodes, may take.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// The controllers that the objects of a fleet need, and those that clean up behind them.
const CONTROLLERS: &str = "job-controller,statefulset-controller,serviceaccount-controller,\
                           garbage-collector-controller,resourcequota-controller,namespace-controller";
/// Users: the cluster's own programs and the setup of the test are one, the team that tests is the other.
const USERS: &str = "admin-token,admin,1,\"system:masters\"\nteam-token,team,2,\n";

/// A running cluster; it ends when dropped.
pub(super) struct TestCluster {
    dir: PathBuf,
    api: u16,
    programs: Vec<Child>,
}

impl TestCluster {
    /// Starts it in an empty folder. `images` is what the nodes start for an image, `IMAGE=PROGRAM` separated by commas.
    pub(super) fn start(programs: &Path, dir: &Path, images: &str) -> Result<Self> {
        let _ = fs::remove_dir_all(dir);
        fs::create_dir_all(dir.join("pods")).context("making the cluster's folder")?;
        fs::write(dir.join("tokens.csv"), USERS).context("writing the users")?;
        let key = dir.join("accounts.pem").to_string_lossy().into_owned();
        process::capture(dir, "openssl", &["genrsa", "-out", &key, "2048"])?;
        let mut cluster = Self { dir: dir.to_owned(), api: free_port()?, programs: Vec::new() };
        for user in ["admin", "team"] {
            fs::write(cluster.kubeconfig(user), cluster.access(user)).context("writing access")?;
        }
        cluster.start_control_plane(programs, &key)?;
        let (admin, pods) = (cluster.kubeconfig("admin"), dir.join("pods"));
        let port = free_port()?.to_string();
        let arguments =
            ["-kubeconfig", &text(&admin), "-dir", &text(&pods), "-port", &port, "-images", images];
        cluster.spawn(programs, "node", &arguments)?;
        let nodes =
            || cluster.kubectl(&["get", "nodes", "-o", "name"]).map(|nodes| nodes.lines().count());
        wait("two nodes", || nodes().is_ok_and(|count| count == 2))?;
        Ok(cluster)
    }

    fn start_control_plane(&mut self, programs: &Path, key: &str) -> Result<()> {
        let (client, peer) = (url("http", free_port()?), url("http", free_port()?));
        let data = text(&self.dir.join("etcd"));
        let arguments = [
            "--data-dir",
            &data,
            "--listen-client-urls",
            &client,
            "--advertise-client-urls",
            &client,
            "--listen-peer-urls",
            &peer,
            "--initial-advertise-peer-urls",
            &peer,
            "--initial-cluster",
            &format!("default={peer}"),
            "--unsafe-no-fsync",
        ];
        self.spawn(programs, "etcd", &arguments)?;
        let (certificates, tokens) =
            (text(&self.dir.join("tls")), text(&self.dir.join("tokens.csv")));
        let port = self.api.to_string();
        let arguments = [
            "--etcd-servers",
            &client,
            "--bind-address=127.0.0.1",
            "--secure-port",
            &port,
            "--cert-dir",
            &certificates,
            "--token-auth-file",
            &tokens,
            "--authorization-mode=RBAC",
            "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.96.0.0/24",
            "--service-account-issuer=https://localhost",
            "--service-account-key-file",
            key,
            "--service-account-signing-key-file",
            key,
        ];
        self.spawn(programs, "kube-apiserver", &arguments)?;
        wait("the API server", || self.kubectl(&["get", "--raw", "/readyz"]).is_ok())?;
        let admin = text(&self.kubeconfig("admin"));
        let arguments = [
            "--kubeconfig",
            &admin,
            "--leader-elect=false",
            "--secure-port=0",
            "--service-account-private-key-file",
            key,
            "--use-service-account-credentials=false",
            &format!("--controllers={CONTROLLERS}"),
        ];
        self.spawn(programs, "kube-controller-manager", &arguments)?;
        let arguments = ["--kubeconfig", &admin, "--leader-elect=false", "--secure-port=0"];
        self.spawn(programs, "kube-scheduler", &arguments)
    }

    /// The file by which a user reaches the cluster.
    pub(super) fn kubeconfig(&self, user: &str) -> PathBuf {
        self.dir.join(format!("{user}.kubeconfig"))
    }

    fn access(&self, user: &str) -> String {
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: test\n\
             clusters:\n- name: test\n  cluster: {{server: \"https://127.0.0.1:{}\", insecure-skip-tls-verify: true}}\n\
             users:\n- name: {user}\n  user: {{token: {user}-token}}\n\
             contexts:\n- name: test\n  context: {{cluster: test, user: {user}}}\n",
            self.api
        )
    }

    /// What kubectl prints to the administrator.
    pub(super) fn kubectl(&self, arguments: &[&str]) -> Result<String> {
        let access = format!("--kubeconfig={}", text(&self.kubeconfig("admin")));
        process::capture(&self.dir, "kubectl", &[&[access.as_str()], arguments].concat())
    }

    /// Creates what a file describes, or text that is written to one.
    pub(super) fn apply(&self, yaml: &str) -> Result<()> {
        let path = self.dir.join("applied.yaml");
        fs::write(&path, yaml).context("writing objects")?;
        self.kubectl(&["apply", "-f", &text(&path)]).map(drop)
    }

    fn spawn(&mut self, programs: &Path, name: &str, arguments: &[&str]) -> Result<()> {
        let log = File::create(self.dir.join(format!("{name}.log"))).context("making a log")?;
        let mut command = process::command(programs.join(name));
        command.args(arguments).current_dir(&self.dir).stdin(Stdio::null());
        command.stdout(log.try_clone().context("sharing a log")?).stderr(log);
        self.programs.push(command.spawn().with_context(|| format!("starting {name}"))?);
        Ok(())
    }
}

impl Drop for TestCluster {
    fn drop(&mut self) {
        // The nodes first: they end their pods.
        for program in self.programs.iter_mut().rev() {
            let pid = Pid::from_raw(program.id().cast_signed());
            if kill(pid, Signal::SIGTERM).is_ok() && program.wait().is_err() {
                println!("k8s: process {pid} does not end");
            }
        }
    }
}

/// Asks again and again until something is there.
pub(super) fn wait(what: &str, mut is_there: impl FnMut() -> bool) -> Result<()> {
    let until = Instant::now() + READY_WITHIN;
    while !is_there() {
        if Instant::now() >= until {
            bail!("{what}: not there after {} s", READY_WITHIN.as_secs());
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

fn url(scheme: &str, port: u16) -> String {
    format!("{scheme}://127.0.0.1:{port}")
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("finding a free port")?;
    Ok(listener.local_addr().context("reading a port")?.port())
}
