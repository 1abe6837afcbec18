//! `Exporter`: one output: its encoder, its interval, and the delivery of what it makes.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::delivery::{Delivered, Delivery, Transport, Warn};
use crate::encode::{Encode, Flush};
use crate::error::OutputError;
use crate::sample::Sample;

/// One output of a run.
pub struct Exporter {
    name: String,
    encode: Box<dyn Encode>,
    delivery: Delivery,
    every: Duration,
    due: Instant,
}

impl Exporter {
    pub(crate) fn start(
        name: &str,
        encode: Box<dyn Encode>,
        (transport, every): (Box<dyn Transport>, Duration),
        warn: Warn,
    ) -> Result<Self, OutputError> {
        let delivery = Delivery::start(name, transport, warn)?;
        Ok(Self { name: name.to_owned(), encode, delivery, every, due: Instant::now() + every })
    }

    /// Takes a sample.
    pub fn add(&mut self, sample: &Sample<'_>) {
        self.encode.add(sample);
        if self.encode.is_full() {
            self.flush(false);
        }
    }

    /// Sends what is due. To be called a few times a second, also while there are no samples.
    pub fn poll(&mut self) {
        let now = Instant::now();
        if now < self.due {
            return;
        }
        // An interval that was missed is not made up for.
        self.due = now + self.every;
        self.flush(false);
    }

    fn flush(&mut self, is_last: bool) {
        let unix_ns = unix_ns();
        let payloads = self.encode.payloads(Flush { unix_ns, is_last });
        payloads.into_iter().for_each(|payload| self.delivery.push(payload));
    }

    /// Sends the rest, and waits up to ten seconds and an answer until the server has all.
    #[must_use]
    pub fn finish(self) -> Delivered {
        let delivered = Self::finish_all(vec![self]);
        delivered.into_iter().next().expect("there is one of each exporter")
    }

    /// The same of several, which send at the same time.
    #[must_use]
    pub fn finish_all(mut all: Vec<Self>) -> Vec<Delivered> {
        for exporter in &mut all {
            exporter.flush(true);
            exporter.delivery.end();
        }
        let finish = |it: Self| it.delivery.finish(it.name, it.encode.refused());
        all.into_iter().map(finish).collect()
    }
}

pub(crate) fn unix_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
