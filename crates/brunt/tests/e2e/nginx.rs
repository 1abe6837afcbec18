//! The pipeline of the first seed against a real nginx: plain and over a Unix socket.

use std::process::{Child, Command, Stdio};

use crate::process::{Folder, run, text, wait_for};

/// An nginx of our own, ended with the test.
struct Nginx(Child);

impl Drop for Nginx {
    fn drop(&mut self) {
        // Its workers end with it on SIGTERM; a plain kill would leave them behind.
        Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status().ok();
        self.0.wait().ok();
    }
}

fn start(folder: &Folder) -> (Nginx, String, String) {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("its address").to_string();
    drop(free);
    let (socket, here) = (folder.file("nginx.sock"), folder.0.display());
    let conf = folder.file("nginx.conf");
    let text = format!(
        "daemon off; worker_processes 1; pid {here}/pid; error_log {here}/error.log;\n\
         events {{ worker_connections 512; }}\n\
         http {{ access_log off; client_body_temp_path {here}/b; proxy_temp_path {here}/p;\n\
         fastcgi_temp_path {here}/f; uwsgi_temp_path {here}/u; scgi_temp_path {here}/s;\n\
         server {{ listen {address}; listen unix:{socket};\n\
         location = / {{ return 200 \"hello\\n\"; }} location /the-url {{ return 400 \"no\"; }}\n\
         location /assets/ {{ return 200 \"asset\"; }} }} }}\n"
    );
    std::fs::write(&conf, text).expect("a configuration");
    let child = Command::new("nginx")
        .args(["-e", &folder.file("start.log"), "-c", &conf])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("nginx is missing: apt-get install -y --no-install-recommends nginx");
    let nginx = Nginx(child);
    wait_for("nginx", || std::net::TcpStream::connect(&address).is_ok());
    (nginx, address, socket)
}

#[test]
fn the_four_targets_of_the_seed() {
    let folder = Folder::new();
    let (_nginx, address, _) = start(&folder);
    let lines: String = ["/the-url", "/assets/a.css", "/assets/b.png", "/assets/c.png"]
        .iter()
        .map(|path| format!("GET http://{address}{path}\n"))
        .collect();
    std::fs::write(folder.0.join("the-file-name"), lines).expect("targets");
    let args = ["attack", "-duration=5s", "-timeout", "10s", "-rate=28", "-targets=the-file-name"];
    let results = run(&folder, &args, b"");
    assert!(results.status.success(), "{}", text(&results.stderr));
    let printed = text(&run(&folder, &["report"], &results.stdout).stdout);
    assert!(
        printed.starts_with("Requests      [total, rate, throughput]         140, 28.20, "),
        "{printed}"
    );
    assert!(
        printed.contains("Success       [ratio]                           75.00%\n"),
        "{printed}"
    );
    assert!(printed.contains("200:105  400:35  \n"), "{printed}");
    assert!(printed.contains("Error Set:\n400 Bad Request\n"), "{printed}");
}

#[test]
fn a_unix_socket_is_dialled_whatever_the_url_says() {
    let folder = Folder::new();
    let (_nginx, _, socket) = start(&folder);
    let flag = format!("-unix-socket={socket}");
    let results =
        run(&folder, &["attack", "-duration=1s", "-rate=20", &flag], b"GET http://no.such.host/\n");
    let printed = text(&run(&folder, &["report"], &results.stdout).stdout);
    assert!(printed.contains("200:20  \n"), "{printed}");
}
