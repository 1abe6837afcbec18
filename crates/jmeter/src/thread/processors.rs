//! Pre- and post-processors, and listeners with an effect of their own.

use jmx::{Class, Writing, extract};

use super::after::After;
use super::scope::Thread;
use crate::config;
use crate::plan::compile::collects;
use crate::plan::node::{Part, SamplerNode};
use crate::results::sample::SampleResult;
use crate::script::{self, Changes, Wishes};
use crate::walk::Logic;
use crate::world::{LogLevel, lock};

impl Thread {
    /// Runs what stands before a sampler.
    pub(crate) fn before(&mut self, node: &SamplerNode) {
        self.sample_timeout_ms = None;
        self.replacements.clear();
        self.changes = Changes::default();
        self.wishes = Wishes::default();
        for part in &node.before {
            match part.class() {
                Class::UserParameters => config::parameters::before(part, self),
                Class::RegexUserParameters => config::parameters::from_matches(part, self),
                Class::SampleTimeout => {
                    let time = self.property_text(&part.element, "InterruptTimer.timeout");
                    self.sample_timeout_ms = time.trim().parse().ok().filter(|time| *time > 0);
                }
                class if script::is_script(class) => script::before(part, node, self),
                _ => {}
            }
        }
    }

    /// Runs what stands behind a sampler. `None`: the row of the sample is lost.
    pub(crate) fn after(&mut self, node: &SamplerNode, sample: &mut SampleResult) -> Option<After> {
        let mut after = After::Go(Logic::Continue);
        for part in &node.after {
            match part.class() {
                Class::ResultAction if sample.is_success => {}
                Class::ResultAction => after = self.status_action(part),
                class if script::is_script(class) => script::after(part, sample, self),
                _ => {
                    if let Err(error) = sample.with_view(|view| extract(&part.element, self, view))
                    {
                        self.lose_row(&error);
                        return None;
                    }
                }
            }
            if self.loses_row() {
                return None;
            }
        }
        Some(after)
    }

    fn lose_row(&self, error: &dyn std::fmt::Display) {
        let text = format!("Error while processing sampler: '{}'. {error}", self.sampler);
        self.write_log(LogLevel::Error, "o.a.j.t.JMeterThread", &text);
    }

    /// Whether a function beside the sampler has thrown: the sampler has no row then, and the log says why.
    pub(crate) fn loses_row(&mut self) -> bool {
        let thrown = self.thrown.take();
        if let Some(thrown) = &thrown {
            self.lose_row(thrown);
        }
        thrown.is_some()
    }

    /// Listeners that do something of their own with a sample.
    pub(crate) fn listen(&mut self, node: &SamplerNode, sample: &SampleResult) {
        for part in &node.listeners {
            match part.class() {
                Class::ResultSaver => self.save(part, sample),
                _ if collects(&part.element) => self.world.plan.sink.collect(&part.element, sample),
                class if script::is_script(class) => script::listen(part, sample, self),
                _ => {}
            }
        }
    }

    /// Saves the body of a sample to a file of its own.
    fn save(&mut self, part: &Part, sample: &SampleResult) {
        let says = |thread: &mut Self, name: &str| {
            thread.property_text(&part.element, name).trim().eq_ignore_ascii_case("true")
        };
        let skipped = says(self, "FileSaver.errorsonly") && sample.is_success
            || says(self, "FileSaver.successonly") && !sample.is_success;
        if skipped {
            return;
        }
        let mut path = self.property_text(&part.element, "FileSaver.filename");
        if !says(self, "FileSaver.skipautonumber") {
            let mut counters = lock(&self.world.counters);
            let number = counters.entry(part.number).or_default();
            *number += 1;
            path.push_str(&number.to_string());
        }
        if !says(self, "FileSaver.skipsuffix") {
            let kind = sample.content_type.split(';').next().unwrap_or_default().trim();
            let suffix = kind.rsplit_once('/').map_or("unknown", |(_, suffix)| suffix);
            path.push_str(&format!(".{suffix}"));
        }
        let variable = self.property_text(&part.element, "FileSaver.variablename");
        if !variable.is_empty() {
            self.put(&variable, path.clone());
        }
        if !self.world.plan.disk.write(&path, &sample.body, Writing::Replace) {
            self.write_log(
                LogLevel::Error,
                "o.a.j.r.ResultSaver",
                &format!("Error saving to file {path}"),
            );
        }
    }
}
