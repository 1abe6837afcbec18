//! `Program`: a plan made ready: controllers and samplers by number, each with what is in its scope.

use std::sync::Arc;

use jmx::{Class, Element, PlanFile, Properties, Role, Scope, Text, module_target};

use super::find::fragment;
use super::group::{Group, GroupKind};
use super::node::{Child, ControllerNode, Part, Round, SamplerNode};
use super::property::{flag, text};

/// Reads the plan of an Include controller: its path as written; `None` where there is none, or it is no plan.
pub type Include<'a> = &'a dyn Fn(&str) -> Option<PlanFile>;

/// A plan made ready.
#[derive(Debug)]
pub struct Program {
    /// The plan's name.
    pub name: String,
    /// Its thread groups, in their order.
    pub groups: Vec<Group>,
    /// Groups run one after the other.
    pub serializes: bool,
    /// Groups for the end run although the test was stopped.
    pub tears_down_when_stopped: bool,
    /// Variables that each thread has at its start.
    pub variables: Vec<(String, String)>,
    /// Elements of the whole plan that settings of the run are made of, such as name servers.
    pub configs: Vec<Arc<Element>>,
    /// Listeners that have a file or print something.
    pub listeners: Vec<Arc<Element>>,
    /// Cookie and cache managers, each once: what threads keep for them may be forgotten.
    pub(crate) managers: Vec<Part>,
    pub(crate) controllers: Vec<ControllerNode>,
    pub(crate) samplers: Vec<SamplerNode>,
}

/// Why a plan cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// There is no test plan in it.
    #[error("there is no test plan in it")]
    NoPlan,
    /// A Module controller names what is not there.
    #[error(
        "{path}: ModuleController has no selected Controller (did you rename some element in the path to target controller?)"
    )]
    NoModule {
        /// Where it stands.
        path: String,
    },
    /// Modules or included plans stand in one another without end.
    #[error("{path}: controllers stand in one another too deep: a module that contains itself?")]
    TooDeep {
        /// Where.
        path: String,
    },
    /// Modules make more of the plan than can be kept.
    #[error(
        "the plan has more than {NODES_MAX} controllers and samplers, those of modules counted each time"
    )]
    TooMany,
}

/// Controllers stand in one another so deep at most.
const DEPTH_MAX: usize = 300;
/// Controllers and samplers of a plan at most.
const NODES_MAX: usize = 500_000;

impl Program {
    /// Makes a plan ready. The scope has the properties of the test; the plan's variables are set in it.
    ///
    /// # Errors
    /// It refers to what is not there, or to itself.
    pub fn compile(
        file: &PlanFile,
        scope: &mut dyn Scope,
        include: Include<'_>,
    ) -> Result<Self, CompileError> {
        let is_plan = |element: &&Element| element.class == Class::TestPlan;
        let plan = file.elements.iter().find(is_plan).ok_or(CompileError::NoPlan)?;
        let variables = variables(plan, scope);
        for (name, value) in &variables {
            scope.set_variable(name, value.clone());
        }
        let mut builder = Builder::new(file, include, scope);
        let groups = builder.groups(plan)?;
        let Builder { controllers, samplers, configs, listeners, scope, .. } = builder;
        let managers = managers(&samplers);
        Ok(Self {
            name: plan.name.evaluate(scope),
            groups,
            serializes: flag(&plan.properties, "TestPlan.serialize_threadgroups", scope)
                == Some(true),
            tears_down_when_stopped: flag(&plan.properties, "TestPlan.tearDown_on_shutdown", scope)
                == Some(true),
            variables,
            configs,
            listeners,
            managers,
            controllers,
            samplers,
        })
    }

    /// How many virtual users run the threads of all groups.
    #[must_use]
    pub fn users(&self) -> u64 {
        self.groups.iter().map(|group| group.threads).sum()
    }

    /// The thread of a user's number, from 0: its group and its place in that.
    pub(crate) fn thread_of(&self, number: u64) -> Option<(usize, u64)> {
        let mut left = number;
        for (at, group) in self.groups.iter().enumerate() {
            if left < group.threads {
                return Some((at, left));
            }
            left -= group.threads;
        }
        None
    }

