//! The flags of ApacheBench, each a letter, in the order in which it lists them.

use cli::{Flag, ValueKind};

/// The flags of `ab` as typed. Nothing was read or opened.
#[derive(Clone, Debug)]
pub(crate) struct AbFlags {
    pub(crate) requests: u64,
    pub(crate) concurrency: i64,
    /// Seconds; `None` for no limit.
    pub(crate) time_limit: Option<i64>,
    /// Seconds.
    pub(crate) timeout: i64,
    pub(crate) window: u64,
    pub(crate) bind: Option<String>,
    pub(crate) method: Method,
    /// The file of the body.
    pub(crate) body: Option<String>,
    pub(crate) content_type: String,
    pub(crate) verbosity: i64,
    /// Attributes of table, row and cell, once HTML was asked for.
    pub(crate) html: Option<[Option<String>; 3]>,
    pub(crate) cookie: Option<String>,
    pub(crate) headers: Vec<String>,
    /// Field name and `user:password`, in the order of the command line.
    pub(crate) credentials: Vec<(&'static str, String)>,
    pub(crate) proxy: Option<String>,
    pub(crate) keep_alive: bool,
    pub(crate) no_percentages: bool,
    pub(crate) plain_times: bool,
    pub(crate) quiet: bool,
    pub(crate) variable_length: bool,
    pub(crate) gnuplot: Option<String>,
    pub(crate) csv: Option<String>,
    /// Go on after a receive error.
    pub(crate) go_on: bool,
    pub(crate) no_server_name: bool,
    pub(crate) ciphers: Option<String>,
    pub(crate) protocol: Option<String>,
    pub(crate) cert: Option<String>,
    /// The first thing that ends it before it begins.
    pub(crate) stop: Option<Stop>,
}

/// How the method was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// Not at all: GET.
    Unset,
    Head,
    Post,
    Put,
    Custom(String),
}

/// What ends ab before it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// `-h`.
    Help,
    /// `-V`.
    Version,
    /// Something is wrong; ab's words.
    Refused(&'static str),
}

impl Default for AbFlags {
    fn default() -> Self {
        Self {
            requests: 1,
            concurrency: 1,
            time_limit: None,
            timeout: 30,
            window: 0,
            bind: None,
            method: Method::Unset,
            body: None,
            content_type: "text/plain".to_owned(),
            verbosity: 0,
            html: None,
            cookie: None,
            headers: Vec::new(),
            credentials: Vec::new(),
            proxy: None,
            keep_alive: false,
            no_percentages: false,
            plain_times: false,
            quiet: false,
            variable_length: false,
            gnuplot: None,
            csv: None,
            go_on: false,
            no_server_name: false,
            ciphers: None,
            protocol: None,
            cert: None,
            stop: None,
        }
    }
}

impl AbFlags {
    fn stop(&mut self, stop: Stop) {
        self.stop.get_or_insert(stop);
    }

    /// Takes a method and a body's file, unless there is a method already.
    fn choose(&mut self, method: Method, body: Option<&str>, mixed: &'static str) {
        if self.method != Method::Unset {
            return self.stop(Stop::Refused(mixed));
        }
        self.method = method;
        self.body = body.map(str::to_owned);
    }

    /// HTML it is; gives the place of one of its attributes.
    fn html(&mut self, attribute: usize) -> &mut Option<String> {
        &mut self.html.get_or_insert_default()[attribute]
    }
}

/// The requests that a time limit stands for.
const REQUESTS_TIMED: u64 = 50_000;

/// A number as C's `atoi` reads it: what follows the digits is left alone, and no digits are 0.
pub(crate) fn atoi(text: &str) -> i64 {
    let text = text.trim_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let limit = i64::from(i32::MAX);
    digits[..end].parse().map_or(if end > 0 { limit } else { 0 }, |n: i64| n.min(limit)) * sign
}

