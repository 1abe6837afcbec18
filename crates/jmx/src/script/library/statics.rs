//! The methods of classes themselves: `Integer.parseInt`, `UUID.randomUUID`, `System.currentTimeMillis`.

use std::sync::Arc;

use super::arguments::Arguments;
use super::{
    calendar, digest, host, instant, json, math, number, pattern, random, text, text_format,
};
use crate::functions::encode::{url_decode, url_encode};
use crate::script::context::Host;
use crate::script::run::{Machine, Outcome, throw};
use crate::script::value::{List, ListKind, Map, Object, Value};

/// A method of a class.
pub(super) fn method(
    machine: &mut Machine<'_>,
    class: &'static str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    match class {
        _ if call.len() == 0 && name == "getSimpleName" => Ok(Some(class.into())),
        "Math" | "StrictMath" => Ok(math::function(machine, name, call)),
        "Integer" | "Long" | "Double" | "Float" | "Short" | "Byte" | "Number" | "BigDecimal"
        | "Boolean" => of_number(machine, class, name, call),
        "String" | "Character" | "StringUtils" | "Objects" | "StringEscapeUtils" => {
            of_text(machine, class, name, call)
        }
        "System" | "Thread" | "TimeUnit" => of_system(machine, class, name, call),
        "UUID" | "ThreadLocalRandom" | "RandomStringUtils" | "RandomUtils" => {
            random::statics(machine, class, name, call)
        }
        "Arrays" | "Collections" | "List" | "Set" | "Map" => {
            of_collections(machine, class, name, call)
        }
        "Base64" | "MessageDigest" | "Mac" | "DigestUtils" | "Hex" | "Charset" => {
            digest::statics(machine, class, name, call)
        }
        "URLEncoder" if name == "encode" => machine.text(url_encode(&call.text(0))).map(Some),
        "URLDecoder" if name == "decode" => machine.text(url_decode(&call.text(0))).map(Some),
        "JsonOutput" | "JSON" => json::statics(machine, name, call),
        "Pattern" | "Matcher" => pattern::statics(name, call),
        "Calendar" | "TimeZone" | "ZoneId" | "ZoneOffset" | "DateFormat" => {
            calendar::statics(machine, class, name, call)
        }
        "LocalDate" | "LocalDateTime" | "LocalTime" | "Instant" | "ZonedDateTime"
        | "OffsetDateTime" | "Duration" | "ChronoUnit" | "DateTimeFormatter" | "Date" => {
            instant::statics(machine, class, name, call)
        }
        "Class" | "Object" => Ok(None),
        _ => of_jmeter(machine, class, name, call),
    }
}

fn of_number(
    machine: &mut Machine<'_>,
    class: &str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let first = call.get(0);
    Ok(Some(match (class, name, &first) {
        (_, "toString", _) if call.len() == 2 => {
            machine.text(number::in_radix(call.long(0), call.long(1)))?
        }
        (_, "toString", _) => machine.text(first.to_string())?,
        ("Boolean", "parseBoolean" | "valueOf", _) => {
            call.text(0).eq_ignore_ascii_case("true").into()
        }
        (_, "toHexString", Value::Int(number)) => machine.text(format!("{number:x}"))?,
        (_, "toHexString", _) => machine.text(format!("{:x}", call.long(0)))?,
        (_, "toBinaryString", Value::Int(number)) => machine.text(format!("{number:b}"))?,
        (_, "compare", _) => Value::Int(first.order(&call.get(1)).map_or(0, |order| order as i32)),
        (_, "max" | "min" | "abs", _) => return Ok(math::function(machine, name, call)),
        (_, "sum", _) => Value::whole(call.long(0).wrapping_add(call.long(1))),
        (_, "isNaN", _) => call.double(0).is_nan().into(),
        ("Double", "isFinite", _) => call.double(0).is_finite().into(),
        (
            _,
            "parseInt" | "parseLong" | "parseDouble" | "parseFloat" | "valueOf" | "decode"
            | "parseShort",
            _,
        ) => parsed(class, &first, call)?,
        _ => return Ok(None),
    }))
}

