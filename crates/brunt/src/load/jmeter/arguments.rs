//! `Arguments`: JMeter's command line, and a few flags of our own.

use jmx::UnknownScripts;

use super::doors::{ALLOW_READ, ALLOW_WRITE};

/// JMeter's command line for a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Arguments {
    /// The plan: `-t`.
    pub(super) plan: String,
    /// Names whose values results do not have: `-redact`.
    pub(super) redacted: Option<String>,
    /// Flags that do nothing here, in their order.
    pub(super) left_out: Vec<char>,
    /// The file of results: `-l`.
    pub(super) results: Option<String>,
    /// The log: `-j`.
    pub(super) log: Option<String>,
    /// The results are written anew: `-f`.
    pub(super) replaces: bool,
    /// Properties: `-J`.
    pub(super) properties: Vec<(String, String)>,
    /// System properties: `-D`.
    pub(super) system: Vec<(String, String)>,
    /// Files of properties, in their order: `-p` and `-q`.
    pub(super) files: Vec<String>,
    /// The levels of the log: `-L`.
    pub(super) levels: Vec<String>,
    /// Scripts that are not understood: refused, or left out by `-skip-scripts`.
    pub(super) unknown_scripts: UnknownScripts,
    /// A report is wanted: `-e`, into the folder of `-o`.
    pub(super) report: Option<String>,
}

/// What a command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommandLine {
    Run(Box<Arguments>),
    /// A report of a file of results that is there: `-g`.
    Report {
        results: String,
        folder: String,
    },
    Help,
    Version,
    Remote,
}

/// Why a command line is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ArgumentError(String);

impl std::fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The flags: the letter, the long name, and whether a value follows.
const FLAGS: &[(char, &str, bool)] = &[
    ('n', "nongui", false),
    ('t', "testfile", true),
    ('l', "logfile", true),
    ('j', "jmeterlogfile", true),
    ('f', "forceDeleteResultFile", false),
    ('e', "reportatendofloadtests", false),
    ('o', "reportoutputfolder", true),
    ('g', "reportonly", true),
    ('J', "jmeterproperty", true),
    ('G', "globalproperty", true),
    ('D', "systemproperty", true),
    ('L', "loglevel", true),
    ('q', "addprop", true),
    ('p', "propfile", true),
    ('S', "systemPropertyFile", true),
    ('d', "homedir", true),
    ('i', "jmeterlogconf", true),
    ('r', "runremote", false),
    ('R', "remotestart", true),
    ('X', "remoteexit", false),
    ('s', "server", false),
    ('H', "proxyHost", true),
    ('P', "proxyPort", true),
    ('N', "nonProxyHosts", true),
    ('u', "username", true),
    ('a', "password", true),
    ('E', "proxyScheme", true),
    ('h', "help", false),
    ('?', "?", false),
    ('v', "version", false),
    // These are ours; no letter of JMeter's stands for them.
    ('A', "allow-read", true),
    ('W', "allow-write", true),
    ('C', "redact", true),
];

/// The folder of a report where `-o` names none.
const REPORT_FOLDER: &str = "report-output";

