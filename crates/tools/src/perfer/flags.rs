//! The options of perfer, of 1.5 and of the 1.2 and 1.3 before it, in one table: some belong to one of them alone, and tell
//! which is spoken.

use cli::{Flag, ValueError, ValueKind};
use stdx::Nanos;

/// The options as typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PerferFlags {
    pub(crate) duration: Nanos,
    pub(crate) threads: u64,
    /// In all (1.5), or for each thread (1.2, 1.3).
    pub(crate) connections: u64,
    pub(crate) backlog: u64,
    pub(crate) meter: u64,
    pub(crate) number: Option<u64>,
    /// `-p`: a body to post (1.5), or the path (1.2, 1.3).
    pub(crate) p: Option<String>,
    pub(crate) request: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) spread: Vec<f64>,
    pub(crate) graph: Option<(usize, usize)>,
    pub(crate) keepalive: bool,
    pub(crate) json: bool,
    pub(crate) verbose: bool,
    pub(crate) version: bool,
    pub(crate) help: bool,
    /// `--compat`.
    pub(crate) compat: Option<String>,
    /// The first option given that only 1.5 has.
    pub(crate) new: Option<&'static str>,
    /// The first option given that only 1.2 and 1.3 have.
    pub(crate) old: Option<&'static str>,
}

impl Default for PerferFlags {
    fn default() -> Self {
        Self {
            duration: Nanos::SECOND,
            threads: 1,
            connections: 1,
            backlog: 1,
            meter: 0,
            number: None,
            p: None,
            request: None,
            headers: Vec::new(),
            spread: Vec::new(),
            graph: None,
            keepalive: false,
            json: false,
            verbose: false,
            version: false,
            help: false,
            compat: None,
            new: None,
            old: None,
        }
    }
}

type Perfer = PerferFlags;

/// Dialects of perfer.
pub(crate) const COMPAT: &[&str] = &["1.2", "1.3", "1.5"];

