//! JSON read into values: the rows of an object in their order, decimals with the digits that they are written with.

use crate::script::value::{Decimal, Map, Value};

/// The value of a text that is known to be JSON.
pub(super) fn read(text: &str) -> Value {
    Reader { rest: text }.value()
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Value {
        match self.next() {
            Some('{') => self.map(),
            Some('[') => self.list(),
            Some('"') => self.text().into(),
            Some('t') => self.word("true", Value::Truth(true)),
            Some('f') => self.word("false", Value::Truth(false)),
            Some('n') => self.word("null", Value::Null),
            _ => self.number(),
        }
    }

    /// The next letter that is no blank.
    fn next(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Takes a sign where it is next.
    fn eat(&mut self, sign: char) -> bool {
        self.next();
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (part, rest) = self.rest.split_at(length);
        self.rest = rest;
        part
    }

    fn word(&mut self, word: &str, value: Value) -> Value {
        self.take(word.len().min(self.rest.len()));
        value
    }

    fn map(&mut self) -> Value {
        self.eat('{');
        let map = Map::default();
        while self.next() == Some('"') {
            let key = self.text();
            self.eat(':');
            map.put(key.into(), self.value());
            self.eat(',');
        }
        self.eat('}');
        Value::Map(map)
    }

    fn list(&mut self) -> Value {
        self.eat('[');
        let mut items = Vec::new();
        while !matches!(self.next(), Some(']') | None) {
            items.push(self.value());
            self.eat(',');
        }
        self.eat(']');
        Value::list(items)
    }

    fn text(&mut self) -> String {
        let mut is_escaped = false;
        let end = self.rest.bytes().skip(1).position(|byte| {
            let ends = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            ends
        });
        let quoted = self.take(end.map_or(self.rest.len(), |end| end + 2));
        serde_json::from_str(quoted).unwrap_or_default()
    }

    fn number(&mut self) -> Value {
        let is_part = |letter: char| letter.is_ascii_digit() || "+-.eE".contains(letter);
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let first = self.rest.chars().next().map_or(0, char::len_utf8);
        let digits = self.take(end.max(first));
        if let Ok(number) = digits.parse() {
            return Value::whole(number);
        }
        let decimal = Decimal::parse(digits).map(Value::decimal);
        decimal.unwrap_or_else(|| Value::Double(digits.parse().unwrap_or(f64::NAN)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::library::json_text;

    #[test]
    fn order_and_digits_stay() {
        for text in [
            r#"{"z":1,"a":{"y":[],"b":{}},"m":[1,2.50,-3,"x\"\\\n\u00e9"]}"#,
            r#"[true,false,null,"",0.00001,12345678901]"#,
            r#""a""#,
            "1.10",
        ] {
            assert_eq!(json_text(&read(text)), text);
        }
        assert_eq!(json_text(&read(" { \"a\" : [ 1e2 , 1.5E1 ] } ")), r#"{"a":[100,15]}"#);
        assert_eq!(json_text(&read(r#"{"a":1,"a":2}"#)), r#"{"a":2}"#);
    }
}