/// The text for a wrong command line.
pub(super) const USAGE: &str = "\t-n, --nongui\n\t\trun without a window, as brunt always does\n\t-t, --testfile <argument>\n\t\tthe plan (.jmx) to run\n\t-l, --logfile <argument>\n\t\tthe file that samples are written to\n\t-j, --jmeterlogfile <argument>\n\t\tthe log (jmeter.log)\n\t-f, --forceDeleteResultFile\n\t\twrite the file of samples anew\n\t-J, --jmeterproperty <argument>=<value>\n\t\tset a property of JMeter's; without a value the property is none\n\t-D, --systemproperty <argument>=<value>\n\t\tset a property that files and -J go before\n\t-G, --globalproperty <argument>=<value>\n\t\ta property of servers; a run here has none\n\t-q, --addprop <argument>\n\t\tread more properties from a file\n\t-p, --propfile <argument>\n\t\tread JMeter's properties from a file\n\t-e, --reportatendofloadtests\n\t\tmake a report at the end; needs -l\n\t-g, --reportonly <argument>\n\t\tmake the report of a file of samples (CSV)\n\t-o, --reportoutputfolder <argument>\n\t\tthe folder of the report, empty or not there (report-output)\n\t-L, --loglevel <argument>=<value>\n\t\tset a level of the log\n\t-allow-read <folder>\n\t\tlet the plan read below one more folder\n\t-allow-write <folder>\n\t\tlet the plan write below one more folder\n\t-redact <names>\n\t\tkeep the values of these names out of results and output (secrets: the usual ones)\n\t-skip-scripts\n\t\tleave out scripts that are not understood, each with a warning\n\t-v, --version\n\t\tsay the version\n\t-h, --help\n\t\tsay this";

impl Arguments {
    /// Reads a command line.
    ///
    /// # Errors
    /// A flag is unknown, or its value is missing; or there is no plan.
    pub(super) fn parse(args: &[String]) -> Result<CommandLine, ArgumentError> {
        let mut parsed = Self::default();
        let (mut reports, mut folder, mut stored) = (false, None, None);
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            if matches!(arg.as_str(), "-skip-scripts" | "--skip-scripts") {
                parsed.unknown_scripts = UnknownScripts::LeftOut;
                continue;
            }
            let (letter, takes, glued) = flag(arg)?;
            let value = match (takes, glued) {
                (false, _) => String::new(),
                (true, Some(value)) => value,
                (true, None) => rest.next().cloned().ok_or_else(|| missing(arg))?,
            };
            match letter {
                'h' | '?' => return Ok(CommandLine::Help),
                'v' => return Ok(CommandLine::Version),
                'g' => stored = Some(value),
                'r' | 'R' => return Ok(CommandLine::Remote),
                'e' => reports = true,
                'o' => folder = Some(value),
                letter => parsed.set(letter, value),
            }
        }
        if let Some(results) = stored {
            let folder = folder.unwrap_or_else(|| REPORT_FOLDER.to_owned());
            return Ok(CommandLine::Report { results, folder });
        }
        if parsed.plan.is_empty() {
            return Err(ArgumentError("-n needs a plan: -t file.jmx".to_owned()));
        }
        if reports && parsed.results.is_none() {
            return Err(ArgumentError("-e needs a file of results: -l file.jtl".to_owned()));
        }
        parsed.report = reports.then(|| folder.unwrap_or_else(|| REPORT_FOLDER.to_owned()));
        Ok(CommandLine::Run(Box::new(parsed)))
    }

    fn set(&mut self, letter: char, value: String) {
        match letter {
            't' => self.plan = value,
            'l' => self.results = Some(value),
            'j' => self.log = Some(value),
            'f' => self.replaces = true,
            'J' => self.properties.push(pair(&value)),
            'D' => self.system.push(pair(&value)),
            'A' => self.allow(ALLOW_READ, &value),
            'W' => self.allow(ALLOW_WRITE, &value),
            'C' => self.redacted = Some(value),
            'q' | 'p' => self.files.push(value),
            'L' => self.levels.push(value),
            // -n is always so.
            'n' => {}
            // Others speak to servers, to a proxy or to the JVM.
            letter => self.left_out.push(letter),
        }
    }

    /// Opens one more folder to the plan.
    fn allow(&mut self, name: &str, folder: &str) {
        match self.properties.iter_mut().find(|(known, _)| known == name) {
            Some((_, folders)) => *folders = format!("{folders}:{folder}"),
            None => self.properties.push((name.to_owned(), folder.to_owned())),
        }
    }
}

/// The name of a flag of ours, which has one dash as well.
fn own_name(arg: &str) -> Option<&str> {
    let name = arg.strip_prefix('-')?;
    let plain = name.split('=').next().unwrap_or(name);
    matches!(plain, "allow-read" | "allow-write" | "redact").then_some(name)
}