    /// Where samplers connect from, as the plan has it: their texts, each once.
    #[must_use]
    pub fn sources(&self) -> Vec<&Text> {
        let mut sources: Vec<&Text> = Vec::new();
        for sampler in &self.samplers {
            let own = sampler.part.element.properties.text("HTTPSampler.ipSource");
            let known = own.filter(|text| !text.written().is_empty() && !sources.contains(text));
            sources.extend(known);
        }
        sources
    }

    /// Whether a group of this kind is in the plan.
    pub(crate) fn groups_of(&self, kind: GroupKind) -> impl Iterator<Item = usize> {
        let all = self.groups.iter().enumerate();
        all.filter(move |(_, group)| group.kind == kind).map(|(at, _)| at)
    }
}

/// The variables of the plan, and then of all elements for variables, wherever they stand. Those of the plan cannot use each other;
/// elements can use those that stand before them.
fn variables(plan: &Element, scope: &mut dyn Scope) -> Vec<(String, String)> {
    let of_plan = plan.properties.inner("TestPlan.user_defined_variables");
    let mut all = of_plan.map_or_else(Vec::new, |own| arguments(own, scope));
    for (name, value) in &all {
        scope.set_variable(name, value.clone());
    }
    elements_for_variables(plan, scope, &mut all);
    all
}

fn elements_for_variables(
    element: &Element,
    scope: &mut dyn Scope,
    all: &mut Vec<(String, String)>,
) {
    for child in element.enabled() {
        if child.class == Class::Arguments {
            let own = arguments(&child.properties, scope);
            for (name, value) in &own {
                scope.set_variable(name, value.clone());
            }
            all.extend(own);
        }
        elements_for_variables(child, scope, all);
    }
}

fn arguments(properties: &Properties, scope: &mut dyn Scope) -> Vec<(String, String)> {
    let list: Vec<(String, String)> = properties
        .elements("Arguments.arguments")
        .map(|one| (text(one, "Argument.name", scope), text(one, "Argument.value", scope)))
        .collect();
    list.into_iter().filter(|(name, _)| !name.is_empty()).collect()
}

struct Builder<'a> {
    file: &'a PlanFile,
    include: Include<'a>,
    scope: &'a mut dyn Scope,
    controllers: Vec<ControllerNode>,
    samplers: Vec<SamplerNode>,
    configs: Vec<Arc<Element>>,
    listeners: Vec<Arc<Element>>,
    /// What stands on each level from the group down.
    levels: Vec<Vec<Part>>,
    /// The controllers from the group's loop down.
    path: Vec<usize>,
    parts: usize,
}

impl<'a> Builder<'a> {
    fn new(file: &'a PlanFile, include: Include<'a>, scope: &'a mut dyn Scope) -> Self {
        Self {
            file,
            include,
            scope,
            controllers: Vec::new(),
            samplers: Vec::new(),
            configs: Vec::new(),
            listeners: Vec::new(),
            levels: Vec::new(),
            path: Vec::new(),
            parts: 0,
        }
    }

    fn groups(&mut self, plan: &Element) -> Result<Vec<Group>, CompileError> {
        let is_group = |element: &&Element| element.class.role() == Role::Group;
        let shared: Vec<&Element> = plan
            .enabled()
            .filter(|child| !is_group(child) && child.class != Class::TestFragment)
            .collect();
        plan.enabled().filter(is_group).map(|group| self.group(group, &shared)).collect()
    }

    /// A group: what stands below the plan stands in each of its groups, behind the group's own.
    fn group(&mut self, group: &Element, shared: &[&Element]) -> Result<Group, CompileError> {
        let children: Vec<&Element> = group.enabled().chain(shared.iter().copied()).collect();
        let root = self.controller(&main_controller(group), &children)?;
        Ok(Group::new(group, root, self.scope))
    }