fn parsed(class: &str, first: &Value, call: Arguments<'_>) -> Outcome<Value> {
    if first.is_null() {
        let message = if matches!(class, "Double" | "Float") {
            "null"
        } else {
            "Cannot parse null string: null"
        };
        return Err(throw("NumberFormatException", message));
    }
    let text = first.to_string();
    match (class, call.len()) {
        ("Integer" | "Long", 2) => {
            let radix = u32::try_from(call.long(1)).ok().filter(|radix| (2..=36).contains(radix));
            let number = i64::from_str_radix(&text, radix.unwrap_or(10));
            let number = number.map_err(|_| {
                throw("NumberFormatException", format!("For input string: \"{text}\""))
            })?;
            Ok(if class == "Integer" { Value::Int(number as i32) } else { Value::Long(number) })
        }
        ("Integer" | "Short" | "Byte", _) => match first {
            number if number.is_number() => Ok(Value::Int(number.as_long().unwrap_or(0) as i32)),
            _ => number::parse_int(&text),
        },
        ("Long", _) => match first {
            number if number.is_number() => Ok(Value::Long(number.as_long().unwrap_or(0))),
            _ => number::parse_long(&text),
        },
        ("BigDecimal", _) => number::parse_decimal(&text),
        _ => number::parse_double(&text),
    }
}

fn of_text(
    machine: &mut Machine<'_>,
    class: &str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let first = call.text(0);
    let is_missing = call.get(0).is_null();
    Ok(Some(match (class, name) {
        ("String", "valueOf" | "copyValueOf")
        | ("Objects" | "Character", "toString" | "valueOf") => {
            // Java's own text of lists and maps, which Groovy has another for.
            let text = match call.get(0) {
                items @ (Value::List(_) | Value::Map(_)) => items.to_string(),
                other => machine.written(&other),
            };
            machine.text(text)?
        }
        ("String", "format") => {
            // A locale may stand before the format.
            let skip = usize::from(matches!(call.get(0), Value::Object(_) | Value::Class(_)));
            let values = call.all().get(skip + 1..).unwrap_or_default();
            machine.text(text_format::format(&call.text(skip), values)?)?
        }
        ("String" | "StringUtils", "join") => joined(machine, class, call)?,
        ("StringUtils", "isBlank") => (is_missing || first.trim().is_empty()).into(),
        ("StringUtils", "isNotBlank") => (!is_missing && !first.trim().is_empty()).into(),
        ("StringUtils", "isEmpty") => (is_missing || first.is_empty()).into(),
        ("StringUtils", "isNotEmpty") => (!is_missing && !first.is_empty()).into(),
        ("StringUtils", "isNumeric") => {
            (!first.is_empty() && first.chars().all(char::is_numeric)).into()
        }
        ("StringUtils", "substringBetween") => {
            let (open, close) =
                (call.text(1), if call.len() > 2 { call.text(2) } else { call.text(1) });
            let found = first.split_once(&open).and_then(|(_, rest)| rest.split_once(&close));
            found.map_or(Value::Null, |(found, _)| found.into())
        }
        ("StringUtils", "substringBefore") => {
            first.split(&call.text(1)).next().unwrap_or("").into()
        }
        ("StringUtils", "substringAfter") => {
            first.split_once(&call.text(1)).map_or("", |(_, rest)| rest).into()
        }
        ("StringUtils", "leftPad" | "rightPad") => {
            let method = if name == "leftPad" { "padLeft" } else { "padRight" };
            return text::method(machine, &first, method, Arguments(&call.all()[1..]));
        }
        ("StringUtils", _) if call.len() > 0 => {
            return text::method(machine, &first, name, Arguments(&call.all()[1..]));
        }
        ("Objects", "equals") => call.get(0).equals(&call.get(1)).into(),
        ("Objects", "isNull") => is_missing.into(),
        ("Objects", "nonNull") => (!is_missing).into(),
        ("Character", _) => return Ok(of_letter(&first, name)),
        _ => return Ok(None),
    }))
}

fn of_letter(text: &str, name: &str) -> Option<Value> {
    let letter = text.chars().next()?;
    Some(match name {
        "isDigit" => letter.is_numeric().into(),
        "isLetter" => letter.is_alphabetic().into(),
        "isLetterOrDigit" => letter.is_alphanumeric().into(),
        "isUpperCase" => letter.is_uppercase().into(),
        "isLowerCase" => letter.is_lowercase().into(),
        "isWhitespace" => letter.is_whitespace().into(),
        "toUpperCase" => letter.to_uppercase().next().map_or(Value::Null, Value::Letter),
        "toLowerCase" => letter.to_lowercase().next().map_or(Value::Null, Value::Letter),
        "getNumericValue" => Value::Int(letter.to_digit(36).map_or(-1, |digit| digit as i32)),
        _ => return None,
    })
}

