//! Columns in memory: the values of one column of a record batch, and which of them are null.

use std::sync::Arc;

/// One bit a row, the lowest first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bitmap {
    pub(super) bits: Vec<u8>,
    pub(super) len: usize,
}

impl Bitmap {
    /// `len` equal bits.
    pub(super) fn filled(value: bool, len: usize) -> Self {
        let mut bits = vec![if value { 0xff } else { 0 }; len.div_ceil(8)];
        if let Some(last) = bits.last_mut()
            && !len.is_multiple_of(8)
        {
            *last &= (1 << (len % 8)) - 1;
        }
        Self { bits, len }
    }

    /// The bit of a row; false beyond the end.
    pub(super) fn get(&self, row: usize) -> bool {
        row < self.len && self.bits[row / 8] >> (row % 8) & 1 == 1
    }

    /// How many bits are set.
    pub(super) fn ones(&self) -> usize {
        let whole: u32 = self.bits[..self.len / 8].iter().map(|byte| byte.count_ones()).sum();
        whole as usize + (self.len / 8 * 8..self.len).filter(|row| self.get(*row)).count()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = bool> + '_ {
        (0..self.len).map(|row| self.get(row))
    }
}

impl FromIterator<bool> for Bitmap {
    fn from_iter<I: IntoIterator<Item = bool>>(values: I) -> Self {
        let mut all = Self { bits: Vec::new(), len: 0 };
        for value in values {
            if all.len.is_multiple_of(8) {
                all.bits.push(0);
            }
            all.bits[all.len / 8] |= u8::from(value) << (all.len % 8);
            all.len += 1;
        }
        all
    }
}

/// Values of different lengths, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bytes {
    /// Where each value begins, and where the last one ends: one more than there are values, in ascending order.
    pub(super) offsets: Vec<usize>,
    pub(super) bytes: Vec<u8>,
}

impl Bytes {
    pub(super) fn new() -> Self {
        Self { offsets: vec![0], bytes: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    pub(super) fn push(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.offsets.push(self.bytes.len());
    }

    /// The value of a row; empty beyond the end.
    pub(super) fn get(&self, row: usize) -> &[u8] {
        match self.offsets.get(row..row + 2) {
            Some([start, end]) => &self.bytes[*start..*end],
            _ => &[],
        }
    }
}

/// The values of one column. A row that is null has any value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    UInt8(Vec<u8>),
    UInt16(Vec<u16>),
    UInt32(Vec<u32>),
    UInt64(Vec<u64>),
    /// Also a timestamp, in nanoseconds since 1970.
    Int64(Vec<i64>),
    Boolean(Bitmap),
    /// Binary, and texts, which are UTF-8.
    Bytes(Bytes),
    /// Texts by their place among different ones.
    Dictionary {
        keys: Vec<i32>,
        texts: Arc<Array>,
    },
    /// Of a type that no column of ours has.
    Unknown,
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Array {
    pub(super) values: Values,
    /// Set for every row that is not null; `None` where none is.
    pub(super) valid: Option<Bitmap>,
}

impl Array {
    /// A column without nulls.
    pub(super) const fn new(values: Values) -> Self {
        Self { values, valid: None }
    }

    /// A column of nulls: the values are zeros.
    pub(super) fn null(mut values: Values, rows: usize) -> Self {
        match &mut values {
            Values::UInt32(values) => values.fill(0),
            Values::UInt64(values) => values.fill(0),
            Values::Int64(values) => values.fill(0),
            Values::Boolean(values) => values.bits.fill(0),
            _ => {}
        }
        Self { values, valid: Some(Bitmap::filled(false, rows)) }
    }

    pub(super) fn is_valid(&self, row: usize) -> bool {
        self.valid.as_ref().is_none_or(|valid| valid.get(row))
    }

    pub(super) fn null_count(&self) -> usize {
        self.valid.as_ref().map_or(0, |valid| valid.len - valid.ones())
    }

    /// A row's bytes; empty where it is null or the column has none.
    pub(super) fn bytes(&self, row: usize) -> &[u8] {
        match &self.values {
            Values::Bytes(bytes) if self.is_valid(row) => bytes.get(row),
            _ => &[],
        }
    }

    /// A row's text; empty where it is null, the column has none, or it is not UTF-8.
    pub(super) fn text(&self, row: usize) -> &str {
        match &self.values {
            Values::Dictionary { keys, texts } if self.is_valid(row) => {
                let key = keys.get(row).and_then(|key| usize::try_from(*key).ok());
                key.map_or("", |key| texts.text(key))
            }
            _ => std::str::from_utf8(self.bytes(row)).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitmaps_keep_their_bits() {
        let values = [true, false, true, true, false, false, false, true, true, false];
        let bitmap: Bitmap = values.into_iter().collect();
        assert_eq!(bitmap.bits, [0b1000_1101, 1]);
        assert_eq!((bitmap.iter().collect::<Vec<_>>(), bitmap.ones()), (values.to_vec(), 5));
        assert!(!bitmap.get(10));
        assert_eq!(Bitmap::filled(true, 10), std::iter::repeat_n(true, 10).collect());
        assert_eq!(Bitmap::filled(true, 8).bits, [0xff]);
    }

    #[test]
    fn texts_are_found_by_row_and_by_key() {
        let mut bytes = Bytes::new();
        bytes.push(b"one");
        bytes.push(b"");
        bytes.push(b"\xff");
        let valid = Some([false, true, true].into_iter().collect());
        let texts = Array { values: Values::Bytes(bytes), valid: None };
        assert_eq!([0, 1, 2, 3].map(|row| texts.text(row)), ["one", "", "", ""]);
        let keys = Values::Dictionary { keys: vec![0, 0, -1], texts: Arc::new(texts) };
        let keyed = Array { values: keys, valid };
        assert_eq!([0, 1, 2, 3].map(|row| keyed.text(row)), ["", "one", "", ""]);
        assert_eq!(keyed.null_count(), 1);
    }
}
