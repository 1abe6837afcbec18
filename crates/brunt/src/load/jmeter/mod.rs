//! `jmeter`: JMeter's command line: a plan runs as virtual users, with JMeter's lines, log, results and exit codes.
//!
//! ```text
//! argv ─▶ Arguments ─▶ properties, plan ─▶ Program, World ─▶ a run of its threads ─▶ JTL, summariser, log ─▶ exit code
//! ```

mod arguments;
mod checks;
mod dashboard;
mod disk;
mod doors;
mod flags;
mod journal;
mod moments;
mod plan;
mod properties;
mod result_file;
mod results;
mod run;
mod settings;
mod stored;
mod test;
mod words;

use std::process::ExitCode;

use cli::eprint_line;

use self::arguments::{Arguments, CommandLine};
pub(crate) use self::test::{is_plan, run_script_or_plan, validate_script_or_plan};

/// Runs a command line of JMeter's.
pub(crate) fn run(args: &[String]) -> ExitCode {
    let asked = match Arguments::parse(args) {
        Ok(asked) => asked,
        Err(error) => {
            // JMeter's own code for a wrong command line is 0.
            let error = error.to_string();
            let error = stdx::shown_error(&error);
            print(&format!("Error: {error}\nUsage\n{}", arguments::USAGE));
            return ExitCode::SUCCESS;
        }
    };
    match asked {
        CommandLine::Help => print(arguments::USAGE),
        CommandLine::Version => {
            print(&format!("brunt {} speaks JMeter 5.6.3", env!("CARGO_PKG_VERSION")));
        }
        CommandLine::Remote => {
            eprint_line(
                "jmeter: -r and -R ask for JMeter's own servers, which brunt has none of; see brunt help fleet",
            );
            return ExitCode::FAILURE;
        }
        CommandLine::Report { results, folder } => {
            return ended(stored::carry_out(&results, &folder));
        }
        CommandLine::Run(arguments) => return ended(run::carry_out(&arguments)),
    }
    ExitCode::SUCCESS
}

/// The exit code, once the error is said.
fn ended(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    let error = format!("{error:#}");
    let error = stdx::shown_error(&error);
    print(&format!("An error occurred: {error}"));
    eprint_line(&format!("jmeter: {error}"));
    ExitCode::FAILURE
}

/// Checks a command line without reading or opening anything.
///
/// # Errors
/// It is wrong, or offers no load; the error is one line.
pub(crate) fn validate(args: &[String]) -> Result<(), String> {
    match Arguments::parse(args) {
        Ok(CommandLine::Run(_)) => Ok(()),
        Ok(_) => Err("jmeter: the command line runs no plan".to_owned()),
        Err(error) => Err(format!("jmeter: {error}")),
    }
}

/// The text of `brunt help jmeter`.
pub(crate) fn help() -> String {
    HELP.to_owned()
}

const HELP: &str = "brunt jmeter: JMeter's command line: plans (.jmx) run as JMeter 5.6 runs them, without a JVM.\n\
    The binary called as `jmeter` (a link will do) speaks it too.\n\n  \
    brunt jmeter -n -t plan.jmx -l results.jtl\n  \
    brunt jmeter -n -t plan.jmx -l results.jtl -Jthreads=50 -Jhost=localhost\n\n\
    Flags: -n -t -l -j -f -e -o -g -q -p -J -G -D -L -S -d; -skip-scripts leaves out scripts that are not understood; -v and -h. Usage errors end with 0, as JMeter's do; a plan that cannot be run\n\
    ends with 1. Elements and differences: docs/reference/jmeter.md.";

/// Writes a line to standard output, as far as it can be written.
fn print(text: &str) {
    // A reader that has gone away misses nothing else.
    cli::Output::Stdout.write(format!("{}\n", stdx::terminal_lines(text)).as_bytes()).ok();
}
