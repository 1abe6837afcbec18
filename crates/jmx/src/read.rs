//! `read_plan`: the elements of a plan, and what in it is not understood.

use std::fmt;
use std::sync::Arc;

use roxmltree::Node;

use crate::class::{Class, Role};
use crate::document::{DocumentError, as_read, decode, elements, parse};
use crate::element::{Element, Properties, Property};
use crate::script::{Language, Script, ScriptProblem};
use crate::text::Text;

/// A plan as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanFile {
    /// What stands at the top: the plan, and fragments beside it.
    pub elements: Vec<Element>,
    /// How many elements take part and are understood.
    pub understood: usize,
    /// How many are disabled.
    pub disabled: usize,
    /// Scripts that are left out, with what of them is not understood.
    pub left_out: Vec<Problem>,
    /// Calls of functions with which JMeter runs nothing of a plan.
    pub wrong_calls: Vec<Problem>,
}

/// The treatment of scripts that are not understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownScripts {
    /// They are problems of the plan.
    #[default]
    Refused,
    /// Their elements are left out, and functions that they are arguments of are worth nothing.
    LeftOut,
}

/// Something in a plan that is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it stands: the names from the plan down to it.
    pub path: String,
    /// What is wrong.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.text)
    }
}

/// Problems that are kept at most; one more says that there are others.
const PROBLEMS_MAX: usize = 100;

/// Reads a plan; all that is not understood in it is reported at once.
///
/// # Errors
/// It is no plan at all.
pub fn read_plan(
    bytes: &[u8],
    unknown_scripts: UnknownScripts,
) -> Result<(PlanFile, Vec<Problem>), DocumentError> {
    let text = decode(bytes)?;
    let text = as_read(&text);
    let document = parse(&text)?;
    let mut reader = Reader { unknown_scripts, ..Reader::default() };
    let mut all = Vec::new();
    for tree in elements(document.root_element()) {
        all.extend(reader.tree(tree, ""));
    }
    let Reader { problems, left_out, wrong_calls, understood, disabled, .. } = reader;
    let file = PlanFile { elements: all, understood, disabled, left_out, wrong_calls };
    Ok((file, problems))
}

#[derive(Default)]
struct Reader {
    unknown_scripts: UnknownScripts,
    problems: Vec<Problem>,
    left_out: Vec<Problem>,
    wrong_calls: Vec<Problem>,
    understood: usize,
    disabled: usize,
    /// Disabled elements above the one that is read.
    disabled_above: u32,
}

impl Reader {
    fn report(&mut self, path: &str, text: String) {
        add(&mut self.problems, path, text);
    }

    /// The elements of a `hashTree`: each is followed by the tree of what stands below it.
    fn tree(&mut self, tree: Node<'_, '_>, path: &str) -> Vec<Element> {
        let nodes: Vec<Node<'_, '_>> = elements(tree).collect();
        let mut found = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            if node.has_tag_name("hashTree") {
                continue;
            }
            let below = nodes.get(at + 1).filter(|next| next.has_tag_name("hashTree"));
            found.extend(self.element(*node, below.copied(), path));
        }
        found
    }

    fn element(
        &mut self,
        node: Node<'_, '_>,
        below: Option<Node<'_, '_>>,
        above: &str,
    ) -> Option<Element> {
        let tag = node.tag_name().name();
        let name = node.attribute("testname").unwrap_or_default();
        let shown = stdx::cut_text(if name.is_empty() { tag } else { name }, 120);
        let path = if above.is_empty() { shown.to_string() } else { format!("{above} > {shown}") };
        let is_enabled = node.attribute("enabled").is_none_or(|value| value != "false");
        self.disabled += usize::from(!is_enabled);
        self.disabled_above += u32::from(!is_enabled);
        let counts = self.disabled_above == 0;
        let class = Class::of(tag);
        let properties = properties(node);
        let children = below.map_or_else(Vec::new, |tree| self.tree(tree, &path));
        self.disabled_above -= u32::from(!is_enabled);
        let Some(class) = class else {
            // Plugins' listeners write files of their own: results are ours.
            let listens = tag.ends_with("ResultCollector") || tag.ends_with("Visualizer");
            if counts && !listens {
                self.report(&path, format!("<{tag}> is not understood"));
            }
            return None;
        };
        let text = Text::parse(name);
        if counts {
            self.understood += 1;
            self.check_calls(&path, &text, &properties);
            let is_left_out = self.check_functions(&path, &properties, class);
            if is_left_out {
                return None;
            }
        }
        let path = Arc::from(path);
        Some(Element { class, name: text, path, is_enabled, properties, children })
    }

    /// Notes calls of functions that JMeter refuses, also in listeners.
    fn check_calls(&mut self, path: &str, name: &Text, properties: &Properties) {
        let mut wrong = name.wrong_calls();
        properties.visit_texts(&mut |text| wrong.extend(text.wrong_calls()));
        wrong.into_iter().for_each(|text| add(&mut self.wrong_calls, path, text));
    }

    /// Scripts that are not understood are named before the run. Says whether the element is left out because
    /// of its script.
    fn check_functions(&mut self, path: &str, properties: &Properties, class: Class) -> bool {
        if class.role() == Role::Listener {
            return false;
        }
        let mut problems = script_problems(properties, class);
        let has_own = !problems.is_empty();
        properties.visit_texts(&mut |text| {
            text.visit_scripts(&mut |language, script| problems.extend(refused(language, script)));
        });
        let leaves_out = self.unknown_scripts == UnknownScripts::LeftOut;
        let list = if leaves_out { &mut self.left_out } else { &mut self.problems };
        for problem in problems {
            add(list, path, format!("script: {problem}"));
        }
        leaves_out && has_own
    }
}

