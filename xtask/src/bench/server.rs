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
    _process: Process,
    ports: Ports,
}

/// Where it listens on 127.0.0.1.
#[derive(Clone, Copy, Debug)]
struct Ports {
    plain: u16,
    h2c: u16,
    tls: u16,
}

/// The file with which calls of gRPC are answered.
const REPLY: &str = "reply.grpc";

/// How long nginx may take to answer its first request.
const START_LIMIT: Duration = Duration::from_secs(5);

/// How long one request for the counter may take.
const ASK_LIMIT: Duration = Duration::from_secs(5);

impl Server {
    /// Starts nginx on free ports of 127.0.0.1, on this core, with its files in `dir`.
    ///
    /// # Errors
    /// nginx, taskset or openssl is missing, or nginx does not answer.
    pub(super) fn start(dir: &Path, core: usize) -> Result<Self> {
        let ports = Ports { plain: free_port()?, h2c: free_port()?, tls: free_port()? };
        let path = dir.join("nginx.conf");
        make_certificate(dir)?;
        fs::write(&path, config(dir, ports)).context("writing nginx.conf")?;
        // A message of gRPC that has nothing in it: the flag, and a length of 0.
        fs::write(dir.join(REPLY), [0; 5]).context("writing a reply of gRPC")?;
        let nginx = crate::process::find("nginx").context("bench needs nginx (nginx-light)")?;
        let mut command = pinned(core, &nginx);
        command.arg("-p").arg(dir).arg("-c").arg(&path);
        let server = Self { _process: Process::start(&mut command, "nginx")?, ports };
        if !answers(|| server.requests().is_ok()) {
            bail!("nginx does not answer; see {}/error.log", dir.display());
        }
        Ok(server)
    }

    /// What to ask for.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.ports.plain)
    }

    /// The same in HTTP/2 without TLS.
    pub(super) fn h2c_url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.ports.h2c)
    }

    /// The same over TLS, in HTTP/1.1.
    pub(super) fn tls_url(&self) -> String {
        format!("https://127.0.0.1:{}/", self.ports.tls)
    }

    /// Requests answered since the start, this one included.
    ///
    /// # Errors
    /// nginx does not answer, or not with its counter.
    pub(super) fn requests(&self) -> Result<u64> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.ports.plain))?;
        stream.set_read_timeout(Some(ASK_LIMIT))?;
        stream.write_all(b"GET /status HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        counter_in(&answer).context("nginx's counter")
    }
}

/// `brunt serve`, pinned to one core: its WebSocket echoes, and it speaks Action Cable. It lives as long as the value does.
#[derive(Debug)]
pub(super) struct EchoServer {
    _process: Process,
    port: u16,
}

impl EchoServer {
    /// Starts it on a free port of 127.0.0.1, on this core.
    ///
    /// # Errors
    /// It does not listen within a few seconds.
    pub(super) fn start(brunt: &str, core: usize) -> Result<Self> {
        let port = free_port()?;
        let mut command = pinned(core, Path::new(brunt));
        command.args(["serve", "-cable", "-listen"]).arg(format!("127.0.0.1:{port}"));
        let process = Process::start(command.stdout(Stdio::null()), "brunt serve")?;
        if !answers(|| TcpStream::connect(("127.0.0.1", port)).is_ok()) {
            bail!("brunt serve does not listen");
        }
        Ok(Self { _process: process, port })
    }

    /// A path of it, for WebSockets.
    pub(super) fn url(&self, path: &str) -> String {
        format!("ws://127.0.0.1:{}/{path}", self.port)
    }
}

/// A program that runs as long as the value lives.
#[derive(Debug)]
struct Process(Child);

impl Process {
    fn start(command: &mut Command, name: &str) -> Result<Self> {
        let child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn();
        Ok(Self(child.with_context(|| format!("starting {name} with taskset"))?))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to stop.
        if self.0.kill().is_ok() {
            drop(self.0.wait());
        }
    }
}

/// A program on one core.
fn pinned(core: usize, program: &Path) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", &core.to_string()]).arg(program);
    command
}

/// Whether it does within the time that a server may take to start.
fn answers(does: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !does() {
        if start.elapsed() > START_LIMIT {
            return false;
        }
        thread::sleep(Duration::from_millis(20));
    }
    true
}

/// The third number of the line below `server accepts handled requests`.
fn counter_in(status: &str) -> Option<u64> {
    let mut lines = status.lines().skip_while(|line| !line.starts_with("server accepts"));
    lines.nth(1)?.split_whitespace().nth(2)?.parse().ok()
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// A throw-away certificate, `cert.pem` and `key.pem`.
fn make_certificate(dir: &Path) -> Result<()> {
    let words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=bench -keyout key.pem -out cert.pem";
    let made = Command::new("openssl").args(words.split(' ')).current_dir(dir).output();
    let made = made.context("bench needs openssl")?;
    if !made.status.success() {
        bail!("openssl: {}", String::from_utf8_lossy(&made.stderr));
    }
    Ok(())
}

/// One process, no log, connections that are never closed by the server.
fn config(dir: &Path, ports: Ports) -> String {
    let (dir, Ports { plain, h2c, tls }) = (dir.display(), ports);
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|name| format!("    {name}_temp_path {dir}/nginx-{name};\n"))
        .collect();
    format!(
        "daemon off;\nmaster_process off;\nworker_processes 1;\npid {dir}/nginx.pid;\n\
         error_log {dir}/error.log;\nevents {{ worker_connections 4096; }}\nhttp {{\n    \
         access_log off;\n    keepalive_requests 1000000000;\n    keepalive_timeout 3600s;\n\
         {temporary}    server {{\n        listen 127.0.0.1:{plain} backlog=4096;\n        \
         listen 127.0.0.1:{h2c} http2;\n        listen 127.0.0.1:{tls} ssl;\n        \
         ssl_certificate {dir}/cert.pem;\n        ssl_certificate_key {dir}/key.pem;\n        \
         location /status {{ stub_status; }}\n        \
         location /bench.Bench/ {{ error_page 405 =200 /{REPLY}; return 405; }}\n        \
         location = /{REPLY} {{ internal; root {dir}; default_type application/grpc; \
         add_trailer grpc-status 0; }}\n        \
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
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("server");
        fs::create_dir_all(&dir).unwrap();
        let server = Server::start(&dir, 0).unwrap();
        let before = server.requests().unwrap();
        assert_eq!(server.requests().unwrap(), before + 1);
        let port = server.ports.plain;
        drop(server);
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
        fs::remove_dir_all(&dir).unwrap();
    }
}
