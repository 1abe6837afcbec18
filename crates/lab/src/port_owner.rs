//! The process that listens on a port already, for an error that names it.

/// ` by NAME (process PID)` of the process that listens on `HOST:PORT`; empty if it cannot be found.
#[must_use]
pub(crate) fn port_owner(host: &str) -> String {
    let port = host.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    port.and_then(listener)
        .map_or(String::new(), |(pid, name)| format!(" by {name} (process {pid})"))
}

/// The process that listens on a port of this machine; `None` on other systems than Linux, and for processes of other users.
fn listener(port: u16) -> Option<(u32, String)> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let inodes: Vec<String> = tables
        .iter()
        .filter_map(|table| std::fs::read_to_string(table).ok())
        .flat_map(|table| listening(&table, port))
        .collect();
    let sockets: Vec<String> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    processes.into_iter().find_map(|entry| {
        let pid = entry.file_name().to_str()?.parse::<u32>().ok()?;
        let held = std::fs::read_dir(entry.path().join("fd")).ok()?.flatten().any(|descriptor| {
            let link = std::fs::read_link(descriptor.path());
            link.is_ok_and(|link| sockets.iter().any(|socket| link.as_os_str() == socket.as_str()))
        });
        let name = || std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        held.then(|| (pid, name().trim().to_owned()))
    })
}

/// The inodes of the listening sockets (state 0A) on this port in a table such as `/proc/net/tcp`.
fn listening(table: &str, port: u16) -> Vec<String> {
    let inode = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let local = words.get(1)?.rsplit_once(':')?.1;
        let matches = u16::from_str_radix(local, 16) == Ok(port) && *words.get(3)? == "0A";
        matches.then(|| words.get(9).map(|inode| (*inode).to_owned())).flatten()
    };
    table.lines().skip(1).filter_map(inode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_listener_is_found_by_its_port() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                     0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1\n   \
                     1: 0100007F:1F90 0100007F:1F91 01 00000000:00000000 00:00000000 00000000     0        0 4712 1\n";
        assert_eq!(listening(table, 8080), ["4711"]);
        assert!(listening(table, 8081).is_empty());
        let here = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = here.local_addr().unwrap().to_string();
        if cfg!(target_os = "linux") {
            let pid = std::process::id().to_string();
            assert!(port_owner(&host).contains(&pid), "{}", port_owner(&host));
        }
    }
}