/// The options.
pub(crate) const FLAGS: &[Flag<Perfer>] = &[
    Flag::new(
        "duration",
        ValueKind::Text("SECONDS"),
        "1",
        "how long to send",
        |t: &mut Perfer, v| seconds(v).map(|d| t.duration = d),
    )
    .also(&["d"]),
    Flag::new("threads", ValueKind::Text("N"), "1", "worker threads", |t: &mut Perfer, v| {
        number(v, 1, MOST, "thread count").map(|n| t.threads = n)
    })
    .also(&["t"]),
    Flag::new(
        "connections",
        ValueKind::Text("N"),
        "1",
        "connections in all (1.2, 1.3: of each thread)",
        |t: &mut Perfer, v| number(v, 1, MOST, "connection number").map(|n| t.connections = n),
    )
    .also(&["c", "connection"]),
    Flag::new(
        "backlog",
        ValueKind::Text("N"),
        "1",
        "requests unanswered on a connection, 1 to 15",
        |t: &mut Perfer, v| number(v, 1, 15, "backlog number").map(|n| t.backlog = n),
    )
    .also(&["b"]),
    Flag::new(
        "meter",
        ValueKind::Text("RATE"),
        "0",
        "requests a second in all (1.5)",
        |t: &mut Perfer, v| {
            t.new.get_or_insert("-m");
            number(v, 0, MOST, "meter rate").map(|n| t.meter = n)
        },
    )
    .also(&["m"]),
    Flag::new(
        "number",
        ValueKind::Text("N"),
        "",
        "requests to send, cut to a multiple of the threads (1.2, 1.3)",
        |t: &mut Perfer, v| {
            t.old.get_or_insert("-n");
            number(v, 1, MOST, "number").map(|n| t.number = Some(n))
        },
    )
    .also(&["n"]),
    Flag::new(
        "p",
        ValueKind::Text("TEXT"),
        "",
        "body to post (1.5), path to get (1.2, 1.3)",
        |t: &mut Perfer, v| {
            t.p = Some(v.to_owned());
            Ok(())
        },
    ),
    Flag::new("post", ValueKind::Text("BODY"), "", "body to post (1.5)", |t: &mut Perfer, v| {
        t.new.get_or_insert("--post");
        t.p = Some(v.to_owned());
        Ok(())
    }),
    Flag::new(
        "path",
        ValueKind::Text("PATH"),
        "",
        "path to get (1.2, 1.3)",
        |t: &mut Perfer, v| {
            t.old.get_or_insert("--path");
            t.p = Some(v.to_owned());
            Ok(())
        },
    ),
    Flag::new(
        "request",
        ValueKind::Text("FILE"),
        "",
        "file with a whole request",
        |t: &mut Perfer, v| {
            t.request = Some(v.to_owned());
            Ok(())
        },
    )
    .also(&["r"]),
    Flag::new(
        "keep-alive",
        ValueKind::Switch,
        "",
        "keep connections alive",
        |t: &mut Perfer, _| {
            t.keepalive = true;
            Ok(())
        },
    )
    .also(&["k"]),
    Flag::new(
        "add",
        ValueKind::Text("'NAME: VALUE'"),
        "",
        "header field; repeat for more",
        |t: &mut Perfer, v| header(v).map(|field| t.headers.push(field)),
    )
    .also(&["a"]),
    Flag::new(
        "latency",
        ValueKind::Text("PERCENT,…"),
        "",
        "percentages of the latency to print (1.5)",
        |t: &mut Perfer, v| {
            t.new.get_or_insert("-l");
            spread(v).map(|list| t.spread = list)
        },
    )
    .also(&["l"]),
    Flag::new(
        "graph",
        ValueKind::Text("WxH"),
        "",
        "draw the latencies in so many columns and rows (1.5)",
        |t: &mut Perfer, v| {
            t.new.get_or_insert("-g");
            geometry(v).map(|size| t.graph = Some(size))
        },
    )
    .also(&["g"]),
    Flag::new("json", ValueKind::Switch, "", "print JSON (1.5)", |t: &mut Perfer, _| {
        t.new.get_or_insert("-j");
        t.json = true;
        Ok(())
    })
    .also(&["j"]),
    Flag::new(
        "poll_timeout",
        ValueKind::Text("MS"),
        "0",
        "accepted; nothing polls by time here (1.5)",
        |t: &mut Perfer, v| {
            t.new.get_or_insert("-z");
            number(v, 0, 999, "poll timeout number").map(|_| ())
        },
    )
    .also(&["z"]),
    Flag::new("epoll", ValueKind::Switch, "", "accepted (1.5)", |t: &mut Perfer, _| {
        t.new.get_or_insert("-e");
        Ok(())
    })
    .also(&["e"]),
    Flag::new(
        "verbose",
        ValueKind::Switch,
        "",
        "accepted; responses are not printed",
        |t: &mut Perfer, _| {
            t.verbose = true;
            Ok(())
        },
    )
    .also(&["v"]),
    Flag::new(
        "compat",
        ValueKind::Choice(COMPAT),
        "",
        "whose options these are",
        |t: &mut Perfer, v| {
            let known = COMPAT.contains(&v);
            t.compat = known.then(|| v.to_owned());
            if known { Ok(()) } else { Err(no_valid(v, "version (1.2, 1.3 or 1.5)")) }
        },
    ),
    Flag::new("version", ValueKind::Switch, "", "print the version", |t: &mut Perfer, _| {
        t.version = true;
        Ok(())
    }),
    Flag::new("help", ValueKind::Switch, "", "print this", |t: &mut Perfer, _| {
        t.help = true;
        Ok(())
    })
    .also(&["h"]),
];

/// No count of perfer's is larger.
const MOST: u64 = i64::MAX as u64;

fn no_valid(text: &str, what: &str) -> ValueError {
    ValueError::new(format!("'{text}' is not a valid {what}."))
}

fn number(text: &str, least: u64, most: u64, what: &str) -> Result<u64, ValueError> {
    text.parse().ok().filter(|n| (least..=most).contains(n)).ok_or_else(|| no_valid(text, what))
}

fn seconds(text: &str) -> Result<Nanos, ValueError> {
    let parsed = text.parse::<f64>().ok().filter(|s| (0.0..=1e9).contains(s));
    parsed.map(Nanos::from_secs_f64).ok_or_else(|| no_valid(text, "duration"))
}

