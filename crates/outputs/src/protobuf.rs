//! Protocol Buffers, as far as outputs write them. <https://protobuf.dev/programming-guides/encoding/>

/// A message that is being written.
#[derive(Default)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value as u8) | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn key(&mut self, field: u32, wire_type: u64) {
        self.varint(u64::from(field) << 3 | wire_type);
    }

    /// `uint64`, `int64` and enums.
    pub(crate) fn uint(&mut self, field: u32, value: u64) {
        self.key(field, 0);
        self.varint(value);
    }

    /// `sint32` and `sint64`.
    pub(crate) fn sint(&mut self, field: u32, value: i64) {
        self.uint(field, zigzag(value));
    }

    /// `fixed64` and `sfixed64`.
    pub(crate) fn fixed(&mut self, field: u32, value: u64) {
        self.key(field, 1);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn double(&mut self, field: u32, value: f64) {
        self.fixed(field, value.to_bits());
    }

    pub(crate) fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.key(field, 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn text(&mut self, field: u32, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    /// A message inside this one.
    pub(crate) fn message(&mut self, field: u32, write: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        write(&mut inner);
        self.bytes(field, &inner.0);
    }

    /// Packed `uint64`.
    pub(crate) fn packed_uint(&mut self, field: u32, values: impl Iterator<Item = u64>) {
        let mut inner = Self::default();
        values.for_each(|value| inner.varint(value));
        self.bytes(field, &inner.0);
    }

    /// Packed `sint64`.
    pub(crate) fn packed_sint(&mut self, field: u32, values: impl Iterator<Item = i64>) {
        self.packed_uint(field, values.map(zigzag));
    }

    /// Packed `fixed64` and `double`.
    pub(crate) fn packed_fixed(&mut self, field: u32, values: impl Iterator<Item = u64>) {
        let bytes: Vec<u8> = values.flat_map(u64::to_le_bytes).collect();
        self.bytes(field, &bytes);
    }
}

/// Small numbers of either sign become small numbers.
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_guide() {
        let mut message = Message::default();
        // The guide's examples: `a: 150`, `b: "testing"`, a message of them, and a packed field.
        message.uint(1, 150);
        message.text(2, "testing");
        message.message(3, |inner| inner.uint(1, 150));
        message.packed_uint(6, [3, 270, 86_942].into_iter());
        message.sint(1, -2);
        let expect = [
            &[0x08, 0x96, 0x01, 0x12, 0x07][..],
            b"testing",
            &[0x1a, 0x03, 0x08, 0x96, 0x01],
            &[0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05],
            &[0x08, 0x03],
        ];
        assert_eq!(message.into_bytes(), expect.concat());
    }
}
