//! How clients use the proxy and trust its authority, for people.

use std::net::SocketAddr;

/// What is said where a client has to be set by hand.
pub(super) fn first_lines(address: SocketAddr, certificate: &str) -> String {
    format!(
        "recording as a proxy on {address}; Ctrl-C ends it, a line typed here begins a group of that name\n\
         clients trust {certificate} (brunt record -authority shows how), for example:\n  \
         curl --proxy http://{address} --cacert {certificate} https://shop.example/"
    )
}

/// How each client is set.
pub(super) fn lines(address: &str, certificate: &str) -> String {
    format!(
        "The authority of brunt record, made on this machine for this user. Its key lies beside the certificate and is read by\n\
         no other user; whoever has it can read what clients send that trust it. Have clients trust it as long as you record.\n\
         \n\
         certificate  {certificate}\n\
         proxy        http://{address}\n\
         \n\
         brunt's own  brunt record -browser: nothing has to be set, and no other browser trusts it\n\
         curl         curl --proxy http://{address} --cacert {certificate} https://…\n\
         Chrome       Settings, Privacy and security, Security, Manage certificates, Custom, Installed by you, Import: the\n             \
                      certificate. Then start it with --proxy-server={address} --proxy-bypass-list='<-loopback>': without\n             \
                      the latter nothing of localhost is recorded\n\
         Firefox      Settings, Privacy & Security, Certificates, View Certificates, Authorities, Import: the certificate, for\n             \
                      websites. Then Settings, General, Network Settings: the proxy, for HTTPS as well; for localhost set\n             \
                      network.proxy.allow_hijacking_localhost in about:config\n\
         iOS          brunt record -listen=ADDRESS:PORT with this machine's address; on the phone, in the Wi-Fi network's\n             \
                      settings, that proxy. Open http://ADDRESS:PORT/ in Safari and install the profile (Settings, General,\n             \
                      VPN & Device Management), then switch it on in General, About, Certificate Trust Settings\n\
         Android      the same page, then Settings, Security, Encryption & credentials, Install a certificate; browsers trust it,\n             \
                      most apps do not\n\
         \n\
         Without the folder of the certificate a new authority is made at the next use.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_a_line() {
        let text = lines("127.0.0.1:8899", "/data/authority.pem");
        for client in ["curl ", "Chrome ", "Firefox ", "iOS ", "Android "] {
            assert_eq!(text.lines().filter(|line| line.starts_with(client)).count(), 1, "{client}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 130), "{text}");
        let first = first_lines("127.0.0.1:8899".parse().unwrap(), "/data/authority.pem");
        assert!(first.contains("--proxy http://127.0.0.1:8899 --cacert /data/authority.pem"));
    }
}