/// Adds a problem to a list, as far as that is not too long.
fn add(list: &mut Vec<Problem>, path: &str, text: String) {
    match list.len() {
        PROBLEMS_MAX => {
            let text = "more is not understood; the first hundred are listed".to_owned();
            list.push(Problem { path: String::new(), text });
        }
        more if more > PROBLEMS_MAX => {}
        _ => list.push(Problem { path: path.to_owned(), text }),
    }
}

/// What of an element's own script is not understood.
fn script_problems(properties: &Properties, class: Class) -> Vec<ScriptProblem> {
    let language = script_language(class, properties.written("scriptLanguage"));
    let Some(language) = language else { return Vec::new() };
    let is_file = !properties.written(script_property(class, "filename")).trim().is_empty();
    if is_file {
        return Vec::new();
    }
    refused(language, properties.written(script_property(class, "script")))
}

/// The problems for which a plan is not run. What BeanShell cannot read fails when it runs, as JMeter has it.
fn refused(language: Language, script: &str) -> Vec<ScriptProblem> {
    let mut problems = Script::check(language, script);
    if language == Language::BeanShell {
        problems.retain(|problem| {
            !matches!(problem, ScriptProblem::Syntax { .. } | ScriptProblem::Open { .. })
        });
    }
    problems
}

/// The language of an element that is a script; `None` of another, and of a language that is not known.
#[must_use]
pub fn script_language(class: Class, written: &str) -> Option<Language> {
    if class.is_beanshell() {
        return Some(Language::BeanShell);
    }
    let written = if written.trim().is_empty() { "groovy" } else { written };
    class.is_jsr223().then(|| Language::of(written)).flatten()
}