/// `String.join(",", list)`, `StringUtils.join(list, ",")`.
fn joined(machine: &mut Machine<'_>, class: &str, call: Arguments<'_>) -> Outcome<Value> {
    let (separator, items) = match (class, call.get(0), call.get(1)) {
        ("StringUtils", list, separator) => (separator, super::iterable(machine, &list)?),
        (_, separator, Value::List(list)) => (separator, list.items()),
        (_, separator, _) => (separator, call.all()[1.min(call.len())..].to_vec()),
    };
    let items: Vec<String> = items.iter().map(Value::to_string).collect();
    machine.text(items.join(&separator.to_string()))
}

fn of_system(
    machine: &mut Machine<'_>,
    class: &str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    Ok(Some(match (class, name) {
        ("System", "currentTimeMillis") => Value::Long(machine.context.scope().unix_ms()),
        ("System", "nanoTime") => {
            Value::Long(machine.context.scope().unix_ms().wrapping_mul(1_000_000))
        }
        ("System", "getenv") if call.len() == 1 => {
            machine.context.environment(&call.text(0)).map_or(Value::Null, Value::from)
        }
        ("System", "getProperty") => {
            let found = match &*call.text(0) {
                "line.separator" => Some("\n".to_owned()),
                "file.separator" => Some("/".to_owned()),
                name => machine.context.scope().property(name),
            };
            found.map_or_else(|| call.get(1), Value::from)
        }
        ("System", "lineSeparator") => "\n".into(),
        ("System", "setProperty") => {
            let before = machine.context.scope().set_property(&call.text(0), call.text(1));
            before.map_or(Value::Null, Value::from)
        }
        ("Thread", "sleep") => {
            machine.context.sleep(u64::try_from(call.long(0)).unwrap_or(0));
            Value::Null
        }
        ("Thread", "currentThread") => Value::Host(Host::Thread),
        _ => return Ok(None),
    }))
}

fn of_collections(
    machine: &mut Machine<'_>,
    class: &str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let first = call.get(0);
    let kind = if class == "Set" { ListKind::Set } else { ListKind::List };
    Ok(Some(match (class, name, &first) {
        ("Arrays", "asList", Value::List(list)) if call.len() == 1 => machine.list(list.items())?,
        ("Arrays", "asList", _) | ("List" | "Set", "of" | "copyOf", _) => {
            let list = List::new(kind, Vec::new());
            let items = match (name, &first) {
                ("copyOf", _) => super::iterable(machine, &first)?,
                _ => call.all().to_vec(),
            };
            machine.add_items(&list, items)?;
            Value::List(list)
        }
        ("Arrays", "toString", _) => machine.text(first.to_string())?,
        (
            "Arrays" | "Collections",
            "sort" | "shuffle" | "swap" | "reverse" | "unmodifiableList" | "max" | "min" | "fill",
            Value::List(_),
        ) => {
            return of_list(machine, &first, name, call);
        }
        ("Arrays", "copyOfRange", Value::List(list)) => {
            let items = list.items();
            let part = items.get(call.place(1, items.len())?..call.place(2, items.len())?);
            Value::List(List::new(ListKind::Array, part.unwrap_or_default().to_vec()))
        }
        ("Arrays", "equals", _) => first.equals(&call.get(1)).into(),
        ("Collections", "emptyList" | "synchronizedList", _) => {
            if call.len() > 0 {
                first
            } else {
                Value::list(Vec::new())
            }
        }
        ("Collections", "emptyMap", _) => Value::Map(Map::default()),
        ("Collections", "singletonList", _) => Value::list(vec![first]),
        ("Collections", "nCopies", _) => {
            let count = usize::try_from(call.long(0)).unwrap_or(0);
            machine.allot(count.saturating_mul(size_of::<Value>()))?;
            Value::list(vec![call.get(1); count])
        }
        ("Map", "of", _) => {
            let rows = call
                .all()
                .chunks(2)
                .map(|row| (row[0].clone(), row.get(1).cloned().unwrap_or_default()));
            Value::Map(Map::new(rows))
        }
        ("Map", "entry", _) => Value::object(Object::Entry(first, call.get(1))),
        _ => return Ok(None),
    }))
}

/// Methods of `Collections` that are those of a list.
fn of_list(
    machine: &mut Machine<'_>,
    list: &Value,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let rest = &call.all()[1..];
    match (name, list) {
        ("reverse", Value::List(items)) => {
            items.lock().reverse();
            Ok(Some(Value::Null))
        }
        ("fill", Value::List(items)) => {
            items.lock().iter_mut().for_each(|item| *item = call.get(1));
            Ok(Some(Value::Null))
        }
        ("unmodifiableList", _) => Ok(Some(list.clone())),
        ("sort", _) => super::call_method(machine, list, name, rest).map(|_| Some(Value::Null)),
        _ => super::call_method(machine, list, name, rest).map(Some),
    }
}