/// The flags of `ab`.
pub(crate) const FLAGS: &[Flag<AbFlags>] = &[
    Flag::new("n", ValueKind::Text("requests"), "", "Requests to make.", |t: &mut AbFlags, v| {
        t.requests = u64::try_from(atoi(v)).unwrap_or(0);
        if t.requests == 0 {
            t.stop(Stop::Refused("Invalid number of requests"));
        }
        Ok(())
    }),
    Flag::new(
        "c",
        ValueKind::Text("concurrency"),
        "",
        "Requests under way at a time.",
        |t: &mut AbFlags, v| {
            t.concurrency = atoi(v);
            Ok(())
        },
    ),
    Flag::new(
        "t",
        ValueKind::Text("timelimit"),
        "",
        "Seconds it may take at most. Sets -n 50000; a -n after it counts.",
        |t: &mut AbFlags, v| {
            t.time_limit = Some(atoi(v));
            t.requests = REQUESTS_TIMED;
            Ok(())
        },
    ),
    Flag::new(
        "s",
        ValueKind::Text("timeout"),
        "",
        "Seconds without any response after which it gives up; 30 without it.",
        |t: &mut AbFlags, v| {
            t.timeout = atoi(v);
            Ok(())
        },
    ),
    Flag::new(
        "b",
        ValueKind::Text("windowsize"),
        "",
        "Bytes of the TCP buffers for sending and receiving.",
        |t: &mut AbFlags, v| {
            t.window = u64::try_from(atoi(v)).unwrap_or(0);
            Ok(())
        },
    ),
    Flag::new(
        "B",
        ValueKind::Text("address"),
        "",
        "Address to connect from.",
        |t: &mut AbFlags, v| {
            t.bind = Some(v.to_owned());
            Ok(())
        },
    ),
    Flag::new(
        "p",
        ValueKind::Text("postfile"),
        "",
        "File whose content is posted; -T says what it is.",
        |t: &mut AbFlags, v| {
            t.choose(Method::Post, Some(v), "Cannot mix POST with other methods");
            Ok(())
        },
    ),
    Flag::new(
        "u",
        ValueKind::Text("putfile"),
        "",
        "File whose content is put; -T says what it is.",
        |t: &mut AbFlags, v| {
            t.choose(Method::Put, Some(v), "Cannot mix PUT with other methods");
            Ok(())
        },
    ),
    Flag::new(
        "T",
        ValueKind::Text("content-type"),
        "",
        "Content-type of what is sent; text/plain without it.",
        |t: &mut AbFlags, v| {
            v.clone_into(&mut t.content_type);
            Ok(())
        },
    ),
    Flag::new(
        "v",
        ValueKind::Text("verbosity"),
        "",
        "2: heads and warnings; 3: status codes too; 4: all there is.",
        |t: &mut AbFlags, v| {
            t.verbosity = atoi(v);
            Ok(())
        },
    ),
    Flag::new("w", ValueKind::Switch, "", "Print HTML tables.", |t: &mut AbFlags, _| {
        t.html.get_or_insert_default();
        Ok(())
    }),
    Flag::new("i", ValueKind::Switch, "", "Ask with HEAD.", |t: &mut AbFlags, _| {
        t.choose(Method::Head, None, "Cannot mix HEAD with other methods");
        Ok(())
    }),
    Flag::new(
        "x",
        ValueKind::Text("attributes"),
        "",
        "Attributes of the HTML table; implies -w.",
        |t: &mut AbFlags, v| {
            *t.html(0) = Some(v.to_owned());
            Ok(())
        },
    ),
    Flag::new(
        "y",
        ValueKind::Text("attributes"),
        "",
        "Attributes of its rows; implies -w.",
        |t: &mut AbFlags, v| {
            *t.html(1) = Some(v.to_owned());
            Ok(())
        },
    ),
    Flag::new(
        "z",
        ValueKind::Text("attributes"),
        "",
        "Attributes of its cells; implies -w.",
        |t: &mut AbFlags, v| {
            *t.html(2) = Some(v.to_owned());
            Ok(())
        },
    ),
    Flag::new(
        "C",
        ValueKind::Text("attribute"),
        "",
        "A cookie, like 'Apache=1234'. The last one counts.",
        |t: &mut AbFlags, v| {
            t.cookie = Some(v.to_owned());
            Ok(())
        },
    ),
    Flag::new(
        "H",
        ValueKind::Text("attribute"),
        "",
        "A header line, like 'Accept-Encoding: gzip' (repeatable).",
        |t: &mut AbFlags, v| {
            t.headers.push(v.to_owned());
            Ok(())
        },
    ),
    Flag::new(
        "A",
        ValueKind::Text("attribute"),
        "",
        "user:password for the server (Basic).",
        |t: &mut AbFlags, v| {
            t.credentials.push(("Authorization", v.to_owned()));
            Ok(())
        },
    ),
    Flag::new(
        "P",
        ValueKind::Text("attribute"),
        "",
        "user:password for the proxy (Basic).",
        |t: &mut AbFlags, v| {
            t.credentials.push(("Proxy-Authorization", v.to_owned()));
            Ok(())
        },
    ),
    Flag::new("X", ValueKind::Text("proxy:port"), "", "Proxy to ask.", |t: &mut AbFlags, v| {
        t.proxy = Some(v.to_owned());
        Ok(())
    }),
    Flag::new("V", ValueKind::Switch, "", "Print the version.", |t: &mut AbFlags, _| {
        t.stop(Stop::Version);
        Ok(())
    }),
    Flag::new("k", ValueKind::Switch, "", "Keep connections alive.", |t: &mut AbFlags, _| {
        t.keep_alive = true;
        Ok(())
    }),
    Flag::new("d", ValueKind::Switch, "", "No table of percentages.", |t: &mut AbFlags, _| {
        t.no_percentages = true;
        Ok(())
    }),
    Flag::new(
        "S",
        ValueKind::Switch,
        "",
        "No medians, deviations and warnings.",
        |t: &mut AbFlags, _| {
            t.plain_times = true;
            Ok(())
        },
    ),
    Flag::new(
        "q",
        ValueKind::Switch,
        "",
        "No progress, which more than 150 requests have.",
        |t: &mut AbFlags, _| {
            t.quiet = true;
            Ok(())
        },
    ),
    Flag::new(
        "l",
        ValueKind::Switch,
        "",
        "Documents may differ in length.",
        |t: &mut AbFlags, _| {
            t.variable_length = true;
            Ok(())
        },
    ),
    Flag::new(
        "g",
        ValueKind::Text("filename"),
        "",
        "File for each request's times, tab separated.",
        |t: &mut AbFlags, v| {
            t.gnuplot = Some(v.to_owned());
            Ok(())
        },
    ),
    Flag::new(
        "e",
        ValueKind::Text("filename"),
        "",
        "File for the percentages, comma separated.",
        |t: &mut AbFlags, v| {
            t.csv = Some(v.to_owned());
            Ok(())
        },
    ),
    Flag::new(
        "r",
        ValueKind::Switch,
        "",
        "Go on where the server resets a connection.",
        |t: &mut AbFlags, _| {
            t.go_on = true;
            Ok(())
        },
    ),
    Flag::new(
        "m",
        ValueKind::Text("method"),
        "",
        "Method, whatever it is.",
        |t: &mut AbFlags, v| {
            t.method = Method::Custom(v.to_owned());
            Ok(())
        },
    ),
    Flag::new("h", ValueKind::Switch, "", "Print this.", |t: &mut AbFlags, _| {
        t.stop(Stop::Help);
        Ok(())
    }),
    Flag::new(
        "I",
        ValueKind::Switch,
        "",
        "Do not tell a TLS server the name that is asked for.",
        |t: &mut AbFlags, _| {
            t.no_server_name = true;
            Ok(())
        },
    ),
    Flag::new(
        "Z",
        ValueKind::Text("ciphersuite"),
        "",
        "TLS cipher suites by OpenSSL's names, separated by colons.",
        |t: &mut AbFlags, v| {
            t.ciphers = Some(v.to_owned());
            Ok(())
        },
    ),
    Flag::new(
        "f",
        ValueKind::Text("protocol"),
        "",
        "TLS1.2, TLS1.3 or ALL.",
        |t: &mut AbFlags, v| {
            t.protocol = Some(v.to_owned());
            Ok(())
        },
    ),
    Flag::new(
        "E",
        ValueKind::Text("certfile"),
        "",
        "PEM file of a client's certificate chain and private key.",
        |t: &mut AbFlags, v| {
            t.cert = Some(v.to_owned());
            Ok(())
        },
    ),
];