/// A name and its value, which is empty where none is given.
fn pair(text: &str) -> (String, String) {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    (name.trim().to_owned(), value.trim().to_owned())
}

/// A flag: its letter, whether it takes a value, and the value that is glued to it.
fn flag(arg: &str) -> Result<(char, bool, Option<String>), ArgumentError> {
    let unknown = || ArgumentError(format!("Unknown option {arg}"));
    if let Some(long) = arg.strip_prefix("--").or_else(|| own_name(arg)) {
        let (name, value) = long
            .split_once('=')
            .map_or((long, None), |(name, value)| (name, Some(value.to_owned())));
        let row = FLAGS.iter().find(|(_, known, _)| *known == name).ok_or_else(unknown)?;
        return Ok((row.0, row.2, value));
    }
    let mut letters = arg.strip_prefix('-').ok_or_else(unknown)?.chars();
    let letter = letters.next().ok_or_else(unknown)?;
    let row = FLAGS.iter().find(|(known, ..)| *known == letter).ok_or_else(unknown)?;
    let glued = letters.as_str();
    if !row.2 && !glued.is_empty() {
        return Err(unknown());
    }
    Ok((letter, row.2, (!glued.is_empty()).then(|| glued.to_owned())))
}

fn missing(arg: &str) -> ArgumentError {
    ArgumentError(format!("Missing argument to option {arg}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<CommandLine, ArgumentError> {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Arguments::parse(&args)
    }

    #[test]
    fn jmeters_forms_are_read() {
        let Ok(CommandLine::Run(run)) = parse(
            "-n -t p.jmx -Ja=1 -J b=2=3 -Jnone -Dc=\u{2003}4 --logfile o.jtl -f -LDEBUG -q x.properties -skip-scripts",
        ) else {
            panic!("a run");
        };
        assert_eq!(
            (run.plan.as_str(), run.results.as_deref(), run.replaces),
            ("p.jmx", Some("o.jtl"), true)
        );
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(run.properties, [pair("a", "1"), pair("b", "2=3"), pair("none", "")]);
        assert_eq!(run.system, [pair("c", "4")]);
        assert_eq!((run.files.len(), run.levels.len()), (1, 1));
        assert_eq!(run.unknown_scripts, UnknownScripts::LeftOut);
        assert_eq!(run.left_out, [] as [char; 0]);
        assert_eq!(parse("-v"), Ok(CommandLine::Version));
        let report = |results: &str, folder: &str| CommandLine::Report {
            results: results.to_owned(),
            folder: folder.to_owned(),
        };
        assert_eq!(parse("-g old.jtl -o out"), Ok(report("old.jtl", "out")));
        assert_eq!(parse("--reportonly old.jtl"), Ok(report("old.jtl", "report-output")));
        assert_eq!(parse("-n -t p -R host"), Ok(CommandLine::Remote));
    }

    #[test]
    fn folders_are_opened_and_values_hidden() {
        let line = "-n -t p.jmx -allow-read /a --allow-read=/b --allow-write /c -redact secrets";
        let Ok(CommandLine::Run(run)) = parse(line) else { panic!("a run") };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(run.properties, [pair(ALLOW_READ, "/a:/b"), pair(ALLOW_WRITE, "/c")]);
        assert_eq!(run.redacted.as_deref(), Some("secrets"));
        assert_eq!(parse("-r -n -t p"), Ok(CommandLine::Remote));
    }

    #[test]
    fn wrong_lines_say_what_is_wrong() {
        for (line, expect) in [
            ("-n -t", "Missing argument to option -t"),
            ("-n --no-such", "Unknown option --no-such"),
            ("plan.jmx", "Unknown option plan.jmx"),
            ("-n", "-n needs a plan"),
            ("-n -t p -e", "-e needs a file of results"),
        ] {
            let error = parse(line).expect_err(line).to_string();
            assert!(error.starts_with(expect), "{error}");
        }
    }
}