    fn part(&mut self, element: &Element) -> Part {
        self.parts += 1;
        let bare = Element {
            class: element.class,
            name: element.name.clone(),
            path: Arc::clone(&element.path),
            is_enabled: true,
            properties: element.properties.clone(),
            children: Vec::new(),
        };
        Part { number: self.parts, element: Arc::new(bare) }
    }

    /// What stands on a level beside its controllers and samplers.
    fn level(&mut self, children: &[&Element]) -> Vec<Part> {
        let beside = children.iter().filter(|child| {
            !matches!(
                child.class.role(),
                Role::Controller | Role::Sampler | Role::Group | Role::Plan
            )
        });
        let parts: Vec<Part> = beside.map(|child| self.part(child)).collect();
        let known = parts.iter().filter(|part| part.class() == Class::DnsCacheManager);
        self.configs.extend(known.map(|part| Arc::clone(&part.element)));
        for part in parts.iter().filter(|part| collects(&part.element)) {
            if self.listeners.iter().all(|known| **known != *part.element) {
                self.listeners.push(Arc::clone(&part.element));
            }
        }
        parts
    }

    fn controller(
        &mut self,
        element: &Element,
        children: &[&Element],
    ) -> Result<usize, CompileError> {
        if self.path.len() > DEPTH_MAX {
            return Err(CompileError::TooDeep { path: element.path.to_string() });
        }
        if self.controllers.len() + self.samplers.len() >= NODES_MAX {
            return Err(CompileError::TooMany);
        }
        let number = self.controllers.len();
        let part = self.part(element);
        let (children_of, rounds, assertions) = (Vec::new(), Vec::new(), Vec::new());
        self.controllers.push(ControllerNode { part, children: children_of, rounds, assertions });
        self.path.push(number);
        let level = self.level(children);
        self.add_rounds(number, &level);
        self.levels.push(level);
        self.controllers[number].assertions = self.outermost(Role::Assertion);
        for child in children {
            self.child(number, child)?;
        }
        self.levels.pop();
        self.path.pop();
        self.controllers[number].rounds.reverse();
        Ok(number)
    }

    fn add_rounds(&mut self, controller: usize, level: &[Part]) {
        let begun = level.iter().filter(|part| {
            matches!(
                part.class(),
                Class::CsvDataSet
                    | Class::CounterConfig
                    | Class::RandomVariable
                    | Class::UserParameters
            )
        });
        self.controllers[controller].rounds.extend(begun.cloned().map(Round::Config));
    }

    fn child(&mut self, controller: usize, child: &Element) -> Result<(), CompileError> {
        let below: Vec<&Element> = child.enabled().collect();
        let found = match child.class.role() {
            Role::Controller if child.class == Class::TestFragment => return Ok(()),
            Role::Controller => self.inner_controller(child, &below)?.map(Child::Controller),
            Role::Sampler => Some(Child::Sampler(self.sampler(child, &below))),
            _ => None,
        };
        if let Some(Child::Controller(inner)) = found {
            let class = self.controllers[inner].part.class();
            if matches!(class, Class::OnceOnlyController | Class::ThroughputController) {
                self.controllers[controller].rounds.push(Round::Controller(inner));
            }
        }
        self.controllers[controller].children.extend(found);
        Ok(())
    }

    fn inner_controller(
        &mut self,
        element: &Element,
        below: &[&Element],
    ) -> Result<Option<usize>, CompileError> {
        match element.class {
            Class::ModuleController => self.module(element).map(Some),
            Class::IncludeController => self.included(element),
            _ => self.controller(element, below).map(Some),
        }
    }

    /// The controller that a module names stands in its place, though it be disabled where it is.
    fn module(&mut self, element: &Element) -> Result<usize, CompileError> {
        let file = self.file;
        let target = module_target(&file.elements, element)
            .ok_or_else(|| CompileError::NoModule { path: element.path.to_string() })?;
        let below: Vec<&Element> = target.enabled().collect();
        let shell = Element { children: Vec::new(), ..element.clone() };
        let number = self.controller(&shell, &[])?;
        self.path.push(number);
        let inner = match target.class {
            Class::TestFragment => self.controller(&as_simple(target), &below),
            _ => self.controller(target, &below),
        };
        self.path.pop();
        let inner = inner?;
        self.controllers[number].children.push(Child::Controller(inner));
        Ok(number)
    }