fn header(text: &str) -> Result<(String, String), ValueError> {
    let (name, value) = text.split_once(':').ok_or_else(|| no_valid(text, "header"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Percentages above 0, to 100.
fn spread(text: &str) -> Result<Vec<f64>, ValueError> {
    let one = |part: &str| part.parse::<f64>().ok().filter(|p| *p > 0.0 && *p <= 100.0);
    let list: Option<Vec<f64>> = text.trim_end_matches(',').split(',').map(one).collect();
    list.ok_or_else(|| no_valid(text, "percentage (0.0 to 100.0)"))
}

/// Columns and rows, each 1 to 1024.
fn geometry(text: &str) -> Result<(usize, usize), ValueError> {
    let wrong = || no_valid(text, "geometry specification");
    let (wide, high) = text.split_once('x').ok_or_else(wrong)?;
    let side = |text: &str| text.parse().ok().filter(|n| (1..=1024).contains(n)).ok_or_else(wrong);
    Ok((side(wide)?, side(high)?))
}

/// Reads `args` into `typed`; gives the operands. The forms are `-x v`, `-x=v`, `--long v`, `--long=v`.
///
/// # Errors
/// perfer's error for a wrong argument.
pub(crate) fn read(args: &[String], typed: &mut PerferFlags) -> Result<Vec<String>, String> {
    let (mut operands, mut rest) = (Vec::new(), args);
    while let Some((arg, after)) = rest.split_first() {
        rest = after;
        let Some((body, short)) = body_of(arg) else {
            operands.push(arg.clone());
            continue;
        };
        let (name, mut value) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (body, None),
        };
        let is_called = |flag: &&Flag<Perfer>| {
            (flag.row.name == name || flag.row.aliases.contains(&name))
                && short == (name.len() == 1)
        };
        let Some(flag) = FLAGS.iter().find(is_called) else {
            return Err(format!("option {arg} is not known."));
        };
        if flag.row.kind.is_switch() {
            value = Some("true");
        } else if value.is_none() {
            let (next, after) =
                rest.split_first().ok_or_else(|| format!("option -{body} expects a value."))?;
            (value, rest) = (Some(next.as_str()), after);
        }
        (flag.set)(typed, value.unwrap_or_default()).map_err(|wrong| wrong.native)?;
    }
    Ok(operands)
}

/// An option without its dashes, and whether it had one alone.
fn body_of(arg: &str) -> Option<(&str, bool)> {
    let body = arg.strip_prefix('-').filter(|body| !body.is_empty())?;
    Some(body.strip_prefix('-').map_or((body, true), |long| (long, false)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<(PerferFlags, Vec<String>), String> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut typed = PerferFlags::default();
        read(&args, &mut typed).map(|operands| (typed, operands))
    }

    #[test]
    fn every_form_is_read() {
        for line in [
            "-t 2 -k -c=4 h:1 -d .5",
            "--threads 2 --keep-alive --connections=4 --duration=0.5 h:1",
        ] {
            let (typed, operands) = parsed(line).unwrap();
            assert_eq!((typed.threads, typed.connections, typed.keepalive), (2, 4, true), "{line}");
            assert_eq!(
                (typed.duration, operands),
                (Nanos::from_millis(500), vec!["h:1".to_owned()])
            );
        }
        let (typed, _) = parsed("-l 50,99.9 -g 40x8").unwrap();
        assert_eq!((typed.spread, typed.graph), (vec![50.0, 99.9], Some((40, 8))));
    }

    #[test]
    fn errors_have_perfers_words() {
        let cases = [
            ("-d x", "'x' is not a valid duration."),
            ("-b 99", "'99' is not a valid backlog number."),
            ("-t 0", "'0' is not a valid thread count."),
            ("-g 4", "'4' is not a valid geometry specification."),
            ("-l 0", "'0' is not a valid percentage (0.0 to 100.0)."),
            ("-b", "option -b expects a value."),
            ("--bogus", "option --bogus is not known."),
            ("-threads 2", "option -threads is not known."),
        ];
        for (line, words) in cases {
            assert_eq!(parsed(line).unwrap_err(), words, "{line}");
        }
    }
}
