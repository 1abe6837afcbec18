//! A real Puma with an application of a few lines.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Scratch, Started, free_port, start, until};

/// A running Puma; ended by its number when dropped.
pub(crate) struct Puma {
    process: Started,
    /// Where it runs.
    pub(crate) scratch: Scratch,
    /// Where it listens, on 127.0.0.1.
    pub(crate) port: u16,
}

impl Puma {
    /// Starts it with the text of a `config.ru` and a range of threads, such as `1:1`.
    pub(crate) fn start(name: &str, app: &str, threads: &str) -> Self {
        Self::start_with(name, app, &["-t", threads])
    }

    /// Starts it with this many workers, each a process of one thread.
    pub(crate) fn cluster(name: &str, app: &str, workers: usize) -> Self {
        let puma = Self::start_with(name, app, &["-t", "1:1", "-w", &workers.to_string()]);
        until("all workers are there", || puma.family().len() == workers + 1);
        puma
    }

    /// Its first process, and those that it started.
    pub(crate) fn family(&self) -> Vec<u32> {
        let first = self.process.pid();
        let listed = Command::new("ps").args(["-o", "pid=", "--ppid", &first.to_string()]).output();
        let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
        let others = listed.split_whitespace().map(|pid| pid.parse().unwrap());
        std::iter::once(first).chain(others).collect()
    }

    fn start_with(name: &str, app: &str, flags: &[&str]) -> Self {
        let binary = "/usr/bin/puma";
        assert!(Path::new(binary).exists(), "this test needs Puma: apt-get install -y puma");
        let scratch = Scratch::new(name);
        let config = scratch.file("config.ru", app);
        let port = free_port();
        let mut command = Command::new(binary);
        let bind = format!("tcp://127.0.0.1:{port}");
        command.args(["-e", "production", "-b", &bind]).args(flags).arg(&config);
        command.current_dir(&scratch.0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = start(command);
        until("puma listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self { process, scratch, port }
    }
}
