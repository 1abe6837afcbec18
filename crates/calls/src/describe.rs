//! What definitions have, as text: lists of services and methods, and symbols as their .proto would have them.

use anyhow::Result;
use grpc::Definitions;
use prost_reflect::{
    EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor, MethodDescriptor, ServiceDescriptor,
};
use serde_json::{Value, json};

use crate::method::{find_service, find_symbol};

/// The names of all services, or of a service's methods.
///
/// # Errors
/// There is no such service; the error names the nearest.
pub fn listing(definitions: &Definitions, service: Option<&str>) -> Result<Vec<String>> {
    let Some(name) = service else {
        let all = definitions.services();
        return Ok(all.iter().map(|known| known.full_name().to_owned()).collect());
    };
    let service = find_service(definitions, name)?;
    Ok(service.methods().map(|method| method.full_name().to_owned()).collect())
}

/// A symbol that was looked up.
enum Symbol {
    Service(ServiceDescriptor),
    Method(MethodDescriptor),
    Message(MessageDescriptor),
    Enum(EnumDescriptor),
}

fn symbol(definitions: &Definitions, name: &str) -> Result<Symbol> {
    let name = find_symbol(definitions, name)?;
    if let Some(service) = definitions.service(&name) {
        return Ok(Symbol::Service(service));
    }
    if let Some(message) = definitions.message(&name) {
        return Ok(Symbol::Message(message));
    }
    if let Some(of) = definitions.enumeration(&name) {
        return Ok(Symbol::Enum(of));
    }
    let path = name.rsplit_once('.').map(|(service, method)| format!("{service}/{method}"));
    let method = path.and_then(|path| definitions.method(&path));
    let method = method.ok_or_else(|| anyhow::anyhow!("no symbol \"{name}\""))?;
    Ok(Symbol::Method(method.descriptor().clone()))
}

/// A symbol: its kind in words, and its definition.
///
/// # Errors
/// There is no such symbol; the error names the nearest.
pub fn describe(definitions: &Definitions, name: &str) -> Result<String> {
    let (full, kind, text) = match symbol(definitions, name)? {
        Symbol::Service(of) => (of.full_name().to_owned(), "a service", service_text(&of)),
        Symbol::Method(of) => (of.full_name().to_owned(), "a method", method_text(&of)),
        Symbol::Message(of) => (of.full_name().to_owned(), "a message", message_text(&of)),
        Symbol::Enum(of) => (of.full_name().to_owned(), "an enum", enum_text(&of)),
    };
    Ok(format!("{full} is {kind}:\n{text}\n"))
}

/// The same for programs.
///
/// # Errors
/// There is no such symbol; the error names the nearest.
pub fn describe_json(definitions: &Definitions, name: &str) -> Result<Value> {
    Ok(match symbol(definitions, name)? {
        Symbol::Service(of) => json!({
            "name": of.full_name(), "kind": "service",
            "methods": of.methods().map(|method| method_json(&method)).collect::<Vec<_>>(),
        }),
        Symbol::Method(of) => method_json(&of),
        Symbol::Message(of) => json!({
            "name": of.full_name(), "kind": "message",
            "fields": of.fields().map(|field| field_json(&field)).collect::<Vec<_>>(),
        }),
        Symbol::Enum(of) => json!({
            "name": of.full_name(), "kind": "enum",
            "values": of.values().map(|value| json!({"name": value.name(), "number": value.number()}))
                .collect::<Vec<_>>(),
        }),
    })
}

/// The message that a symbol takes: a method's input, or the message itself.
///
/// # Errors
/// There is no such symbol, or it takes none.
pub fn message_of(definitions: &Definitions, name: &str) -> Result<MessageDescriptor> {
    match symbol(definitions, name)? {
        Symbol::Method(of) => Ok(of.input()),
        Symbol::Message(of) => Ok(of),
        Symbol::Service(of) => {
            anyhow::bail!("{} is a service, which has no message (name a method)", of.full_name())
        }
        Symbol::Enum(of) => anyhow::bail!("{} is an enum, which is no message", of.full_name()),
    }
}

fn method_json(of: &MethodDescriptor) -> Value {
    json!({
        "name": of.full_name(), "kind": "method",
        "input": of.input().full_name(), "output": of.output().full_name(),
        "clientStreaming": of.is_client_streaming(), "serverStreaming": of.is_server_streaming(),
    })
}

fn field_json(of: &FieldDescriptor) -> Value {
    json!({
        "name": of.name(), "jsonName": of.json_name(), "number": of.number(), "type": type_text(of),
        "repeated": of.is_list() || of.is_map(),
        "oneof": of.containing_oneof().filter(|one| !one.is_synthetic()).map(|one| one.name().to_owned()),
    })
}

fn service_text(of: &ServiceDescriptor) -> String {
    let methods = of.methods().map(|method| format!("  {}\n", method_text(&method)));
    format!("service {} {{\n{}}}", of.name(), methods.collect::<String>())
}

