//! The options of ghz, by name: what each takes, and those that are not done here.

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Duration,
    Switch,
}

/// One option: its name on the command line and in a config file, its letter (or a blank), and what it takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) letter: char,
    pub(super) kind: Kind,
}

const fn row(name: &'static str, letter: char, kind: Kind) -> Row {
    Row { name, letter, kind }
}

/// Every option.
pub(super) const ROWS: &[Row] = &[
    row("config", ' ', Kind::Text),
    row("proto", ' ', Kind::Text),
    row("protoset", ' ', Kind::Text),
    row("call", ' ', Kind::Text),
    row("import-paths", 'i', Kind::Text),
    row("cacert", ' ', Kind::Text),
    row("cert", ' ', Kind::Text),
    row("key", ' ', Kind::Text),
    row("cname", ' ', Kind::Text),
    row("skipTLS", ' ', Kind::Switch),
    row("insecure", ' ', Kind::Switch),
    row("authority", ' ', Kind::Text),
    row("async", ' ', Kind::Switch),
    row("rps", 'r', Kind::Number),
    row("load-schedule", ' ', Kind::Text),
    row("load-start", ' ', Kind::Number),
    row("load-step", ' ', Kind::Number),
    row("load-end", ' ', Kind::Number),
    row("load-step-duration", ' ', Kind::Duration),
    row("load-max-duration", ' ', Kind::Duration),
    row("concurrency", 'c', Kind::Number),
    row("concurrency-schedule", ' ', Kind::Text),
    row("concurrency-start", ' ', Kind::Number),
    row("concurrency-step", ' ', Kind::Number),
    row("concurrency-end", ' ', Kind::Number),
    row("concurrency-step-duration", ' ', Kind::Duration),
    row("concurrency-max-duration", ' ', Kind::Duration),
    row("total", 'n', Kind::Number),
    row("timeout", 't', Kind::Duration),
    row("duration", 'z', Kind::Duration),
    row("max-duration", 'x', Kind::Duration),
    row("duration-stop", ' ', Kind::Text),
    row("data", 'd', Kind::Text),
    row("data-file", 'D', Kind::Text),
    row("binary", 'b', Kind::Switch),
    row("binary-file", 'B', Kind::Text),
    row("metadata", 'm', Kind::Text),
    row("metadata-file", 'M', Kind::Text),
    row("stream-interval", ' ', Kind::Duration),
    row("stream-call-duration", ' ', Kind::Duration),
    row("stream-call-count", ' ', Kind::Number),
    row("stream-dynamic-messages", ' ', Kind::Switch),
    row("reflect-metadata", ' ', Kind::Text),
    row("max-recv-message-size", ' ', Kind::Text),
    row("max-send-message-size", ' ', Kind::Text),
    row("enable-compression", 'e', Kind::Switch),
    row("lb-strategy", ' ', Kind::Text),
    row("connections", ' ', Kind::Number),
    row("connect-timeout", ' ', Kind::Duration),
    row("keepalive", ' ', Kind::Duration),
    row("name", ' ', Kind::Text),
    row("tags", ' ', Kind::Text),
    row("cpus", ' ', Kind::Number),
    row("debug", ' ', Kind::Text),
    row("output", 'o', Kind::Text),
    row("format", 'O', Kind::Text),
    row("skipFirst", ' ', Kind::Number),
    row("count-errors", ' ', Kind::Switch),
    row("disable-template-functions", ' ', Kind::Switch),
    row("disable-template-data", ' ', Kind::Switch),
    row("host", ' ', Kind::Text),
    row("version", 'v', Kind::Switch),
    row("help", 'h', Kind::Switch),
];

/// Options that change what is sent and that we do not do: refused, so that no other test is run than the one that was asked for.
pub(super) const REFUSED: [&str; 3] =
    ["stream-interval", "stream-call-duration", "stream-dynamic-messages"];

/// The option of a name, as the command line or a config file spells it.
pub(super) fn named(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

/// The option of a letter.
pub(super) fn lettered(letter: char) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.letter == letter && letter != ' ')
}
