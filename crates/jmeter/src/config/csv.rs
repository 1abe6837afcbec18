//! CSV data sets: a line of a file a round, in variables.

use std::sync::Arc;

use jmx::Scope as _;

use super::data_file::{DataFile, Options};
use crate::plan::node::Part;
use crate::thread::scope::Thread;
use crate::world::{Base, LogLevel, lock};

/// Java's word for the end of a file.
const END: &str = "<EOF>";
/// Sets the variables of the next line; false where the thread ends with the file.
pub(crate) fn next_line(part: &Part, thread: &mut Thread) -> bool {
    let options = options(part, thread);
    let world = Arc::clone(&thread.world);
    let mut files = lock(&world.files);
    let key = options.key();
    if !files.contains_key(&key) {
        let Some(bytes) = world.plan.disk.read(&options.path, Base::Plan) else {
            let text = format!(
                "Error in iterationStart: File {} must exist and be readable",
                options.path
            );
            thread.write_log(LogLevel::Error, "o.a.j.t.JMeterThread", &text);
            return false;
        };
        match DataFile::new(&bytes, &options) {
            Ok(file) => drop(files.insert(key.clone(), file)),
            Err(lack) => {
                let text = format!("Error in iterationStart: File {}: {lack}", options.path);
                thread.write_log(LogLevel::Error, "o.a.j.t.JMeterThread", &text);
                return false;
            }
        }
    }
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
