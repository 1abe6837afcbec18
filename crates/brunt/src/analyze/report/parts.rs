//! What each of several results says of the server by itself: each is read once more, alone. Those that cannot be read twice, as pipes,
//! have no parts.

use std::fs;

use cli::Interrupts;
use metrics::{Batch, Selector, Summary, Timeline, Verdict};
use recordings::Generators;
use report::{Input, Part, part_of};
use results::{Item, ReadError, Reader, Selection};

/// The most parts that a report has sentences of: more are read as one.
const PARTS_MAX: usize = 12;

/// The parts of these inputs; none of a single one, of very many, and where one is no file. What is wrong with a file was said when all of
/// them were read.
pub(super) fn read(inputs: &[String], selector: &Selector, interrupts: &Interrupts) -> Vec<Part> {
    let is_file = |path: &String| fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    if inputs.len() < 2 || inputs.len() > PARTS_MAX || !inputs.iter().all(is_file) {
        return Vec::new();
    }
    inputs.iter().filter_map(|input| read_one(input, selector, interrupts)).collect()
}

/// `None` where it has no requests.
fn read_one(name: &String, selector: &Selector, interrupts: &Interrupts) -> Option<Part> {
    let opened = cli::open_results(std::slice::from_ref(name), interrupts, cli::INTERRUPT_GRACE);
    let mut reader = Reader::open(opened.ok()?).ok()?;
    let mut seen = Observation::default();
    let read = seen.read(&mut reader, Selection::of(selector));
    let mut losses = reader.losses().to_vec();
    losses.extend(read.err().map(|error| error.to_string()));
    let generator = seen.generators.merged();
    let verdict = Verdict::new(&seen.whole, generator.as_ref(), &losses);
    let summary = seen.part.as_ref().unwrap_or(&seen.whole);
    (summary.requests > 0).then(|| {
        part_of(
            name,
            &Input {
                title: name,
                summary,
                verdict: &verdict,
                generator: generator.as_ref(),
                losses: &losses,
                groups: None,
                by_target: None,
                attacked: None,
                timeline: Some(&seen.timeline),
                traffic: None,
                buckets: None,
                server: None,
                selected: &selector.to_string(),
                parts: &[],
                assertions: &[],
            },
        )
    })
}

/// What was read of one.
struct Observation {
    whole: Summary,
    /// The requests that are selected, where not all are.
    part: Option<Summary>,
    timeline: Timeline,
    generators: Generators,
}

impl Default for Observation {
    fn default() -> Self {
        let (whole, timeline) = (Summary::new(), Timeline::new());
        Self { whole, part: None, timeline, generators: Generators::default() }
    }
}

impl Observation {
    fn read(
        &mut self,
        reader: &mut Reader,
        mut selection: Option<Selection>,
    ) -> Result<(), ReadError> {
        let mut batch = Batch::default();
        self.part = selection.is_some().then(Summary::new);
        while let Some(item) = reader.next(&mut batch)? {
            match item {
                Item::Hits => {
                    self.whole.add(&batch);
                    if let (Some(part), Some(selection)) = (&mut self.part, &mut selection) {
                        selection.retain(&mut batch, reader.targets());
                        part.add(&batch);
                    }
                    self.timeline.add(&batch);
                }
                Item::Generator { input, generator } => self.generators.note(input, *generator),
                Item::Server(_) | Item::Assertion { .. } => {}
            }
        }
        Ok(())
    }
}
