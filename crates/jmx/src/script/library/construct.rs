//! `new`: the objects that scripts may make.

use super::arguments::Arguments;
use super::{calendar, classes, closures, instant, number, random};
use crate::script::run::{Machine, Outcome, throw};
use crate::script::value::{List, ListKind, Map, Object, Thrown, Value};

/// A new object of a class.
pub(crate) fn construct(
    machine: &mut Machine<'_>,
    class: &'static str,
    arguments: &[Value],
) -> Outcome<Value> {
    let call = Arguments(arguments);
    if classes::is_exception(class) {
        return Ok(exception(class, call));
    }
    Ok(match class {
        "Object" | "JsonSlurper" | "JsonSlurperClassic" | "JsonOutput" | "Locale" => {
            Value::object(Object::Plain(class))
        }
        "String" => text(machine, call)?,
        "StringBuilder" | "StringBuffer" => {
            let text = match call.get(0) {
                Value::Int(_) => String::new(),
                _ => call.text(0),
            };
            machine.allot(text.len())?;
            Value::object(Object::Builder(text.into()))
        }
        "Integer" | "Long" | "Double" | "Float" | "BigDecimal" | "BigInteger" | "Boolean"
        | "Short" => wrapped(machine, class, call)?,
        "ArrayList"
        | "LinkedList"
        | "Vector"
        | "Stack"
        | "ArrayDeque"
        | "CopyOnWriteArrayList"
        | "ConcurrentLinkedQueue"
        | "LinkedBlockingQueue"
        | "ConcurrentLinkedDeque" => collection(machine, ListKind::List, call)?,
        "HashSet" | "LinkedHashSet" => collection(machine, ListKind::Set, call)?,
        "TreeSet" | "TreeMap" => sorted(machine, class, call)?,
        "HashMap" | "LinkedHashMap" | "ConcurrentHashMap" | "Hashtable" | "Properties" => {
            match call.get(0) {
                Value::Map(map) => {
                    machine.allot(map.len() * 4 * size_of::<Value>())?;
                    Value::Map(Map::new(map.rows()))
                }
                _ => Value::Map(Map::default()),
            }
        }
        "Random" | "SecureRandom" => random::new(call),
        "AtomicInteger" | "AtomicLong" => Value::object(Object::Counter(call.long(0).into())),
        "Date" => instant::new_date(machine, call)?,
        "GregorianCalendar" => calendar::now(machine),
        "SimpleDateFormat" => Value::object(Object::DateFormat(call.text(0), None.into())),
        "SecretKeySpec" => match call.get(0) {
            Value::Bytes(bytes) => Value::object(Object::Key(bytes)),
            other => Value::object(Object::Key(other.to_string().into_bytes().into())),
        },
        "JsonBuilder" => Value::object(Object::Json(call.get(0).into())),
        "Header" | "HTTPArgument" | "Argument" | "Cookie" => {
            Value::object(Object::Pair(class, call.text(0).into(), call.text(1).into()))
        }
        "Pattern" => {
            Value::object(Object::Pattern(format!("{}/{}", call.text(1), call.text(0)).into()))
        }
        _ => {
            return Err(throw(
                "GroovyRuntimeException",
                format!("Could not find matching constructor for: {}", classes::full_name(class)),
            ));
        }
    })
}

/// A set or a map in the order of what it begins with.
fn sorted(machine: &mut Machine<'_>, class: &str, call: Arguments<'_>) -> Outcome<Value> {
    let Value::Map(map) = call.get(0) else {
        if class == "TreeMap" {
            return Ok(Value::Map(Map::default()));
        }
        let set = collection(machine, ListKind::Set, call)?;
        let items = super::iterable(machine, &set)?;
        let items = closures::order(machine, items.clone(), items)?;
        return Ok(Value::List(List::new(ListKind::Set, items)));
    };
    machine.allot(map.len() * 4 * size_of::<Value>())?;
    let keys = closures::order(machine, map.keys(), map.keys())?;
    let row = |key: Value| map.get(&key).map(|value| (key, value));
    Ok(Value::Map(Map::new(keys.into_iter().filter_map(row))))
}

fn exception(class: &'static str, call: Arguments<'_>) -> Value {
    let message = (!call.get(0).is_null()).then(|| call.text(0).into());
    Value::object(Object::Thrown(Thrown { class, message }))
}

fn text(machine: &mut Machine<'_>, call: Arguments<'_>) -> Outcome<Value> {
    match call.get(0) {
        Value::Null => Ok("".into()),
        Value::Bytes(bytes) => machine.text(super::digest::decoded(&bytes, &call.text(1))),
        Value::List(list) => {
            let letters: String = list.items().iter().map(Value::to_string).collect();
            machine.text(letters)
        }
        other => machine.text(other.to_string()),
    }
}

fn wrapped(machine: &mut Machine<'_>, class: &'static str, call: Arguments<'_>) -> Outcome<Value> {
    let value = call.get(0);
    match class {
        "BigDecimal" | "BigInteger" if value.is_number() => {
            Ok(value.as_decimal().map_or(Value::Null, Value::decimal))
        }
        "BigDecimal" | "BigInteger" => number::parse_decimal(&value.to_string()),
        _ => super::statics::method(machine, class, "valueOf", call).map(Option::unwrap_or_default),
    }
}

fn collection(machine: &mut Machine<'_>, kind: ListKind, call: Arguments<'_>) -> Outcome<Value> {
    let items = match call.get(0) {
        value if value.is_number() => Vec::new(),
        value => super::iterable(machine, &value)?,
    };
    let list = List::new(kind, Vec::new());
    machine.add_items(&list, items)?;
    Ok(Value::List(list))
}
