//! CSV data sets: a line of a file a round, in variables.

use std::sync::Arc;

use jmx::Scope as _;

use super::data_file::{DataFault, DataFile, DataText, Options};
use crate::plan::node::Part;
use crate::thread::scope::Thread;
use crate::world::{Base, LogLevel, World, lock};

/// Java's word for the end of a file.
const END: &str = "<EOF>";
/// Sets the variables of the next line; false where the thread ends with the file.
pub(crate) fn next_line(part: &Part, thread: &mut Thread) -> bool {
    let options = options(part, thread);
    let world = Arc::clone(&thread.world);
    let key = options.key();
    let is_open = lock(&world.files).contains_key(&key);
    if !is_open {
        match text(&world, &options) {
            Ok(text) => {
                let file = DataFile::new(text, &options);
                lock(&world.files).entry(key.clone()).or_insert(file);
            }
            Err(why) => {
                let text = format!("Error in iterationStart: File {} {why}", options.path);
                thread.write_log(LogLevel::Error, "o.a.j.t.JMeterThread", &text);
                return false;
            }
        }
    }
    let mut files = lock(&world.files);
    let Some(file) = files.get_mut(&key) else { return false };
    let fields = file.fields(&options);
    let names = file.names_for(&options);
    drop(files);
    match fields {
        None if options.stops => {
            let text = format!(
                "End of file:{} detected for CSV DataSet:{} configured with stopThread:true, recycle:{}",
                options.path,
                part.element.name.written(),
                options.recycles
            );
            thread.write_log(LogLevel::Info, "o.a.j.t.JMeterThread", &text);
            false
        }
        None => {
            names.iter().for_each(|name| thread.set_variable(name, END.to_owned()));
            true
        }
        Some(fields) => {
            for (name, value) in names.iter().zip(fields) {
                thread.set_variable(name, value);
            }
            true
        }
    }
}

/// The text of a file: all that read it, each from its own place, have one copy. No reader of another file waits for the disk.
fn text(world: &World, options: &Options) -> Result<Arc<DataText>, DataFault> {
    let key = (options.path.clone(), options.encoding.clone());
    if let Some(text) = lock(&world.texts).get(&key) {
        return Ok(Arc::clone(text));
    }
    let bytes = world.plan.disk.read(&options.path, Base::Plan).ok_or(DataFault::Unreadable)?;
    let text = Arc::new(DataText::new(&bytes, &options.encoding)?);
    Ok(Arc::clone(lock(&world.texts).entry(key).or_insert(text)))
}

/// Reads how a data set is read.
fn options(part: &Part, thread: &mut Thread) -> Options {
    let mut word = |name: &str| thread.property_text(&part.element, name);
    let share = word("shareMode");
    let delimiter = word("delimiter");
    let mut says = |name: &str, absent: bool| match word(name).trim() {
        "" => absent,
        text => text.eq_ignore_ascii_case("true"),
    };
    let (ignores_first, is_quoted) = (says("ignoreFirstLine", false), says("quotedData", false));
    let (recycles, stops) = (says("recycle", true), says("stopThread", false));
    let (path, names, encoding) = (word("filename"), word("variableNames"), word("fileEncoding"));
    let (share, delimiter) = (share_of(&share, thread), delimiter_of(&delimiter));
    Options { path, names, ignores_first, delimiter, is_quoted, recycles, stops, encoding, share }
}

/// Who reads a file together, by the share mode.
fn share_of(mode: &str, thread: &Thread) -> String {
    match mode {
        "shareMode.all" | "" => String::new(),
        "shareMode.group" => format!("group {}", thread.group),
        "shareMode.thread" => format!("thread {} {}", thread.group, thread.number),
        name => format!("name {name}"),
    }
}

fn delimiter_of(written: &str) -> String {
    match written {
        "\\t" => "\t".to_owned(),
        "" => ",".to_owned(),
        other => other.to_owned(),
    }
}