/// The name of a script's property in a class: `script`, `filename`, `parameters`.
#[must_use]
pub fn script_property(class: Class, name: &'static str) -> &'static str {
    match (class, name) {
        (Class::BeanShellSampler, "script") => "BeanShellSampler.query",
        (Class::BeanShellSampler, "filename") => "BeanShellSampler.filename",
        (Class::BeanShellSampler, "parameters") => "BeanShellSampler.parameters",
        (Class::BeanShellAssertion, "script") => "BeanShellAssertion.query",
        (Class::BeanShellAssertion, "filename") => "BeanShellAssertion.filename",
        (Class::BeanShellAssertion, "parameters") => "BeanShellAssertion.parameters",
        (_, name) => name,
    }
}

/// The properties of an element.
fn properties(node: Node<'_, '_>) -> Properties {
    let values = elements(node)
        .filter_map(|child| Some((property_name(child).to_owned(), property(child)?)));
    Properties(values.collect())
}

/// The name of a property: an attribute, an element in it as numbers of beans have it, or its tag.
fn property_name<'a>(node: Node<'a, '_>) -> &'a str {
    let inner = || {
        let holds = matches!(node.tag_name().name(), "doubleProp" | "FloatProperty" | "objProp");
        let name = elements(node).find(|child| holds && child.has_tag_name("name"));
        name.and_then(|name| name.text())
    };
    node.attribute("name").or_else(inner).unwrap_or_else(|| node.tag_name().name())
}

/// The properties of an element in another, its name among them, where it has one.
fn named_properties(node: Node<'_, '_>) -> Properties {
    let Properties(mut all) = properties(node);
    if let Some(name) = node.attribute("testname") {
        all.push(("TestElement.name".to_owned(), Property::Text(Text::parse(name))));
    }
    Properties(all)
}

fn property(node: Node<'_, '_>) -> Option<Property> {
    let text = || node.text().unwrap_or_default();
    Some(match node.tag_name().name() {
        // JMeter reads a truth value before it looks for references.
        "boolProp" => Property::Text(Text::constant(text())),
        "stringProp" | "intProp" | "longProp" | "floatProp" => Property::Text(Text::parse(text())),
        "collectionProp" | "mapProp" => {
            Property::List(elements(node).filter_map(property).collect())
        }
        "elementProp" | "testelementProp" => Property::Element(named_properties(node)),
        "objProp" => Property::Element(properties(node)),
        "doubleProp" | "FloatProperty" => {
            let value = elements(node).find(|child| child.has_tag_name("value"));
            Property::Text(Text::parse(value.and_then(|value| value.text()).unwrap_or_default()))
        }
        // Leaves of an `objProp`: `<value class="..."><time>true</time>`.
        _ if elements(node).next().is_none() => Property::Text(Text::parse(text())),
        _ => Property::Element(properties(node)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"<?xml version="1.0"?><jmeterTestPlan version="1.2"><hashTree>
      <TestPlan testname="Plan"/><hashTree>
        <ThreadGroup testname="Users"><intProp name="ThreadGroup.num_threads">3</intProp></ThreadGroup><hashTree>
          <HTTPSamplerProxy testname="/a"><elementProp name="HTTPsampler.Arguments" elementType="Arguments">
            <collectionProp name="Arguments.arguments"><elementProp name="x" elementType="HTTPArgument">
              <stringProp name="Argument.value">1</stringProp></elementProp></collectionProp></elementProp></HTTPSamplerProxy><hashTree/>
          <kg.Foo testname="plugin" enabled="false"/><hashTree><kg.Bar testname="below"/></hashTree>
          ELEMENT
        </hashTree></hashTree></hashTree></jmeterTestPlan>"#;

    fn read(element: &str) -> (PlanFile, Vec<String>) {
        let text = PLAN.replace("ELEMENT", element);
        let (plan, problems) = read_plan(text.as_bytes(), UnknownScripts::Refused).expect("a plan");
        (plan, problems.iter().map(Problem::to_string).collect())
    }

    #[test]
    fn elements_have_properties_and_children() {
        let (plan, problems) = read("");
        assert_eq!(problems, [""; 0]);
        assert_eq!((plan.understood, plan.disabled), (3, 1));
        let group = &plan.elements[0].children[0];
        assert_eq!(
            (group.class, group.properties.written("ThreadGroup.num_threads")),
            (Class::ThreadGroup, "3")
        );
        let sampler = &group.children[0];
        assert_eq!(&*sampler.path, "Plan > Users > /a");
        let arguments = sampler.properties.inner("HTTPsampler.Arguments").expect("arguments");
        let values: Vec<&str> = arguments
            .elements("Arguments.arguments")
            .map(|argument| argument.written("Argument.value"))
            .collect();
        assert_eq!(values, ["1"]);
    }

    #[test]
    fn what_is_not_understood_has_its_place() {
        let (_, problems) = read(r#"<java.lang.Runtime testname="run"/><hashTree/>"#);
        assert_eq!(problems, ["Plan > Users > run: <java.lang.Runtime> is not understood"]);
        let timer = r#"<ConstantTimer testname="t"><stringProp name="ConstantTimer.delay">${__groovy(new File("x"))}${__V(${__BeanShell(Foo.a())})}</stringProp></ConstantTimer><hashTree/>"#;
        let (_, problems) = read(timer);
        assert_eq!(
            problems,
            [
                "Plan > Users > t: script: line 1: the class File is not supported: scripts reach no files, processes or networks",
                "Plan > Users > t: script: line 1: the class Foo is not supported"
            ]
        );
        let script = r#"<JSR223PreProcessor testname="p"><stringProp name="script">1
Acme.go()</stringProp><stringProp name="scriptLanguage">groovy</stringProp></JSR223PreProcessor><hashTree/>"#;
        assert_eq!(
            read(script).1,
            ["Plan > Users > p: script: line 2: the class Acme is not supported"]
        );
        let text = PLAN.replace("ELEMENT", &format!("{script}<hashTree/>{timer}"));
        let (plan, problems) = read_plan(text.as_bytes(), UnknownScripts::LeftOut).expect("a plan");
        assert_eq!((problems.len(), plan.left_out.len()), (0, 3));
        let group = &plan.elements[0].children[0];
        let names: Vec<&str> = group.children.iter().map(|one| one.name.written()).collect();
        assert_eq!(names, ["/a", "t"]);
        let timer = timer.replace("BeanShell(Foo.a())", "UUID(1)").replace("new File(\"x\")", "1");
        let (plan, problems) =
            read_plan(PLAN.replace("ELEMENT", &timer).as_bytes(), UnknownScripts::Refused)
                .expect("a plan");
        assert_eq!(problems, []);
        let wrong: Vec<String> = plan.wrong_calls.iter().map(Problem::to_string).collect();
        assert_eq!(
            wrong,
            ["Plan > Users > t: function __UUID called with wrong number of arguments: 1, not 0"]
        );
        let many = r#"<a.B testname="x"/><hashTree/>"#.repeat(500);
        assert_eq!(read(&many).1.len(), PROBLEMS_MAX + 1);
    }
}
