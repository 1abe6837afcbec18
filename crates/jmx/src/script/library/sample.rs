//! Samples, samplers and assertions, as scripts have them.

use super::arguments::Arguments;
use super::host;
use crate::script::context::{Action, Field, Host};
use crate::script::run::{Machine, Outcome, throw};
use crate::script::value::{List, ListKind, Object, Value};

/// A method of a sample, the sampler or an assertion.
pub(super) fn method(
    machine: &mut Machine<'_>,
    of: Host,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    if let Some(value) = part(machine, of, name, call)? {
        return Ok(Some(value));
    }
    if let Some(action) = action(of, name, call) {
        return match machine.context.act(action) {
            true => Ok(Some(Value::Null)),
            false => Err(unsupported(of, name)),
        };
    }
    if let Some(value) = read_or_write(machine, of, name, call)? {
        return Ok(Some(value));
    }
    Ok(None)
}

fn unsupported(of: Host, name: &str) -> crate::script::run::Fault {
    throw("UnsupportedOperationException", format!("{}.{name}() is not supported here", of.class()))
}

/// The field of a getter or a setter, without its `get`, `is` or `set`.
fn field(of: Host, name: &str) -> Option<Field> {
    let is_sampler = of == Host::Sampler;
    Some(match name {
        "ResponseCode" => Field::Code,
        "ResponseMessage" => Field::Message,
        "SampleLabel" => Field::Label,
        "ResponseDataAsString" | "DataAsString" => Field::Text,
        "ResponseData" => Field::Bytes,
        "ResponseHeaders" => Field::ResponseHeaders,
        "RequestHeaders" => Field::RequestHeaders,
        "SamplerData" | "QueryString" if !is_sampler => Field::RequestData,
        "UrlAsString" | "URL" | "Url" => Field::Url,
        "Successful" | "ResponseCodeOK" | "SuccessfulSample" => Field::Success,
        "Time" => Field::ElapsedMs,
        "Latency" => Field::LatencyMs,
        "ConnectTime" => Field::ConnectMs,
        "StartTime" | "TimeStamp" => Field::BeginMs,
        "EndTime" => Field::EndMs,
        "BodySizeAsLong" | "BytesAsLong" | "Bytes" | "BodySize" => Field::BodyBytes,
        "SentBytes" => Field::SentBytes,
        "ContentType" | "MediaType" => Field::ContentType,
        "DataType" => Field::DataType,
        "DataEncoding" | "DataEncodingWithDefault" | "DataEncodingNoDefault" => Field::Encoding,
        "ThreadName" => Field::ThreadName,
        "Failure" | "Error" => Field::Failure,
        "FailureMessage" => Field::FailureMessage,
        "Name" => Field::Name,
        "Protocol" if is_sampler => Field::Protocol,
        "Domain" if is_sampler => Field::Domain,
        "Port" if is_sampler => Field::Port,
        "Path" if is_sampler => Field::Path,
        "Method" if is_sampler => Field::Method,
        _ => return None,
    })
}

fn read_or_write(
    machine: &mut Machine<'_>,
    of: Host,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let getter = name.strip_prefix("get").or_else(|| name.strip_prefix("is"));
    if let (Some(found), 0) = (getter.and_then(|name| field(of, name)), call.len()) {
        let value = machine.context.read(of, found).unwrap_or_default();
        if let Value::Text(text) = &value {
            machine.allot(text.len())?;
        }
        return Ok(Some(value));
    }
    let Some(found) = name.strip_prefix("set").and_then(|name| field(of, name)) else {
        return Ok(None);
    };
    if call.len() == 0 {
        return Ok(None);
    }
    let value = match (found, call.get(0)) {
        (Field::Bytes, Value::Text(text)) => Value::Text(text),
        (_, value) => value,
    };
    match machine.context.write(of, found, &value) {
        true => Ok(Some(Value::Null)),
        false => Err(unsupported(of, name)),
    }
}