fn method_text(of: &MethodDescriptor) -> String {
    let side = |name: &str, streams: bool| match streams {
        true => format!("stream .{name}"),
        false => format!(".{name}"),
    };
    let input = side(of.input().full_name(), of.is_client_streaming());
    let output = side(of.output().full_name(), of.is_server_streaming());
    format!("rpc {} ( {input} ) returns ( {output} );", of.name())
}

fn message_text(of: &MessageDescriptor) -> String {
    let mut lines = String::new();
    let in_oneof =
        |field: &FieldDescriptor| field.containing_oneof().is_some_and(|one| !one.is_synthetic());
    for field in of.fields().filter(|field| !in_oneof(field)) {
        lines.push_str(&format!("  {}\n", field_text(&field)));
    }
    for one in of.oneofs().filter(|one| !one.is_synthetic()) {
        let fields = one.fields().map(|field| format!("    {}\n", field_text(&field)));
        lines.push_str(&format!("  oneof {} {{\n{}  }}\n", one.name(), fields.collect::<String>()));
    }
    format!("message {} {{\n{lines}}}", of.name())
}

fn field_text(of: &FieldDescriptor) -> String {
    let label = match of {
        of if of.is_map() => "",
        of if of.is_list() => "repeated ",
        of if of.cardinality() == prost_reflect::Cardinality::Required => "required ",
        of if of.supports_presence()
            && of.containing_oneof().is_some_and(|one| one.is_synthetic()) =>
        {
            "optional "
        }
        _ => "",
    };
    format!("{label}{} {} = {};", type_text(of), of.name(), of.number())
}

/// The type of a field as a .proto has it.
fn type_text(of: &FieldDescriptor) -> String {
    match of.kind() {
        Kind::Message(entry) if entry.is_map_entry() => {
            let part =
                |name: &str| entry.get_field_by_name(name).map(|field| kind_text(&field.kind()));
            let (key, value) = (part("key"), part("value"));
            format!("map<{}, {}>", key.unwrap_or_default(), value.unwrap_or_default())
        }
        kind => kind_text(&kind),
    }
}

fn kind_text(kind: &Kind) -> String {
    match kind {
        Kind::Message(message) => format!(".{}", message.full_name()),
        Kind::Enum(of) => format!(".{}", of.full_name()),
        scalar => format!("{scalar:?}").to_lowercase(),
    }
}

fn enum_text(of: &EnumDescriptor) -> String {
    let values = of.values().map(|value| format!("  {} = {};\n", value.name(), value.number()));
    format!("enum {} {{\n{}}}", of.name(), values.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::tests::{SHOP, definitions};

    #[test]
    fn symbols_are_shown_as_a_proto_has_them() {
        let all = definitions(SHOP);
        let check = |name: &str, expect: &str| {
            assert_eq!(describe(&all, name).expect(name), expect);
        };
        check(
            "shop.v1.Shop",
            "shop.v1.Shop is a service:\nservice Shop {\n  rpc Buy ( .shop.v1.Item ) returns ( .shop.v1.Reply );\n  rpc Watch ( .shop.v1.Item ) returns ( stream .shop.v1.Reply );\n  rpc Put ( stream .shop.v1.Item ) returns ( .shop.v1.Reply );\n}\n",
        );
        check(
            "shop.v1.Item",
            "shop.v1.Item is a message:\nmessage Item {\n  string name = 1;\n  int64 count = 2;\n  repeated .shop.v1.Item parts = 3;\n  map<string, .shop.v1.Colour> by = 4;\n  optional double price = 7;\n  oneof kind {\n    bool flag = 5;\n    bytes raw = 6;\n  }\n}\n",
        );
        check(
            "shop.v1.Colour",
            "shop.v1.Colour is an enum:\nenum Colour {\n  GREY = 0;\n  RED = 1;\n}\n",
        );
        assert!(describe(&all, "shop.v1.Shop/Buy").expect("a method").contains("rpc Buy"));
        assert_eq!(listing(&all, None).expect("services"), ["shop.v1.Shop"]);
        let methods = listing(&all, Some("shop.v1.Shop")).expect("methods");
        assert_eq!(methods, ["shop.v1.Shop.Buy", "shop.v1.Shop.Watch", "shop.v1.Shop.Put"]);
        assert!(listing(&all, Some("shop.v1.Shp")).is_err());
        let json = describe_json(&all, "shop.v1.Item").expect("JSON");
        assert_eq!(json["fields"][3]["type"], "map<string, .shop.v1.Colour>");
        assert_eq!(json["fields"][4]["oneof"], "kind");
        assert!(message_of(&all, "shop.v1.Shop").is_err());
        assert_eq!(message_of(&all, "shop.v1.Shop.Buy").expect("its input").name(), "Item");
    }
}
