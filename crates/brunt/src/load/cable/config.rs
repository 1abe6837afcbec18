//! `CableConfig`: the test that a command line of `cable` asks for, validated. Nothing was sent yet.

use std::sync::Arc;

use ::cable::{Cable, CablePlan, HERD_ROUNDS_MAX, Pattern, Template, USERS_MAX};
use cli::{CommandError, Document, ParsedArgs, usage_error};
use engine::{Capture, CapturedHeaders, Protocol, Redirects};
use serde_json::Value;
use stdx::Nanos;
use wire::cable::{Codec, Dialect as Protocols, Format};
use wire::url::Url;
use workload::arrival::ParsedRate;
use workload::{Load, Plan, Targets};

use super::flags::CableFlags;
use crate::dialect::LoadRules;
use crate::load::environment::Environment;
use crate::load::load_test::LoadTest;
use crate::load::outputs::{OutputFlags, Outputs};
use crate::load::{cookies, fleet, gates, settings};

/// The test that a command line of `cable` asks for.
pub(crate) struct CableConfig {
    /// The test of Action Cable.
    pub(crate) cable: Arc<Cable>,
    /// The run of its users.
    pub(crate) load_test: LoadTest,
    /// Whether a lost message decides the exit code.
    pub(crate) fails_on_loss: bool,
}

/// How long a herd stays up where no duration is given.
const HERD_STAYS: Nanos = Nanos::SECOND;

/// Validates a command line, and reads the files that it names.
///
/// # Errors
/// A flag or a file is wrong.
pub(crate) fn resolve(
    args: &ParsedArgs<CableFlags>,
    environment: &Environment<'_>,
) -> Result<CableConfig, CommandError> {
    let flags = &args.flags;
    let seed = flags.client.engine.seed.unwrap_or(environment.seed);
    let mut cable_plan = plan(args, seed)?;
    if let Some(path) = flags.cookies.as_deref().filter(|text| !text.contains('=')) {
        let value = cookies::of_url(path, &cable_plan.http_url)?;
        cable_plan.headers.push(("Cookie".to_owned(), Template::new(&value)));
    }
    settings::check_client(&LoadRules::NATIVE, &flags.client)?;
    let name = match flags.results.name.as_str() {
        "" => format!("cable {}", cable_plan.pattern.name()),
        name => name.to_owned(),
    };
    let cable = Cable::new(cable_plan);
    let CableFlags { results, display, watched, saving, .. } = flags;
    if let Some(name) = results.sent_to.first() {
        return Err(usage_error(format!(
            "-o {name}: attack, bench and run send samples there, cable writes files"
        )));
    }
    let known = [Document::Json, Document::Markdown, Document::Text, Document::Junit];
    saving.reports.check(&known).map_err(usage_error)?;
    let flags_of_outputs = OutputFlags { results, display, watched, saving };
    let outputs = Outputs::resolve(&LoadRules::NATIVE, &flags_of_outputs, environment)?;
    let mut settings =
        settings::client_settings(args, &flags.client, &LoadRules::NATIVE, environment)?;
    // Handshakes are answered by heads, which are looked at; WebSockets begin in HTTP/1.1 (RFC 6455, 4.1).
    settings.capture = Capture { headers: CapturedHeaders::WholeHead, ..Capture::default() };
    (settings.protocol, settings.redirects) = (Protocol::Http1, Redirects::Keep);
    let plan = engine_plan(&cable, name);
    gates::check_load(&flags.display.gates, &plan.load)?;
    let fleet = fleet::resolve(&flags.fleet, args.global.cpus)?;
    let load_test = LoadTest { fleet, ..LoadTest::new(plan, settings, outputs) };
    Ok(CableConfig { cable, load_test, fails_on_loss: flags.fail_on_loss })
}

/// The run of a test's users, as the engine sees it.
pub(super) fn engine_plan(cable: &Arc<Cable>, name: String) -> Plan {
    let targets = Targets::new(Vec::new());
    Plan { name, ..Plan::new(Load::Users(cable.users()), targets, cable.plan().seed) }
}

