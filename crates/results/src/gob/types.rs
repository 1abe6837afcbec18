//! The part of a gob stream that describes types, and reading of the primitives both parts are made of.

/// A description of a type that the stream defined itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// Elements all of one type; an array or a slice.
    Slice(i64),
    /// Keys and values.
    Map(i64, i64),
    /// Named fields with their types.
    Struct(Vec<(String, i64)>),
    /// Bytes with a meaning of their own, such as `time.Time`.
    Opaque,
}

pub(super) const BOOL: i64 = 1;
pub(super) const INT: i64 = 2;
pub(super) const UINT: i64 = 3;
pub(super) const FLOAT: i64 = 4;
pub(super) const BYTES: i64 = 5;
pub(super) const STRING: i64 = 6;
pub(super) const COMPLEX: i64 = 7;

/// Fields a struct may have; Vegeta's has 12.
const FIELDS_MAX: usize = 256;

/// The bytes are not what gob demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bad;

/// Reads from the front of a message.
pub(super) struct Cursor<'a> {
    pub(super) rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Bad> {
        let (&first, rest) = self.rest.split_first().ok_or(Bad)?;
        self.rest = rest;
        Ok(first)
    }

    #[inline]
    pub(super) fn take(&mut self, n: u64) -> Result<&'a [u8], Bad> {
        let n = usize::try_from(n).map_err(|_| Bad)?;
        let (taken, rest) = self.rest.split_at_checked(n).ok_or(Bad)?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    pub(super) fn uint(&mut self) -> Result<u64, Bad> {
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(u64::from(first));
        }
        let len = usize::from(first.wrapping_neg());
        if len > 8 {
            return Err(Bad);
        }
        // Mostly the message goes on for so long: one load, and no loop whose end is hard to predict.
        if let Some(word) = self.rest.first_chunk() {
            self.rest = &self.rest[len..];
            return Ok(u64::from_be_bytes(*word) >> (64 - 8 * len));
        }
        let bytes = self.take(len as u64)?;
        Ok(bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    #[inline]
    pub(super) fn int(&mut self) -> Result<i64, Bad> {
        let value = self.uint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    #[inline]
    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Bad> {
        let len = self.uint()?;
        self.take(len)
    }

    fn string(&mut self) -> Result<String, Bad> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    /// The fields of a struct: calls `field` with each number, until the closing 0.
    pub(super) fn fields(
        &mut self,
        mut field: impl FnMut(u64, &mut Self) -> Result<(), Bad>,
    ) -> Result<(), Bad> {
        let mut last = 0;
        while let Some(number) = self.field_after(last)? {
            last = number;
            field(number - 1, self)?;
        }
        Ok(())
    }

    /// The number of the field after this one, both counted from 1; `None` at the closing 0.
    #[inline]
    pub(super) fn field_after(&mut self, number: u64) -> Result<Option<u64>, Bad> {
        match self.uint()? {
            0 => Ok(None),
            delta => number.checked_add(delta).map(Some).ok_or(Bad),
        }
    }

    /// The description of a type (Go's `wireType`).
    pub(super) fn wire_type(&mut self) -> Result<Type, Bad> {
        let mut found = None;
        self.fields(|number, cursor| {
            found = Some(match number {
                0 => Type::Slice(cursor.parts()?.0),
                1 => Type::Slice(cursor.parts()?.0),
                2 => Type::Struct(cursor.struct_fields()?),
                3 => {
                    let (key, elem) = cursor.parts()?;
                    Type::Map(key, elem)
                }
                4..=6 => {
                    cursor.parts()?;
                    Type::Opaque
                }
                _ => return Err(Bad),
            });
            Ok(())
        })?;
        found.ok_or(Bad)
    }

    /// Field 0 is the type's common part (name and id); 1 and 2 are types (or a length, for an array).
    fn parts(&mut self) -> Result<(i64, i64), Bad> {
        let mut parts = (0, 0);
        self.fields(|number, cursor| {
            match number {
                0 => cursor.name_and_id().map(|_| ())?,
                1 => parts.0 = cursor.int()?,
                2 => parts.1 = cursor.int()?,
                _ => return Err(Bad),
            }
            Ok(())
        })?;
        Ok(parts)
    }

    fn struct_fields(&mut self) -> Result<Vec<(String, i64)>, Bad> {
        let mut fields = Vec::new();
        self.fields(|number, cursor| {
            if number == 0 {
                return cursor.name_and_id().map(|_| ());
            }
            let count = cursor.uint()? as usize;
            if number > 1 || count > FIELDS_MAX {
                return Err(Bad);
            }
            for _ in 0..count {
                fields.push(cursor.name_and_id()?);
            }
            Ok(())
        })?;
        Ok(fields)
    }

    fn name_and_id(&mut self) -> Result<(String, i64), Bad> {
        let mut pair = (String::new(), 0);
        self.fields(|number, cursor| {
            match number {
                0 => pair.0 = cursor.string()?,
                1 => pair.1 = cursor.int()?,
                _ => return Err(Bad),
            }
            Ok(())
        })?;
        Ok(pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_as_go_documents_them() {
        // From the documentation of encoding/gob: 256 is FE 01 00; -129 is FE 01 01.
        let cases: [(&[u8], u64); 4] = [
            (&[7], 7),
            (&[0xfe, 1, 0], 256),
            (&[0xff, 0x80], 128),
            (&[0xf8; 9], 0xf8f8_f8f8_f8f8_f8f8),
        ];
        for (bytes, value) in cases {
            assert_eq!(Cursor { rest: bytes }.uint(), Ok(value));
            // The same with more of the message behind it.
            let longer = [bytes, &[0xaa; 8]].concat();
            let mut cursor = Cursor { rest: &longer };
            assert_eq!(cursor.uint(), Ok(value));
            assert_eq!(cursor.rest, [0xaa; 8]);
        }
        assert_eq!(Cursor { rest: &[0xfe, 1, 1] }.int(), Ok(-129));
        for bytes in [&[][..], &[0xfe, 1], &[0xf7; 10], &[0xf8; 8], &[0x80], &[0x80; 10]] {
            assert_eq!(Cursor { rest: bytes }.uint(), Err(Bad), "{bytes:?}");
        }
    }
}