    /// What an included plan's fragment has, and nothing where there is no such plan.
    fn included(&mut self, element: &Element) -> Result<Option<usize>, CompileError> {
        let path = text(&element.properties, "IncludeController.includepath", self.scope);
        let Some(plan) = (self.include)(&path) else { return Ok(None) };
        let Some(found) = fragment(&plan.elements) else { return Ok(None) };
        let below: Vec<&Element> = found.enabled().collect();
        self.path.push(self.controllers.len());
        let made = self.controller(&as_simple(found), &below);
        self.path.pop();
        made.map(Some)
    }

    fn sampler(&mut self, element: &Element, below: &[&Element]) -> usize {
        let level = self.level(below);
        if let Some(controller) = self.path.last().copied() {
            self.add_rounds(controller, &level);
        }
        self.levels.push(level);
        let node = SamplerNode {
            part: self.part(element),
            configs: self.innermost(Role::Config),
            before: self.outermost(Role::PreProcessor),
            timers: self.innermost(Role::Timer),
            after: self.outermost(Role::PostProcessor),
            assertions: self.outermost(Role::Assertion),
            listeners: self.innermost(Role::Listener),
            controllers: self.path.clone(),
        };
        self.levels.pop();
        self.samplers.push(node);
        self.samplers.len() - 1
    }

    fn innermost(&self, role: Role) -> Vec<Part> {
        let levels = self.levels.iter().rev().flatten();
        levels.filter(|part| part.class().role() == role).cloned().collect()
    }

    fn outermost(&self, role: Role) -> Vec<Part> {
        let levels = self.levels.iter().flatten();
        levels.filter(|part| part.class().role() == role).cloned().collect()
    }
}

/// The managers in the scopes of samplers whose memory ends with an iteration, each once.
fn managers(samplers: &[SamplerNode]) -> Vec<Part> {
    let all = samplers.iter().flat_map(|sampler| &sampler.configs);
    let kinds = [Class::CookieManager, Class::CacheManager];
    let mut known = std::collections::HashSet::new();
    all.filter(|part| kinds.contains(&part.class()) && known.insert(part.number)).cloned().collect()
}

/// The loop of a group, as an element of its own: a thread of an arrival goes round once, one of a group by time as often as the plan says, or for ever.
fn main_controller(group: &Element) -> Element {
    const LOOPS: &str = "LoopController.loops";
    let own = match group.class {
        Class::OpenModelThreadGroup => {
            Properties::of_texts(&[(LOOPS, "1"), ("LoopController.continue_forever", "false")])
        }
        Class::ConcurrencyThreadGroup => Properties::of_texts(&[(LOOPS, "-1")]),
        // Of a plan that has none for it the time ends a thread.
        Class::UltimateThreadGroup => {
            let own = group.properties.inner("ThreadGroup.main_controller").cloned();
            own.unwrap_or_else(|| Properties::of_texts(&[(LOOPS, "-1")]))
        }
        _ => group.properties.inner("ThreadGroup.main_controller").cloned().unwrap_or_default(),
    };
    let named = own.text("TestElement.name").is_some();
    let name = if named { group.name.clone() } else { Text::default() };
    Element {
        class: Class::LoopController,
        name,
        path: Arc::clone(&group.path),
        is_enabled: true,
        properties: own,
        children: Vec::new(),
    }
}

/// Whether a listener has a file, or prints something.
pub(crate) fn collects(element: &Element) -> bool {
    match element.class {
        Class::Summariser => true,
        Class::ResultCollector => !element.properties.written("filename").is_empty(),
        _ => false,
    }
}

/// A fragment does what a simple controller does.
fn as_simple(fragment: &Element) -> Element {
    Element { class: Class::GenericController, children: Vec::new(), ..fragment.clone() }
}