/// Checks as much of a command line as needs no file and no look at the machine.
///
/// # Errors
/// A flag is wrong.
pub(crate) fn validate(args: &ParsedArgs<CableFlags>) -> Result<(), CommandError> {
    fleet::resolve(&args.flags.fleet, None)?;
    plan(args, 0).map(drop)
}

fn plan(args: &ParsedArgs<CableFlags>, seed: u64) -> Result<CablePlan, CommandError> {
    let flags = &args.flags;
    let (word, url) = match args.operands.as_slice() {
        [word, url] => (word.as_str(), url.as_str()),
        [] | [_] => {
            return Err(usage_error(
                "a pattern and a URL are missing: give for example brunt cable echo ws://127.0.0.1:3000/cable -channel ChatChannel",
            ));
        }
        [_, _, extra, ..] => return Err(usage_error(format!("unexpected \"{extra}\""))),
    };
    let users = u32::try_from(flags.users).ok().filter(|users| *users <= USERS_MAX);
    let users = users.ok_or_else(|| usage_error(format!("flag -users: at most {USERS_MAX}")))?;
    let http_url = http_url(url)?;
    let mut headers = headers(flags);
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("Origin")) {
        headers.push(("Origin".to_owned(), Template::new(&origin(&http_url))));
    }
    let pattern = pattern(word, flags, users)?;
    let is_herd = matches!(pattern, Pattern::Herd { .. });
    let is_default = flags.duration == CableFlags::default().duration;
    Ok(CablePlan {
        url: stdx::shown_url(url).into_owned(),
        http_url,
        pattern,
        users,
        ramp: flags.ramp,
        duration: if is_herd && is_default { HERD_STAYS } else { flags.duration },
        identifier: identifier(flags)?,
        data: data(flags)?,
        codec: codec(flags),
        headers,
        timeout: Some(flags.timeout)
            .filter(|timeout| *timeout > Nanos::ZERO)
            .ok_or_else(|| usage_error("flag -timeout: 0 is too short (expected more than 0)"))?,
        jitter: flags.jitter,
        backs_off: !flags.no_backoff,
        seed,
        part: None,
    })
}

/// The URL for the handshake, which is HTTP's. RFC 6455, 3.
fn http_url(url: &str) -> Result<String, CommandError> {
    let wrong = || {
        let url = stdx::shown_url(url);
        usage_error(format!("\"{url}\" is not a WebSocket URL (expected ws://HOST/PATH)"))
    };
    let (scheme, rest) = url.split_once("://").ok_or_else(wrong)?;
    let http = match scheme {
        "ws" | "http" => "http",
        "wss" | "https" => "https",
        _ => return Err(wrong()),
    };
    let http_url = format!("{http}://{rest}");
    Url::parse(&http_url).map_err(|_| wrong())?;
    Ok(http_url)
}

