//! Thread groups of plug-ins: Ultimate (a table of threads) and Concurrency (a number that is reached in steps and held).

use jmx::{Element, Property, Scope};

use super::property::text;
use super::start_plan::{StartPlan, THREADS_MAX};

/// Rows of a table at most.
const ROWS_MAX: usize = 10_000;

/// A row a part of the load: threads, initial delay, time to begin, time held, time to end, in seconds.
pub(crate) fn ultimate(element: &Element, scope: &mut dyn Scope) -> (u64, StartPlan) {
    let mut moments = Vec::new();
    for row in element.properties.list("ultimatethreadgroupdata").iter().take(ROWS_MAX) {
        let Property::List(cells) = row else { continue };
        let mut numbers = cells.iter().map(|cell| match cell {
            Property::Text(text) => text.evaluate(scope).trim().parse::<u64>().unwrap_or(0),
            _ => 0,
        });
        let mut next = || numbers.next().unwrap_or(0);
        let part = Part {
            threads: next(),
            delay_s: next(),
            begin_s: next(),
            hold_s: next(),
            end_s: next(),
        };
        part.add(&mut moments);
    }
    (moments.len() as u64, StartPlan::Moments(moments.into()))
}

struct Part {
    threads: u64,
    delay_s: u64,
    begin_s: u64,
    hold_s: u64,
    end_s: u64,
}

impl Part {
    /// The threads begin one after another, and end in the same way. The plug-in counts them down: the first begins and ends last.
    fn add(&self, moments: &mut Vec<(u64, Option<u64>)>) {
        let ms = |seconds: u64| seconds.saturating_mul(1000);
        let hold_until = ms(self.delay_s.saturating_add(self.begin_s).saturating_add(self.hold_s));
        let room = THREADS_MAX.saturating_sub(moments.len() as u64);
        for number in 0..self.threads.min(room) {
            let share = |time: u64| {
                let part = u128::from(self.threads - number);
                (u128::from(ms(time)) * part / u128::from(self.threads)) as u64
            };
            let start = ms(self.delay_s).saturating_add(share(self.begin_s));
            moments.push((start, Some(hold_until.saturating_add(share(self.end_s)))));
        }
    }
}

/// So many threads, reached in a time by steps, and held.
pub(crate) fn concurrency(element: &Element, scope: &mut dyn Scope) -> (u64, StartPlan) {
    let mut number = |name: &str| {
        text(&element.properties, name, scope).trim().parse::<f64>().unwrap_or(0.0).max(0.0)
    };
    let (threads, ramp, hold) = (number("TargetLevel"), number("RampUp"), number("Hold"));
    let steps = number("Steps");
    let unit_ms = if text(&element.properties, "Unit", scope) == "S" { 1000.0 } else { 60_000.0 };
    let threads = (threads as u64).min(THREADS_MAX);
    let end = ((ramp + hold) * unit_ms) as u64;
    let start = |index: u64| {
        let share = index as f64 / threads.max(1) as f64;
        let share = if steps >= 1.0 { (share * steps).floor() / steps } else { share };
        (share * ramp * unit_ms) as u64
    };
    let moments: Vec<(u64, Option<u64>)> =
        (0..threads).map(|index| (start(index), Some(end))).collect();
    (threads, StartPlan::Moments(moments.into()))
}

#[cfg(test)]
mod tests {
    use jmx::{MemoryScope, read_plan};

    use super::*;

    fn group(text: &str) -> Element {
        let text =
            format!("<jmeterTestPlan><hashTree>{text}<hashTree/></hashTree></jmeterTestPlan>");
        let (mut file, _) =
            read_plan(text.as_bytes(), jmx::UnknownScripts::Refused).expect("a plan");
        file.elements.remove(0)
    }

    #[test]
    fn tables_are_threads() {
        let row = "<collectionProp name=\"1\"><stringProp name=\"1\">2</stringProp><stringProp name=\"2\">1</stringProp>\
                   <stringProp name=\"3\">4</stringProp><stringProp name=\"4\">10</stringProp><stringProp name=\"5\">2</stringProp></collectionProp>";
        let element = group(&format!(
            "<kg.apc.jmeter.threads.UltimateThreadGroup testname=\"U\"><collectionProp name=\"ultimatethreadgroupdata\">{row}</collectionProp></kg.apc.jmeter.threads.UltimateThreadGroup>"
        ));
        let (threads, start) = ultimate(&element, &mut MemoryScope::default());
        assert_eq!(threads, 2);
        assert_eq!(start, StartPlan::Moments([(5000, Some(17_000)), (3000, Some(16_000))].into()));
    }

    #[test]
    fn levels_are_reached_in_steps() {
        let property =
            |name: &str, value: &str| format!("<stringProp name=\"{name}\">{value}</stringProp>");
        let inside =
            [("TargetLevel", "4"), ("RampUp", "8"), ("Steps", "2"), ("Hold", "10"), ("Unit", "S")];
        let inside: String = inside.iter().map(|(name, value)| property(name, value)).collect();
        let element = group(&format!(
            "<com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup testname=\"C\">{inside}</com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup>"
        ));
        let (threads, start) = concurrency(&element, &mut MemoryScope::default());
        let expect = [0, 0, 4000, 4000].map(|start| (start, Some(18_000)));
        assert_eq!((threads, start), (4, StartPlan::Moments(expect.into())));
    }
}
