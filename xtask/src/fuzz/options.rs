//! What `cargo xtask fuzz` was asked for.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::build::Sanitizer;

/// What was asked for on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// The time of all targets together; building does not count.
    total: Duration,
    /// The time of each target, where that was given instead.
    each: Option<Duration>,
    /// A target ends after so many inputs; 0: by time alone.
    pub(super) inputs: u64,
    /// The targets to run; empty for all.
    pub(super) only: Vec<String>,
    /// What the targets are built with.
    pub(super) sanitizer: Sanitizer,
    /// Mutated outputs of servers in the simulated world, for each protocol, instead of the targets.
    pub(super) mutate: Option<u64>,
    /// The seed of the first world.
    pub(super) seed: u64,
}

impl Options {
    /// Reads the arguments of the command.
    ///
    /// # Errors
    /// An option is unknown, or its value is no number of at least 1.
    pub(super) fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self {
            total: Duration::from_mins(10),
            each: None,
            inputs: 0,
            only: Vec::new(),
            sanitizer: Sanitizer::Address,
            mutate: None,
            seed: 0,
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if word == "--no-asan" {
                options.sanitizer = Sanitizer::None;
                continue;
            }
            let value = words.next().with_context(|| format!("{word} needs a value"))?;
            match word.as_str() {
                "--minutes" => options.total = Duration::from_mins(number(word, value)?),
                "--seconds" => options.each = Some(Duration::from_secs(number(word, value)?)),
                "--inputs" => options.inputs = number(word, value)?,
                "--mutate" => options.mutate = Some(number(word, value)?),
                "--seed" => {
                    options.seed = value.parse().with_context(|| format!("{word} {value}"))?;
                }
                "--only" => options.only.push(value.clone()),
                other => bail!("no option {other}; `cargo xtask help` lists them"),
            }
        }
        Ok(options)
    }

    /// The time of the next target, after so much of the total, with so many targets to come (itself among them). What a target
    /// left over is for those after it.
    pub(super) fn share(&self, elapsed: Duration, targets: usize) -> Duration {
        let targets = u32::try_from(targets.max(1)).unwrap_or(u32::MAX);
        self.each.unwrap_or_else(|| self.total.saturating_sub(elapsed) / targets)
    }
}

fn number(option: &str, value: &str) -> Result<u64> {
    let number = value.parse().with_context(|| format!("{option} {value}"))?;
    ensure!(number > 0, "{option} must be at least 1");
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read() {
        let options = parse("--minutes 3 --only a --only b --inputs 9 --no-asan").unwrap();
        assert_eq!((options.only.len(), options.inputs), (2, 9));
        assert_eq!(options.sanitizer, Sanitizer::None);
        assert_eq!(parse("").unwrap().sanitizer, Sanitizer::Address);
        let worlds = parse("--mutate 1000 --seed 0").unwrap();
        assert_eq!((worlds.mutate, worlds.seed), (Some(1000), 0));
        for wrong in
            ["--minutes", "--minutes 0", "--seconds x", "--fast 1", "--mutate 0", "--seed -1"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn time_that_is_left_over_is_shared() {
        let seconds = Duration::from_secs;
        let options = parse("--minutes 1").unwrap();
        assert_eq!(options.share(seconds(0), 3), seconds(20));
        assert_eq!(options.share(seconds(10), 2), seconds(25));
        assert_eq!(options.share(seconds(70), 1), seconds(0));
        assert_eq!(parse("--seconds 7").unwrap().share(seconds(10), 2), seconds(7));
    }
}
