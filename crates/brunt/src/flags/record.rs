//! The flags of `record`.

use cli::{Flag, ValueError, ValueKind, value};
use stdx::Bytes;

/// The flags of `record` as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordFlags {
    /// Empty for the default.
    pub(crate) listen: Option<String>,
    pub(crate) output: Vec<String>,
    pub(crate) host: Vec<String>,
    pub(crate) all_hosts: bool,
    pub(crate) with_secrets: bool,
    pub(crate) browser: bool,
    pub(crate) authority: bool,
    pub(crate) max_body: Bytes,
    pub(crate) insecure: bool,
    /// Files of the certificates that are trusted; none are the system's.
    pub(crate) root_certs: Vec<String>,
    pub(crate) json: bool,
}

impl Default for RecordFlags {
    fn default() -> Self {
        Self {
            listen: None,
            output: Vec::new(),
            host: Vec::new(),
            all_hosts: false,
            with_secrets: false,
            browser: false,
            authority: false,
            max_body: recorder::BODY_BYTES_MAX,
            insecure: false,
            root_certs: Vec::new(),
            json: false,
        }
    }
}

/// The flags of `record`.
pub(crate) const RECORD: &[Flag<RecordFlags>] = &[
    Flag::new(
        "output",
        ValueKind::Path,
        "",
        "Where it is written: a HAR (NAME.har) or a k6 script (NAME.js); repeat for both.",
        |t: &mut RecordFlags, v| {
            if Format::of(v).is_none() {
                return Err(ValueError::new(format!("\"{v}\" ends with neither .har nor .js")));
            }
            t.output.push(v.to_owned());
            Ok(())
        },
    )
    .also(&["o"])
    .native(),
    Flag::new(
        "browser",
        ValueKind::Switch,
        "",
        "Start Chromium behind the proxy, with an empty profile; the recording ends when it is closed.",
        |t: &mut RecordFlags, v| value::switch(v).map(|on| t.browser = on),
    )
    .native(),
    Flag::new(
        "host",
        ValueKind::Text("HOST,…"),
        "the first page's",
        "Record this host and those below it, and no other; repeatable.",
        |t: &mut RecordFlags, v| {
            let hosts = v.split(',').map(str::trim).filter(|host| !host.is_empty());
            hosts.map(host).try_for_each(|host| host.map(|host| t.host.push(host)))
        },
    )
    .native(),
    Flag::new(
        "all-hosts",
        ValueKind::Switch,
        "",
        "Record every host.",
        |t: &mut RecordFlags, v| value::switch(v).map(|on| t.all_hosts = on),
    )
    .native(),
    Flag::new(
        "with-secrets",
        ValueKind::Switch,
        "",
        "Leave cookies, passwords and tokens in the HAR as they are; a script has them in any case.",
        |t: &mut RecordFlags, v| value::switch(v).map(|on| t.with_secrets = on),
    )
    .native(),
    Flag::new(
        "listen",
        ValueKind::Text("ADDR:PORT"),
        "127.0.0.1:8899, with -browser a free port",
        "Where the proxy listens. An address of the network lets other machines in: phones, and everyone else.",
        |t: &mut RecordFlags, v| {
            t.listen = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "max-body",
        ValueKind::Text("SIZE"),
        "16MB",
        "How much of each body is kept; all of it passes.",
        |t: &mut RecordFlags, v| value::size(v).map(|size| t.max_body = Bytes(size)),
    )
    .native(),
    Flag::new(
        "insecure",
        ValueKind::Switch,
        "",
        "Do not verify the certificates of servers.",
        |t: &mut RecordFlags, v| value::switch(v).map(|on| t.insecure = on),
    )
    .also(&["k"])
    .native(),
    Flag::new(
        "root-certs",
        ValueKind::Text("FILE,…"),
        "system",
        "PEM certificates of the authorities that servers are trusted by, instead of the system's.",
        |t: &mut RecordFlags, v| {
            t.root_certs = v.split(',').map(str::to_owned).collect();
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "authority",
        ValueKind::Switch,
        "",
        "Print where the authority's certificate is and how clients trust it; record nothing.",
        |t: &mut RecordFlags, v| value::switch(v).map(|on| t.authority = on),
    )
    .native(),
    Flag::new(
        "json",
        ValueKind::Switch,
        "",
        "Print each request as a line of JSON.",
        |t: &mut RecordFlags, v| value::switch(v).map(|on| t.json = on),
    )
    .native(),
];

/// What a file is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Har,
    Script,
}

impl Format {
    /// The format of a file, by the end of its name.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let (name, end) = path.rsplit_once('.')?;
        match end.to_ascii_lowercase().as_str() {
            _ if name.is_empty() || name.ends_with('/') => None,
            "har" => Some(Self::Har),
            "js" | "mjs" | "ts" => Some(Self::Script),
            _ => None,
        }
    }
}

/// A host without a scheme, a port or a path, which would never be one.
fn host(text: &str) -> Result<String, ValueError> {
    let is_host = !text.contains(['/', '@', '?', '#', ' ']);
    let has_port = text.matches(':').count() == 1 && !text.starts_with('[');
    if is_host && !has_port {
        return Ok(text.to_owned());
    }
    Err(ValueError::new(format!("\"{text}\" is no host (expected for example shop.example)")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_ends() {
        for (path, expect) in [
            ("shop.har", Some(Format::Har)),
            ("a/b.JS", Some(Format::Script)),
            ("x.ts", Some(Format::Script)),
            ("shop", None),
            ("shop.json", None),
            (".har", None),
            ("a/.js", None),
        ] {
            assert_eq!(Format::of(path), expect, "{path}");
        }
    }

    #[test]
    fn hosts_are_names_alone() {
        for (text, is_host) in [
            ("shop.example", true),
            ("::1", true),
            ("[::1]", true),
            ("127.0.0.1", true),
            ("shop.example:443", false),
            ("https://shop.example", false),
            ("a@b", false),
        ] {
            assert_eq!(host(text).is_ok(), is_host, "{text}");
        }
    }
}
