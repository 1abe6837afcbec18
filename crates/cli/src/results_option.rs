//! `ResultsOption`: `--results FILE` and `--watch`, which brunt adds to the command lines of other tools.

use crate::output::Output;

/// A results file that another tool's command line asks for with `--results FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultsOption {
    /// The file.
    pub output: Output,
    /// This machine is watched during the run (`--watch`).
    pub watched: bool,
}

/// brunt's own flag for a results file in the command lines of other tools.
pub const RESULTS: &str = "--results";
/// brunt's own flag for a monitor of this machine, whose rows go into the results file.
pub const WATCH: &str = "--watch";

/// `--results` came without the name of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct NoFile;

/// Takes `--results FILE` out of another tool's command line, and `--watch` where a file is named.
///
/// # Errors
/// The name of the file is missing.
pub fn take_results(args: &mut Vec<String>) -> Result<Option<ResultsOption>, NoFile> {
    let Some(output) = take_output(args)? else { return Ok(None) };
    let words = args.len();
    args.retain(|arg| arg != WATCH);
    Ok(Some(ResultsOption { output, watched: args.len() < words }))
}

fn take_output(args: &mut Vec<String>) -> Result<Option<Output>, NoFile> {
    let own = |arg: &String| {
        arg.strip_prefix(RESULTS).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    let Some(at) = args.iter().position(own) else { return Ok(None) };
    let word = args.remove(at);
    let file = match word.split_once('=') {
        Some((_, file)) => file.to_owned(),
        None if at < args.len() => args.remove(at),
        None => return Err(NoFile),
    };
    if file.is_empty() { Err(NoFile) } else { Ok(Some(Output::named(Some(&file)))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_taken_out_of_a_line() {
        let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        let taken = |line: &str| {
            let mut args = words(line);
            take_results(&mut args).map(|place| (place, args.join(" ")))
        };
        let stored =
            |watched| Some(ResultsOption { output: Output::File("f.arrow".to_owned()), watched });
        let rest = || "-n 5 http://h/".to_owned();
        assert_eq!(taken("-n 5 http://h/"), Ok((None, rest())));
        assert_eq!(taken("-n 5 --results f.arrow http://h/"), Ok((stored(false), rest())));
        assert_eq!(taken("--results=f.arrow -n 5 http://h/"), Ok((stored(false), rest())));
        assert_eq!(taken("--watch -n 5 --results f.arrow http://h/"), Ok((stored(true), rest())));
        assert_eq!(taken("run --watch x.js"), Ok((None, "run --watch x.js".to_owned())));
        assert_eq!(taken("-n 5 http://h/ --results"), Err(NoFile));
        assert_eq!(taken("-n 5 --results= http://h/"), Err(NoFile));
    }
}