/// What a method has the thread do.
fn action(of: Host, name: &str, call: Arguments<'_>) -> Option<Action> {
    let pair = || named(call);
    Some(match (of, name) {
        (Host::Previous | Host::Result, "setStopThread") if call.is_true(0) => Action::StopThread,
        (Host::Previous | Host::Result, "setStopTest") if call.is_true(0) => Action::StopTest,
        (Host::Previous | Host::Result, "setStopTestNow") if call.is_true(0) => Action::StopTestNow,
        (Host::Previous | Host::Result, "setStartNextThreadLoop") if call.is_true(0) => {
            Action::NextLoop
        }
        (Host::Result, "sampleStart") => Action::BeginSample,
        (Host::Result, "sampleEnd") => Action::EndSample,
        (Host::Headers, "add" | "put") => {
            let (name, value) = pair();
            Action::PutHeader(name, value)
        }
        (Host::Headers, "removeHeaderNamed" | "remove") => Action::RemoveHeader(call.text(0)),
        (Host::Sampler, "addArgument" | "addEncodedArgument")
        | (Host::Arguments, "addArgument") => {
            let (name, value) = pair();
            Action::AddArgument(name, value)
        }
        (Host::Sampler, "addNonEncodedArgument") if call.text(0).is_empty() => {
            Action::SetBody(call.text(1))
        }
        (Host::Sampler, "addNonEncodedArgument") => Action::AddArgument(call.text(0), call.text(1)),
        (Host::Arguments, "removeAllArguments" | "clear") => Action::ClearArguments,
        (Host::Cookies, "add") => {
            let (name, value) = pair();
            Action::AddCookie(name, value, String::new(), String::new())
        }
        (Host::Cookies, "clear") => Action::ClearCookies,
        _ => return None,
    })
}

/// A name and a value: of an object that has both, or two arguments.
fn named(call: Arguments<'_>) -> (String, String) {
    if let Value::Object(object) = call.get(0)
        && let Object::Pair(_, name, value) = &*object
    {
        return (name.to_string(), value.to_string());
    }
    (call.text(0), call.text(1))
}

/// Methods that lead to other parts, or that do nothing here.
fn part(
    machine: &mut Machine<'_>,
    of: Host,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let is_sample = matches!(of, Host::Previous | Host::Result);
    Ok(Some(match (of, name) {
        (Host::Sampler, "getHeaderManager") => Value::Host(Host::Headers),
        (Host::Sampler, "getArguments") => Value::Host(Host::Arguments),
        (Host::Sampler, "getCookieManager") => Value::Host(Host::Cookies),
        (Host::Sampler, "setArguments") => Value::Null,
        (Host::Sampler, "getThreadName") => host::thread_name(machine),
        (_, "setResponseOK") if is_sample => {
            for (field, value) in [
                (Field::Code, Value::from("200")),
                (Field::Message, Value::from("OK")),
                (Field::Success, Value::Truth(true)),
            ] {
                machine.context.write(of, field, &value);
            }
            Value::Null
        }
        (_, "setIgnore") if is_sample => {
            machine.context.write(of, Field::Ignored, &Value::Truth(true));
            Value::Null
        }
        (_, "getSubResults") if is_sample => {
            let count = machine.context.read(of, Field::Children);
            let count = count.and_then(|count| count.as_long()).unwrap_or(0);
            let items = vec![Value::Null; usize::try_from(count).unwrap_or(0).min(10_000)];
            Value::List(List::new(ListKind::Array, items))
        }
        (_, "setStopThread" | "setStopTest" | "setStopTestNow" | "setStartNextThreadLoop")
            if is_sample && !call.is_true(0) =>
        {
            Value::Null
        }
        (_, "getAssertionResults") if is_sample => {
            Value::List(List::new(ListKind::Array, Vec::new()))
        }
        (_, "setResponseNoContent" | "setEncodingAndType" | "latencyEnd" | "connectEnd")
            if is_sample =>
        {
            Value::Null
        }
        _ => return Ok(None),
    }))
}