#[cfg(test)]
mod tests {
    use cli::getopt;

    use super::*;

    fn read(line: &str) -> AbFlags {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let mut typed = AbFlags::default();
        getopt::parse(FLAGS, &args, &mut typed).expect("no setter refuses");
        typed
    }

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        let cases = [("5", 5), ("5x", 5), (" -7", -7), ("x", 0), ("", 0), ("+3", 3), ("-", 0)];
        for (text, expect) in cases {
            assert_eq!(atoi(text), expect, "{text:?}");
        }
        assert_eq!(atoi("99999999999999999999"), i64::from(i32::MAX));
    }

    #[test]
    fn a_time_limit_sets_the_number_and_a_later_one_counts() {
        assert_eq!(read("-n 5 -t 1 u").requests, 50_000);
        assert_eq!(read("-t 1 -n 5 u").requests, 5);
    }

    #[test]
    fn methods_mix_as_in_ab() {
        let refused = |line: &str| read(line).stop.is_some();
        assert!(refused("-i -p f u") && refused("-p f -i u") && refused("-p f -u f u"));
        assert!(refused("-m POST -i u") && refused("-m X -u f u"));
        let typed = read("-p f -m PATCH u");
        assert_eq!((typed.stop, typed.body), (None, Some("f".to_owned())));
        assert_eq!(typed.method, Method::Custom("PATCH".to_owned()));
        assert_eq!(read("-i -m POST u").method, Method::Custom("POST".to_owned()));
    }

    #[test]
    fn the_first_error_is_reported() {
        assert_eq!(read("-V -n x").stop, Some(Stop::Version));
        assert_eq!(read("-n x -V").stop, Some(Stop::Refused("Invalid number of requests")));
    }

    #[test]
    fn every_letter_stands_once_and_says_what_it_does() {
        let mut names: Vec<&str> = FLAGS.iter().map(|flag| flag.row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FLAGS.len());
        assert!(FLAGS.iter().all(|flag| flag.row.docs.ends_with(['.', ')'])));
    }
}
