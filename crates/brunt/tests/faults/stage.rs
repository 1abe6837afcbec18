//! `Stage`: what a case needs: a folder with targets, a script, results and a study, and a server.

use std::process::{Command, Stdio};
use std::time::Duration;

use demo::{Config, Server, ServiceTime};

use crate::{Ran, Scratch, Started, brunt, server, start_within, text};

/// What no command takes, whatever the fault.
pub(crate) const BOUND: Duration = Duration::from_secs(25);

/// One case's folder and server.
pub(crate) struct Stage {
    pub(crate) scratch: Scratch,
    pub(crate) server: Server,
    pub(crate) url: String,
}

impl Stage {
    /// A server that takes 50 ms for a request.
    pub(crate) fn new(name: &str) -> Self {
        // Some loads open hundreds of connections, and several run at a time.
        net::machine::raise_descriptor_limit().unwrap();
        let service = ServiceTime::parse("fixed:50ms").unwrap();
        let cable = Some(demo::Cable::default());
        let (server, url) = server(Config { service, cable, workers: 400, ..Config::default() });
        let plain = name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        let stage = Self { scratch: Scratch::new(&format!("fault-{plain}")), server, url };
        let url = &stage.url;
        stage.scratch.file("targets", format!("GET {url}/\n"));
        let script = format!(
            "import http from 'k6/http'; export default function () {{ http.get('{url}/'); }}\n"
        );
        stage.scratch.file("script.js", script);
        let row = |n: u64| {
            format!("17000000{:02}000000000,200,5000000,0,9,,,a,{n},GET,{url}/,\n", n % 60)
        };
        stage.scratch.file("r.csv", (0..60).map(row).collect::<String>());
        let study = format!(
            "[study]\nname = \"s\"\nrepeats = 3\n[[variant]]\nname = \"one\"\nvalues = {{ url = \"{url}\" }}\n\
             [[workload]]\nname = \"load\"\ncommand = \"bench -c 1 -d 60s {{url}}/\"\n"
        );
        stage.scratch.file("study.toml", study);
        stage.scratch.file("plan.jmx", plan(url));
        stage
    }

    /// The words of a line of a table, with the server's address in them.
    pub(crate) fn words(&self, line: &str) -> String {
        let ws = self.url.replace("http://", "ws://");
        line.replace("{url}", &self.url).replace("{ws}", &ws)
    }

    /// The command of a line, in the stage's folder.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = brunt(&self.words(line));
        command.current_dir(&self.scratch.0).env("XDG_DATA_HOME", &self.scratch.0);
        command
    }

    pub(crate) fn start(&self, line: &str) -> Started {
        start_within(self.command(line), BOUND)
    }

    pub(crate) fn run(&self, line: &str) -> Ran {
        self.start(line).wait()
    }

    /// Runs a script of the shell in the folder; `$BRUNT` is the program.
    pub(crate) fn shell(&self, script: &str) -> Ran {
        start_within(self.shell_command(script), BOUND).wait()
    }

    pub(crate) fn shell_command(&self, script: &str) -> Command {
        let mut command = brunt("");
        let program = text(command.get_program().as_ref());
        let mut shell = Command::new("bash");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.args(["-c", &self.words(script)]).env("BRUNT", program);
        shell.env("XDG_DATA_HOME", &self.scratch.0);
        // Where it says so, a failed allocation prints where it was.
        shell.env_remove("RUST_BACKTRACE").current_dir(&self.scratch.0);
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(Stdio::null());
        shell
    }

    /// Results that a fault cut short: they are read, the report has rows, and does not take them for the whole where they are not.
    #[track_caller]
    pub(crate) fn report(&self, file: &str) -> Ran {
        self.run(&format!("report -type=json {file}"))
    }
}

/// A plan of JMeter: two threads that ask for a page until they are stopped, or as often as `-J loops` says.
fn plan(url: &str) -> String {
    let number =
        |name: &str, value: &str| format!("<stringProp name=\"{name}\">{value}</stringProp>");
    // Without this property JMeter's loop begins again once it is over.
    let ends = "<boolProp name=\"LoopController.continue_forever\">false</boolProp>";
    let loops = number("LoopController.loops", "${__P(loops,-1)}");
    let threads = number("ThreadGroup.num_threads", "2");
    let path = number("HTTPSampler.path", &format!("{url}/"));
    format!(
        "<jmeterTestPlan version=\"1.2\"><hashTree><TestPlan testname=\"Plan\"/><hashTree><ThreadGroup testname=\"Users\">\
         <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">{ends}{loops}</elementProp>{threads}\
         </ThreadGroup><hashTree><HTTPSamplerProxy testname=\"page\">{path}</HTTPSamplerProxy><hashTree/></hashTree>\
         </hashTree></hashTree></jmeterTestPlan>\n"
    )
}

/// How a command may not end, whatever the fault: by a bug, or by a signal that no user sent.
#[track_caller]
pub(crate) fn no_bug(ran: &Ran) {
    assert!(!matches!(ran.code, Some(13 | 101)), "{ran:#?}");
    assert!(!ran.stderr.contains("panicked") && !ran.stderr.contains("internal error"), "{ran:#?}");
}
