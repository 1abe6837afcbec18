//! `Lines`: lines of text, packed into payloads of a bounded size.

/// Payloads that are sent without waiting for the interval.
const PAYLOADS_FULL: usize = 40;

/// Lines that wait to be sent.
#[derive(Default)]
pub(crate) struct Lines {
    payloads: Vec<Vec<u8>>,
    bytes: usize,
}

impl Lines {
    /// Adds a line to the last payload, or to a new one where that would be longer than `payload_max` bytes. A longer line has one
    /// of its own.
    pub(crate) fn push(&mut self, line: &str, payload_max: usize) {
        let line = line.as_bytes();
        match self.payloads.last_mut() {
            Some(last) if last.len() + 1 + line.len() <= payload_max => {
                last.push(b'\n');
                last.extend_from_slice(line);
            }
            _ => self.payloads.push(line.to_vec()),
        }
        self.bytes += line.len() + 1;
    }

    /// Takes all payloads.
    pub(crate) fn take(&mut self) -> Vec<Vec<u8>> {
        self.bytes = 0;
        std::mem::take(&mut self.payloads)
    }

    /// Whether they should not wait for the interval: there are this many bytes of them, or many payloads.
    pub(crate) fn is_full(&self, bytes: usize) -> bool {
        self.bytes >= bytes || self.payloads.len() > PAYLOADS_FULL
    }
}
