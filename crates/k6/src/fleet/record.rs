//! `PartRecord`: what an agent says of its part of a script, once a second and at its end.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use metrics::tally::{MetricId, Tally};
use script::{Control, Exception, GroupTallies, Instance, VuStats};
use serde::{Deserialize, Serialize};
use stdx::Nanos;

/// The most that a record may take on its way, beside rows and the generator's own.
const RECORD_MAX: usize = 256 << 10;
/// The most that one may hold once it is inflated: of each agent one is there.
const INFLATED_MAX: usize = 8 << 20;

/// What an agent says of its part of a script.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct PartRecord {
    /// Its metrics so far, without the gauges of VUs.
    pub(super) tally: Tally,
    /// The same of scenarios and groups, at the end.
    parts: Vec<((String, String), Tally)>,
    /// The metrics of scenarios and groups were too many to travel.
    pub(super) lost_parts: bool,
    /// VUs: initialized, active.
    vus: (u64, u64),
    /// Iterations: completed, interrupted.
    iterations: (u64, u64),
    samples_dropped: u64,
    /// The first exception: its text, its stack, and whether a promise was rejected.
    exception: Option<(String, String, bool)>,
    /// Why the test is to end, or failed: `exec.test.abort`, VUs that cannot be made, `exec.test.fail`.
    pub(super) aborted: Option<String>,
    pub(super) broken: Option<String>,
    pub(super) failed: Option<String>,
    /// How long the scenarios took, at the end.
    pub(super) elapsed: Nanos,
}

impl PartRecord {
    /// The part while it goes on.
    pub(super) fn live(tally: Tally, control: &Control) -> Self {
        let seen = control.instance();
        let record = Self {
            tally,
            vus: (seen.initialized, seen.active),
            iterations: (seen.completed, seen.interrupted),
            aborted: control.aborted(),
            broken: control.broken(),
            failed: control.failed(),
            ..Self::default()
        };
        record.without_gauges()
    }

    /// The part at its end.
    pub(super) fn last(stats: VuStats, control: &Control, elapsed: Nanos) -> Self {
        let VuStats { tally, parts, iterations, interrupted, exception, samples_dropped, .. } =
            stats;
        let exception = exception.map(|thrown| (thrown.text, thrown.stack, thrown.in_promise));
        Self {
            parts: parts.into_iter().collect(),
            iterations: (iterations, interrupted),
            vus: (control.instance().initialized, 0),
            samples_dropped,
            exception,
            elapsed,
            ..Self::live(tally, control)
        }
    }

    /// How many VUs there are is a sum over agents, which only the coordinator can see.
    fn without_gauges(mut self) -> Self {
        self.tally.forget(MetricId::VUS);
        self.tally.forget(MetricId::VUS_MAX);
        self
    }

    /// What the VUs of the part did.
    pub(super) fn stats(&self) -> VuStats {
        let exception = self.exception.clone();
        let exception = exception.map(|(text, stack, in_promise)| Exception {
            text,
            stack,
            in_promise,
            out_of_memory: false,
        });
        VuStats {
            tally: self.tally.clone(),
            parts: self.parts.iter().cloned().collect::<GroupTallies>(),
            iterations: self.iterations.0,
            interrupted: self.iterations.1,
            returned: None,
            exception,
            samples_dropped: self.samples_dropped,
        }
    }

    /// The counts of its VUs and iterations.
    pub(super) fn instance(&self) -> Instance {
        Instance {
            completed: self.iterations.0,
            interrupted: self.iterations.1,
            active: self.vus.1,
            initialized: self.vus.0,
            ..Instance::default()
        }
    }

    /// The bytes that travel. Metrics of scenarios and groups are left out where they are too many.
    pub(super) fn encode(&mut self) -> Vec<u8> {
        let (inflated_len, bytes) = self.deflated();
        let fits = bytes.len() <= RECORD_MAX && inflated_len <= INFLATED_MAX;
        if fits || self.parts.is_empty() {
            return bytes;
        }
        (self.parts, self.lost_parts) = (Vec::new(), true);
        self.deflated().1
    }

    /// The bytes that travel, and how many they are when inflated.
    fn deflated(&self) -> (usize, Vec<u8>) {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        // Numbers and texts have a form, and writing to memory cannot fail.
        let bytes = postcard::to_allocvec(self).unwrap_or_default();
        let deflated = encoder.write_all(&bytes).and_then(|()| encoder.finish());
        (bytes.len(), deflated.unwrap_or_default())
    }

    /// Reads a record; `None` where the bytes are none.
    pub(super) fn decode(deflated: &[u8]) -> Option<Self> {
        let mut bytes = Vec::new();
        DeflateDecoder::new(deflated).take(INFLATED_MAX as u64).read_to_end(&mut bytes).ok()?;
        postcard::from_bytes(&bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use workload::Segment;

    use super::*;

    #[test]
    fn a_record_arrives_as_it_was_but_for_gauges() {
        let control = Control::new(&[], &Segment::default());
        control.halt(script::AbortReason::Fail("slow".to_owned()));
        let mut tally = Tally::default();
        tally.add(MetricId::HTTP_REQ_DURATION, 12.5, &());
        tally.add(MetricId::VUS, 3.0, &());
        let part = (("s".to_owned(), "::g".to_owned()), tally.clone());
        let exception = Exception {
            text: "e".into(),
            stack: "at f".into(),
            in_promise: true,
            out_of_memory: false,
        };
        let stats = VuStats {
            tally: tally.clone(),
            parts: [part].into_iter().collect(),
            iterations: 7,
            interrupted: 1,
            exception: Some(exception),
            ..VuStats::default()
        };
        let mut record = PartRecord::last(stats.clone(), &control, Nanos(9));
        let back = PartRecord::decode(&record.encode()).unwrap();
        tally.forget(MetricId::VUS);
        assert_eq!(back.stats(), VuStats { tally, ..stats });
        assert_eq!((back.failed.as_deref(), back.elapsed), (Some("slow"), Nanos(9)));
        assert!(PartRecord::decode(b"no record").is_none());
    }

    #[test]
    fn parts_that_are_too_many_are_left_out() {
        let mut stats = VuStats::default();
        for group in 0..3000 {
            let mut tally = Tally::default();
            let id = MetricId::HTTP_REQ_DURATION;
            (0..50_u32).for_each(|n| tally.add(id, f64::from(n * (group + 7)).sqrt(), &()));
            stats.parts.insert(("s".to_owned(), format!("::{group}")), tally);
        }
        let control = Control::new(&[], &Segment::default());
        let mut record = PartRecord::last(stats, &control, Nanos(1));
        assert!(record.encode().len() <= RECORD_MAX && record.lost_parts);
    }
}