fn of_jmeter(
    machine: &mut Machine<'_>,
    class: &str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    Ok(Some(match (class, name) {
        ("JMeterContextService", "getContext") => Value::Host(Host::Context),
        ("JMeterUtils", "getProperty" | "getPropDefault" | "getJMeterProperties") => {
            if call.len() == 0 {
                return Ok(Some(Value::Host(Host::Properties)));
            }
            let found = machine.context.scope().property(&call.text(0));
            found.map_or_else(|| call.get(1), Value::from)
        }
        ("JMeterUtils", "setProperty") => {
            let before = machine.context.scope().set_property(&call.text(0), call.text(1));
            before.map_or(Value::Null, Value::from)
        }
        ("FileServer", "getFileServer") => Value::object(Object::Plain("FileServer")),
        ("LoggerFactory", "getLogger") => Value::Host(Host::Log),
        ("Locale", "getDefault") => Value::object(Object::Plain("Locale")),
        ("Optional", "ofNullable" | "of") => call.get(0),
        ("StandardJMeterEngine", "stopThread" | "stopThreadNow") => {
            host::method(machine, Host::Thread, "stop", call)?.unwrap_or_default()
        }
        _ => return Ok(None),
    }))
}

/// A constant of a class: `Integer.MAX_VALUE`.
pub(super) fn constant(
    machine: &mut Machine<'_>,
    class: &'static str,
    name: &str,
) -> Option<Value> {
    Some(match (class, name) {
        (_, "class") => Value::Class(class),
        (_, "name" | "canonicalName") => super::full_name(class).into(),
        (_, "simpleName") => class.into(),
        ("Math", "PI") => Value::Double(std::f64::consts::PI),
        ("Math", "E") => Value::Double(std::f64::consts::E),
        ("Integer", "MAX_VALUE") => Value::Int(i32::MAX),
        ("Integer", "MIN_VALUE") => Value::Int(i32::MIN),
        ("Long", "MAX_VALUE") => Value::Long(i64::MAX),
        ("Long", "MIN_VALUE") => Value::Long(i64::MIN),
        ("Double", "MAX_VALUE") => Value::Double(f64::MAX),
        ("BigDecimal", "ZERO") => number::parse_decimal("0").ok()?,
        ("BigDecimal", "ONE") => number::parse_decimal("1").ok()?,
        ("Boolean", "TRUE") => Value::Truth(true),
        ("Boolean", "FALSE") => Value::Truth(false),
        ("String", "CASE_INSENSITIVE_ORDER") => return None,
        ("System", "out" | "err") => Value::Host(Host::Out),
        ("StringUtils", "EMPTY") => "".into(),
        ("StandardCharsets", "UTF_8") => "UTF-8".into(),
        ("StandardCharsets", "ISO_8859_1") => "ISO-8859-1".into(),
        ("StandardCharsets", "US_ASCII") => "US-ASCII".into(),
        ("StandardCharsets", "UTF_16") => "UTF-16".into(),
        ("Pattern", flag) => Value::Int(pattern::flag(flag)?),
        ("TimeUnit", unit) => Value::object(Object::Duration(instant::unit_ms(unit)?)),
        // Months and years have no length of their own.
        ("ChronoUnit", unit) => match instant::unit_ms(unit) {
            Some(ms) => Value::object(Object::Duration(ms)),
            None => Value::text(Arc::from(unit)),
        },
        ("RoundingMode", mode) => mode.into(),
        ("BigDecimal", mode) if mode.contains('_') => mode.into(),
        ("Locale", _) => Value::object(Object::Plain("Locale")),
        ("JsonParserType", _) => Value::Null,
        ("Calendar", field) => Value::Int(calendar::field_number(field)?),
        ("DateTimeFormatter" | "ZoneOffset" | "Instant" | "Duration", name) => {
            instant::constant(class, name)?
        }
        ("FileServer", "fileServer") => Value::object(Object::Plain("FileServer")),
        ("JMeterContextService", "context") => Value::Host(Host::Context),
        _ => {
            let getter = super::member::getter(name);
            method(machine, class, &getter, Arguments(&[])).ok()??
        }
    })
}
