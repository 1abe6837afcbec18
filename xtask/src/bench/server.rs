//! `Server`: a real nginx with one worker, pinned to one core, that answers `200 ok` from memory and counts what it answered. It
//! lives as long as the value does.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// A running nginx.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    port: u16,
}

/// How long nginx may take to answer its first request.
const START_LIMIT: Duration = Duration::from_secs(5);

/// How long one request for the counter may take.
const ASK_LIMIT: Duration = Duration::from_secs(5);

impl Server {
    /// Starts nginx on a free port of 127.0.0.1, on this core, with its files in `dir`.
    ///
    /// # Errors
    /// nginx or taskset is missing, or nginx does not answer.
    pub(super) fn start(dir: &Path, core: usize) -> Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let path = dir.join("nginx.conf");
        fs::write(&path, config(dir, port)).context("writing nginx.conf")?;
        let nginx = crate::process::find("nginx").context("bench needs nginx (nginx-light)")?;
        let child = Command::new("taskset")
            .args(["-c", &core.to_string()])
            .arg(nginx)
            .arg("-p")
            .arg(dir)
            .arg("-c")
            .arg(&path)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("starting nginx with taskset")?;
        let server = Self { child, port };
        let start = Instant::now();
        while server.requests().is_err() {
            if start.elapsed() > START_LIMIT {
                bail!("nginx does not answer on port {port}; see {}/error.log", dir.display());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// What to ask for.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Requests answered since the start, this one included.
    ///
    /// # Errors
    /// nginx does not answer, or not with its counter.
    pub(super) fn requests(&self) -> Result<u64> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(ASK_LIMIT))?;
        stream.write_all(b"GET /status HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        counter_in(&answer).context("nginx's counter")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to stop.
        if self.child.kill().is_ok() {
            drop(self.child.wait());
        }
    }
}

/// The third number of the line below `server accepts handled requests`.
fn counter_in(status: &str) -> Option<u64> {
    let mut lines = status.lines().skip_while(|line| !line.starts_with("server accepts"));
    lines.nth(1)?.split_whitespace().nth(2)?.parse().ok()
}

/// One process, no log, connections that are never closed by the server.
fn config(dir: &Path, port: u16) -> String {
    let dir = dir.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|name| format!("    {name}_temp_path {dir}/nginx-{name};\n"))
        .collect();
    format!(
        "daemon off;\nmaster_process off;\nworker_processes 1;\npid {dir}/nginx.pid;\n\
         error_log {dir}/error.log;\nevents {{ worker_connections 4096; }}\nhttp {{\n    \
         access_log off;\n    keepalive_requests 1000000000;\n    keepalive_timeout 3600s;\n\
         {temporary}    server {{\n        listen 127.0.0.1:{port} backlog=4096;\n        \
         location /status {{ stub_status; }}\n        \
         location / {{ default_type text/plain; return 200 \"ok\"; }}\n    }}\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_is_the_third_number() {
        let status = "HTTP/1.1 200 OK\r\n\r\nActive connections: 1 \nserver accepts handled requests\n 44 44 369912 \nReading: 0\n";
        assert_eq!(counter_in(status), Some(369_912));
        assert_eq!(counter_in("HTTP/1.1 404 Not Found\r\n\r\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nginx_answers_counts_and_ends() {
        let dir = std::env::temp_dir().join(format!("xtask-server-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let server = Server::start(&dir, 0).unwrap();
        let before = server.requests().unwrap();
        assert_eq!(server.requests().unwrap(), before + 1);
        let port = server.port;
        drop(server);
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
        fs::remove_dir_all(&dir).unwrap();
    }
}
