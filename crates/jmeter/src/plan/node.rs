//! `ControllerNode` and `SamplerNode`: a controller with its children, a sampler with what is in its scope.

use std::sync::Arc;

use jmx::{Class, Element};

/// An element that takes part, known by its number: what threads keep for it is kept by that.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) number: usize,
    pub(crate) element: Arc<Element>,
}

impl Part {
    pub(crate) fn class(&self) -> Class {
        self.element.class
    }
}

/// A child of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Child {
    Controller(usize),
    Sampler(usize),
}

/// A controller, or the loop of a thread group.
#[derive(Debug)]
pub(crate) struct ControllerNode {
    pub(crate) part: Part,
    pub(crate) children: Vec<Child>,
    /// What is begun anew when the controller begins a round, in the order of asking: the last of the plan first.
    pub(crate) rounds: Vec<Round>,
    /// What judges the sample of a transaction.
    pub(crate) assertions: Vec<Part>,
}

/// Something that a round of a controller begins anew.
#[derive(Clone, Debug)]
pub(crate) enum Round {
    /// A data set, a counter or the like sets its variables.
    Config(Part),
    /// A Once Only or a Throughput controller looks whether it runs.
    Controller(usize),
}

/// A sampler with all that is in its scope.
#[derive(Debug)]
pub(crate) struct SamplerNode {
    pub(crate) part: Part,
    /// Configuration, the nearest first.
    pub(crate) configs: Vec<Part>,
    /// Pre-processors, the outermost first.
    pub(crate) before: Vec<Part>,
    pub(crate) timers: Vec<Part>,
    /// Post-processors, the outermost first.
    pub(crate) after: Vec<Part>,
    pub(crate) assertions: Vec<Part>,
    /// Listeners that have an effect of their own.
    pub(crate) listeners: Vec<Part>,
    /// The controllers around it, the outermost, its group's loop, first.
    pub(crate) controllers: Vec<usize>,
}

impl SamplerNode {
    /// The configuration of one class, the nearest first.
    pub(crate) fn configs_of(&self, class: Class) -> impl Iterator<Item = &Part> {
        self.configs.iter().filter(move |part| part.class() == class)
    }
}
