//! `Kubectl`: the program by which users reach their clusters, with its configuration, plug-ins and sign-in.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use serde::de::DeserializeOwned;

use crate::error::ClusterError;

/// The program.
const PROGRAM: &str = "kubectl";
/// The most bytes of its answer that are read.
const OUTPUT_MAX: u64 = 64 << 20;

/// kubectl, for one namespace of one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kubectl {
    /// The namespace.
    pub namespace: String,
    /// The context of its configuration; `None` is the current one.
    pub context: Option<String>,
}

/// A port of this machine that leads to a Service; it ends when dropped.
#[derive(Debug)]
pub struct PortForward {
    kubectl: Kubectl,
    child: Child,
    /// What is forwarded: `svc/NAME`, and the ports.
    target: [String; 2],
}

impl Kubectl {
    /// Creates the objects, or changes them to what they should be.
    ///
    /// # Errors
    /// The cluster refuses one of them.
    pub fn apply(&self, yaml: &str) -> Result<(), ClusterError> {
        // The cluster itself compares: kubectl would write each object once more into an annotation of it, which has 256 KiB.
        let arguments = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
        self.run("apply", &arguments, yaml).map(drop)
    }

    /// Deletes the objects, those that are not there left aside.
    ///
    /// # Errors
    /// The cluster refuses.
    pub fn delete(&self, yaml: &str) -> Result<(), ClusterError> {
        let arguments = ["delete", "--ignore-not-found", "--wait=false", "-f", "-"];
        self.run("delete", &arguments, yaml).map(drop)
    }

    /// What is there of one kind, of those that the flags choose.
    ///
    /// # Errors
    /// The cluster refuses, or the answer is of another kind.
    pub(crate) fn get<T: DeserializeOwned>(
        &self,
        kind: &str,
        chosen: &[&str],
    ) -> Result<Vec<T>, ClusterError> {
        let arguments = [&["get", kind, "-o", "json"], chosen].concat();
        let output = self.run("get", &arguments, "")?;
        let failed = |cause| ClusterError::Output { action: format!("get {kind}"), cause };
        let mut list: serde_json::Value = serde_json::from_slice(&output).map_err(failed)?;
        serde_json::from_value(list["items"].take()).map_err(failed)
    }

    /// The last lines that a pod's container wrote.
    pub(crate) fn last_words(&self, pod: &str) -> Option<String> {
        let output = self.run("logs", &["logs", pod, "--tail=1"], "").ok()?;
        let text = String::from_utf8_lossy(&output).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Forwards a port of this machine to one of a Service; it is there once it accepts connections.
    ///
    /// # Errors
    /// kubectl does not start.
    pub fn forward(&self, service: &str, ports: (u16, u16)) -> Result<PortForward, ClusterError> {
        let target = [format!("svc/{service}"), format!("{}:{}", ports.0, ports.1)];
        let child = self.spawn_forward(&target)?;
        Ok(PortForward { kubectl: self.clone(), child, target })
    }

    fn spawn_forward(&self, target: &[String; 2]) -> Result<Child, ClusterError> {
        let mut command = self.command(&["port-forward", &target[0], &target[1]]);
        // Ctrl-C at the terminal is for those who use the port; this one ends after them.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map_err(ClusterError::NoKubectl)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.arg("--namespace").arg(&self.namespace);
        if let Some(context) = &self.context {
            command.arg("--context").arg(context);
        }
        command.args(arguments);
        command
    }

    /// Runs it with this standard input; its standard output.
    fn run(&self, action: &str, arguments: &[&str], input: &str) -> Result<Vec<u8>, ClusterError> {
        let mut command = self.command(arguments);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(ClusterError::NoKubectl)?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (output, words) = std::thread::scope(|threads| {
            threads.spawn(|| {
                // It says itself why it does not read on.
                let _ = stdin.map(|mut stdin| stdin.write_all(input.as_bytes()));
            });
            let words = threads.spawn(|| read(stderr));
            (read(stdout), words.join().unwrap_or_default())
        });
        let status = child.wait().map_err(ClusterError::NoKubectl)?;
        if status.success() {
            return Ok(output);
        }
        let words = String::from_utf8_lossy(&words).trim().replace('\n', "; ");
        let words = if words.is_empty() { status.to_string() } else { words };
        Err(ClusterError::Kubectl { action: action.to_owned(), words })
    }
}

fn read(pipe: Option<impl std::io::Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What was read before an error counts.
    let _ = pipe.map(|pipe| pipe.take(OUTPUT_MAX).read_to_end(&mut bytes));
    bytes
}

impl PortForward {
    /// Starts it again where it has ended, as it does with each connection that breaks; `true` where it had.
    ///
    /// # Errors
    /// kubectl does not start.
    pub fn mend(&mut self) -> Result<bool, ClusterError> {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            return Ok(false);
        }
        self.child = self.kubectl.spawn_forward(&self.target)?;
        Ok(true)
    }
}

impl Drop for PortForward {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
