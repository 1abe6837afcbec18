//! Configuration that sets variables: data sets, counters, random variables, user parameters.

pub(crate) mod counter;
pub(crate) mod csv;
pub(crate) mod data_file;
pub(crate) mod parameters;
pub(crate) mod random_variable;

use jmx::Class;

use crate::plan::node::Part;
use crate::thread::scope::Thread;

/// A round begins an element anew; false ends the thread.
pub(crate) fn begin_round(part: &Part, thread: &mut Thread) -> bool {
    match part.class() {
        Class::CsvDataSet => return csv::next_line(part, thread),
        Class::CounterConfig => counter::count(part, thread),
        Class::RandomVariable => random_variable::draw(part, thread),
        Class::UserParameters => parameters::begin_round(part, thread),
        _ => {}
    }
    true
}