/// Scheme, host and port: the `Origin` that a browser sends from a page of this server. RFC 6454, 6.2: user and password are no
/// part of it.
fn origin(http_url: &str) -> String {
    let (scheme, rest) = http_url.split_once("://").unwrap_or(("http", http_url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}")
}

fn headers(flags: &CableFlags) -> Vec<(String, Template)> {
    // Those of a file are read with the other files.
    let cookies = flags.cookies.iter().filter(|text| text.contains('='));
    let cookies = cookies.map(|text| ("Cookie", text.as_str()));
    let own = flags.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    own.chain(cookies).map(|(name, text)| (name.to_owned(), Template::new(text))).collect()
}

fn pattern(word: &str, flags: &CableFlags, users: u32) -> Result<Pattern, CommandError> {
    let asked = |rate: ParsedRate| match rate {
        ParsedRate::Rate(rate) => Some(Nanos::from_secs_f64(1.0 / rate.per_s())),
        _ => None,
    };
    Ok(match word {
        "echo" => Pattern::Echo {
            every: match flags.rate {
                // All users together keep the rate.
                Some(rate) => asked(rate).map(|every| every * u64::from(users)),
                None => Some(Nanos::SECOND),
            },
        },
        "broadcast" => Pattern::Broadcast {
            speakers: u32::try_from(flags.speakers)
                .ok()
                .filter(|speakers| *speakers <= users)
                .ok_or_else(|| usage_error("flag -speakers: more speakers than -users"))?,
            every: match flags.rate {
                Some(rate) => asked(rate)
                    .filter(|every| *every > Nanos::ZERO)
                    .ok_or_else(|| usage_error("flag -rate: a broadcast needs a rate above 0"))?,
                None => Nanos::SECOND,
            },
        },
        "idle" => Pattern::Idle,
        "herd" => Pattern::Herd {
            cuts: u32::try_from(flags.cuts)
                .ok()
                .filter(|cuts| *cuts <= HERD_ROUNDS_MAX)
                .ok_or_else(|| usage_error(format!("flag -cuts: at most {HERD_ROUNDS_MAX}")))?,
            give_up: flags.give_up,
        },
        _ => {
            return Err(usage_error(format!(
                "\"{word}\" is not a pattern (expected echo, broadcast, idle or herd)"
            )));
        }
    })
}

/// `{"channel":"…", …}` with the parameters as they were typed.
fn identifier(flags: &CableFlags) -> Result<Template, CommandError> {
    let Some(channel) = &flags.channel else {
        return Err(usage_error("flag -channel is missing: give for example -channel ChatChannel"));
    };
    let channel = Value::from(channel.as_str());
    let text = with_member("channel", &channel, flags.params.as_deref().unwrap_or("{}"));
    text.map(|text| Template::new(&text))
        .ok_or_else(|| usage_error("flag -params: not a JSON object"))
}

/// What is performed: `{"action":"…", …}`.
fn data(flags: &CableFlags) -> Result<Template, CommandError> {
    const DATA: &str = r#"{"message":"{token}"}"#;
    let (action, data) = match flags.perform.as_deref().map(|text| text.split_once(':')) {
        None => ("speak", DATA),
        Some(None) => (flags.perform.as_deref().unwrap_or_default(), DATA),
        Some(Some(parts)) => parts,
    };
    let text = with_member("action", &Value::from(action), data)
        .ok_or_else(|| usage_error("flag -perform: what follows ACTION: is not a JSON object"))?;
    let template = Template::new(&text);
    if !template.has_token() {
        return Err(usage_error(
            "flag -perform: {token} is missing; put it in a field that the server sends back, for example speak:{\"message\":\"{token}\"}",
        ));
    }
    Ok(template)
}

/// A JSON object's text with one more member, the first. Templates are JSON when filled, as with a user's number.
fn with_member(name: &str, value: &Value, object: &str) -> Option<String> {
    let mut filled = String::new();
    Template::new(object).write(1, "token", &mut filled);
    let parsed: Value = serde_json::from_str(&filled).ok()?;
    let is_empty = parsed.as_object()?.is_empty();
    let rest = object.trim().strip_prefix('{')?;
    let comma = if is_empty { "" } else { "," };
    Some(format!("{{{}:{value}{comma}{}", Value::from(name), rest.trim_start()))
}

fn codec(flags: &CableFlags) -> Codec {
    let format = match flags.codec.as_str() {
        "msgpack" => Format::Msgpack,
        "protobuf" => Format::Protobuf,
        _ => Format::Json,
    };
    Codec { format, dialect: Protocols::Base }
}

#[cfg(test)]
mod tests {
    use cli::{Dialect, GlobalFlags, Invocation};

    use super::*;
    use crate::load::cable::flags::FLAGS;

    #[test]
    fn the_user_is_no_part_of_the_origin() {
        for (url, expect) in [
            ("http://h:1/cable?x", "http://h:1"),
            ("https://u:p@h/c@d", "https://h"),
            ("http://h", "http://h"),
        ] {
            assert_eq!(origin(url), expect, "{url}");
        }
    }

    fn planned(line: &str) -> Result<CablePlan, CommandError> {
        let args = line.split_whitespace().map(str::to_owned).collect();
        let invocation =
            Invocation { dialect: Dialect::Native, global: GlobalFlags::default(), args };
        let args = invocation.parse(FLAGS).unwrap_or_else(|_| panic!("{line}"));
        plan(&args, 1)
    }

    fn good(line: &str) -> CablePlan {
        planned(line).unwrap_or_else(|_| panic!("{line}"))
    }

    #[test]
    fn patterns_follow_their_flags() {
        let check = |line: &str, expect: Pattern| {
            assert_eq!(good(&format!("{line} ws://h/cable -channel C")).pattern, expect, "{line}");
        };
        let every = |ms| Some(Nanos::from_millis(ms));
        check("echo", Pattern::Echo { every: every(1000) });
        check("-rate 20 echo -users 4", Pattern::Echo { every: every(200) });
        check("echo -rate 0", Pattern::Echo { every: None });
        let broadcast =
            |speakers, ms| Pattern::Broadcast { speakers, every: Nanos::from_millis(ms) };
        check("broadcast", broadcast(1, 1000));
        check("broadcast -speakers 3 -rate 600/m", broadcast(3, 100));
        check("idle", Pattern::Idle);
        let give_up = Nanos::from_secs(60);
        check("herd", Pattern::Herd { cuts: 0, give_up });
        check("herd -cuts 2 -give-up 5s", Pattern::Herd { cuts: 2, give_up: Nanos::from_secs(5) });
    }

    #[test]
    fn texts_are_made_of_their_parts() {
        let plan =
            good(r#"echo ws://h:1/cable?a=b -channel C -params {"id":"{user}"} -cookies u={user}"#);
        assert_eq!(plan.identifier.text(3), r#"{"channel":"C","id":"3"}"#);
        assert_eq!(plan.http_url, "http://h:1/cable?a=b");
        let texts: Vec<_> =
            plan.headers.iter().map(|(name, text)| format!("{name}: {}", text.text(3))).collect();
        assert_eq!(texts, ["Cookie: u=3", "Origin: http://h:1"]);
        let mut data = String::new();
        plan.data.write(3, "tok", &mut data);
        assert_eq!(data, r#"{"action":"speak","message":"tok"}"#);
        let plan =
            good(r#"echo wss://h -channel C -header Origin:x -perform echo:{"a":["{token}"]}"#);
        assert_eq!((plan.headers.len(), plan.http_url.as_str()), (1, "https://h"));
        assert_eq!(plan.identifier.text(1), r#"{"channel":"C"}"#);
        assert!(plan.data.has_token());
        assert_eq!(
            good("echo ws://h -channel C -perform say").data.text(1),
            r#"{"action":"say","message":""}"#
        );
    }

    #[test]
    fn a_herd_stays_for_a_second() {
        assert_eq!(good("herd ws://h -channel C").duration, Nanos::SECOND);
        assert_eq!(good("herd ws://h -channel C -d 3s").duration, Nanos::from_secs(3));
        assert_eq!(good("idle ws://h -channel C").duration, Nanos::from_secs(10));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in [
            "",
            "echo",
            "echo ws://h",
            "ws://h echo -channel C",
            "chat ws://h -channel C",
            "echo ftp://h -channel C",
            "echo h -channel C",
            "echo ws:// -channel C",
            "echo ws://h more -channel C",
            "echo ws://h -channel C -params []",
            "echo ws://h -channel C -params {",
            "echo ws://h -channel C -perform speak:{}",
            "echo ws://h -channel C -perform speak:5",
            "echo ws://h -channel C -timeout 0",
            "echo ws://h -channel C -users 2000000",
            "broadcast ws://h -channel C -rate 0",
            "broadcast ws://h -channel C -speakers 11",
            "herd ws://h -channel C -cuts 1001",
        ] {
            assert!(matches!(planned(line), Err(CommandError::Failed(_))), "{line}");
        }
    }
}
