//! `Definitions`: the methods and messages that a script knows, from .proto files, protosets and reflection.

use std::path::{Component, Path};
use std::sync::Arc;

use prost_reflect::prost::Message as _;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet,
};
use prost_reflect::{
    DescriptorPool, EnumDescriptor, MessageDescriptor, MethodDescriptor, ServiceDescriptor,
};
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

/// Where .proto files come from.
pub trait ProtoSource: Send + Sync {
    /// The text of a file by the name that a script or an import gives it; `None` where there is none.
    ///
    /// # Errors
    /// It is there and cannot be read: why.
    fn read(&self, name: &str) -> Result<Option<String>, std::io::Error>;
}

/// Why definitions cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionsError {
    /// A file is wrong, or one that it imports: file, line and column are part of the text.
    #[error("{0}")]
    Compile(String),
    /// A protoset is none.
    #[error("proto: cannot parse invalid wire-format data")]
    Wire,
    /// A file has a syntax that cannot be read, as editions.
    #[error("{file}: syntax {syntax:?} is not known: proto2 and proto3 are")]
    Syntax {
        /// Its name.
        file: String,
        /// What it says.
        syntax: String,
    },
    /// A message that stands for a map's entries is none: it lacks its key or its value.
    #[error("{0}: an entry of a map without key and value")]
    MapEntry(String),
    /// The files do not fit together.
    #[error("{0}")]
    Descriptors(#[from] prost_reflect::DescriptorError),
}

/// A method of a service.
#[derive(Clone, Debug)]
pub struct Method(MethodDescriptor);

impl Method {
    /// Its path, `/pkg.Service/Method`.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/{}/{}", self.0.parent_service().full_name(), self.0.name())
    }

    /// The type of its requests.
    #[must_use]
    pub fn input(&self) -> MessageDescriptor {
        self.0.input()
    }

    /// The type of its responses.
    #[must_use]
    pub fn output(&self) -> MessageDescriptor {
        self.0.output()
    }

    /// Whether a client may send several requests.
    #[must_use]
    pub fn is_client_stream(&self) -> bool {
        self.0.is_client_streaming()
    }

    /// Whether a server may send several responses.
    #[must_use]
    pub fn is_server_stream(&self) -> bool {
        self.0.is_server_streaming()
    }

    /// What is known of it.
    #[must_use]
    pub const fn descriptor(&self) -> &MethodDescriptor {
        &self.0
    }

    /// What a script sees of it.
    #[must_use]
    pub fn summary(&self) -> MethodSummary {
        let service = self.0.parent_service();
        MethodSummary {
            package: service.package_name().to_owned(),
            service: service.name().to_owned(),
            name: self.0.name().to_owned(),
            full_method: self.path(),
            is_client_stream: self.is_client_stream(),
            is_server_stream: self.is_server_stream(),
        }
    }
}

/// A method as a script sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodSummary {
    /// The package; empty for none.
    pub package: String,
    /// The service, without its package.
    pub service: String,
    /// The method's name.
    pub name: String,
    /// `/pkg.Service/Method`.
    pub full_method: String,
    /// Whether a client may send several requests.
    pub is_client_stream: bool,
    /// Whether a server may send several responses.
    pub is_server_stream: bool,
}

/// The servers whose own definitions are remembered, at most: those of the one that was asked longest ago go.
const SERVERS_MAX: usize = 16;

/// What was loaded, one pool of descriptors each time, and what servers said of themselves. Copies share the pools.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    loaded: Vec<DescriptorPool>,
    reflected: Vec<DescriptorPool>,
}

impl Definitions {
    /// Compiles files and what they import; gives the methods in the files named.
    ///
    /// # Errors
    /// A file is not there, or wrong.
    pub fn load(
        &mut self,
        names: &[String],
        source: &Arc<dyn ProtoSource>,
    ) -> Result<Vec<MethodSummary>, DefinitionsError> {
        let mut resolver = ChainFileResolver::new();
        resolver.add(Resolver(Arc::clone(source)));
        resolver.add(GoogleFileResolver::new());
        let mut compiler = Compiler::with_file_resolver(resolver);
        compiler.include_imports(true);
        for name in names {
            let opened = compiler.open_file(name);
            opened.map_err(|error| DefinitionsError::Compile(error_text(&error)))?;
        }
        let pool = compiler.descriptor_pool();
        let methods = methods(&pool);
        self.loaded.push(pool);
        Ok(methods)
    }

    /// Takes a serialised `FileDescriptorSet`; gives its methods.
    ///
    /// # Errors
    /// It is none, or its files lack what they import.
    pub fn load_protoset(&mut self, bytes: &[u8]) -> Result<Vec<MethodSummary>, DefinitionsError> {
        let set = FileDescriptorSet::decode(bytes).map_err(|_| DefinitionsError::Wire)?;
        let pool = pool(set.file)?;
        let methods = methods(&pool);
        self.loaded.push(pool);
        Ok(methods)
    }

    /// Takes the files that a server describes itself by. What it says again takes the place of what it said before: scripts ask with
    /// each connection.
    ///
    /// # Errors
    /// They lack what they import, or contradict each other.
    pub(crate) fn learn(
        &mut self,
        files: Vec<FileDescriptorProto>,
    ) -> Result<(), DefinitionsError> {
        let pool = pool(files)?;
        let has_all = |known: &DescriptorPool| {
            known.services().all(|of| pool.get_service_by_name(of.full_name()).is_some())
        };
        self.reflected.retain(|known| !has_all(known));
        if self.reflected.len() >= SERVERS_MAX {
            self.reflected.remove(0);
        }
        self.reflected.push(pool);
        Ok(())
    }

    /// Adds what others have, before what is loaded later.
    pub fn extend(&mut self, others: &Self) {
        self.loaded.extend_from_slice(&others.loaded);
        self.reflected.extend_from_slice(&others.reflected);
    }

    /// All pools; what was learnt last stands last.
    fn pools(&self) -> impl DoubleEndedIterator<Item = &DescriptorPool> {
        self.loaded.iter().chain(&self.reflected)
    }

    /// The method of a path; what was loaded last comes first.
    #[must_use]
    pub fn method(&self, path: &str) -> Option<Method> {
        let (service, name) = path.strip_prefix('/').unwrap_or(path).split_once('/')?;
        self.pools().rev().find_map(|pool| {
            let service = pool.get_service_by_name(service)?;
            service.methods().find(|method| method.name() == name).map(Method)
        })
    }

    /// The services, by name; of two of one name that which was loaded last.
    #[must_use]
    pub fn services(&self) -> Vec<ServiceDescriptor> {
        let all = self.pools().rev().flat_map(|pool| pool.services().collect::<Vec<_>>());
        let mut services: Vec<ServiceDescriptor> = all.collect();
        services.sort_by(|a, b| a.full_name().cmp(b.full_name()));
        services.dedup_by(|a, b| a.full_name() == b.full_name());
        services
    }

    /// The service of a full name.
    #[must_use]
    pub fn service(&self, name: &str) -> Option<ServiceDescriptor> {
        self.pools().rev().find_map(|pool| pool.get_service_by_name(name))
    }

    /// The enum of a full name.
    #[must_use]
    pub fn enumeration(&self, name: &str) -> Option<EnumDescriptor> {
        self.pools().rev().find_map(|pool| pool.get_enum_by_name(name))
    }

    /// The full names of all services, methods, messages and enums.
    #[must_use]
    pub fn symbols(&self) -> Vec<String> {
        let mut names = Vec::new();
        for pool in self.pools() {
            for service in pool.services() {
                names.push(service.full_name().to_owned());
                names.extend(service.methods().map(|method| method.full_name().to_owned()));
            }
            names.extend(pool.all_messages().map(|message| message.full_name().to_owned()));
            names.extend(pool.all_enums().map(|of| of.full_name().to_owned()));
        }
        names
    }

    /// The message of a full name.
    #[must_use]
    pub fn message(&self, name: &str) -> Option<MessageDescriptor> {
        self.pools().rev().find_map(|pool| pool.get_message_by_name(name))
    }
}

/// The pool of files as their descriptors, in any order.
fn pool(files: Vec<FileDescriptorProto>) -> Result<DescriptorPool, DefinitionsError> {
    // The pool itself would end the process with those.
    let unknown = files
        .iter()
        .find(|file| !matches!(file.syntax.as_deref(), None | Some("proto2" | "proto3")));
    if let Some(file) = unknown {
        let (file, syntax) = (file.name().to_owned(), file.syntax().to_owned());
        return Err(DefinitionsError::Syntax { file, syntax });
    }
    let messages = files.iter().flat_map(|file| &file.message_type);
    if let Some(name) = messages.into_iter().find_map(malformed_entry) {
        return Err(DefinitionsError::MapEntry(name));
    }
    let mut pool = DescriptorPool::new();
    pool.add_file_descriptor_protos(files)?;
    Ok(pool)
}

/// The methods of a pool.
fn methods(pool: &DescriptorPool) -> Vec<MethodSummary> {
    let services = pool.services();
    let all = services.flat_map(|service| service.methods().collect::<Vec<_>>());
    all.map(|method| Method(method).summary()).collect()
}

/// The first message, in this one too, that is marked as a map's entry and has not a map's key and value: readers of maps rely on
/// both, and a server may send any descriptor.
fn malformed_entry(message: &DescriptorProto) -> Option<String> {
    let of = |number: i32| message.field.iter().find(|field| field.number() == number);
    let is_entry = message.options.as_ref().is_some_and(|options| options.map_entry());
    let is_key = |field: &FieldDescriptorProto| {
        use Type::{Bytes, Double, Enum, Float, Group, Message};
        let is_single = field.label() != Label::Repeated && field.r#type.is_some();
        is_single && !matches!(field.r#type(), Bytes | Double | Enum | Float | Group | Message)
    };
    let is_value = |field: &FieldDescriptorProto| field.label() != Label::Repeated;
    let is_whole =
        of(1).is_some_and(is_key) && of(2).is_some_and(is_value) && message.field.len() == 2;
    if is_entry && !is_whole {
        return Some(message.name().to_owned());
    }
    message.nested_type.iter().find_map(malformed_entry)
}

/// What the compiler says of a file, with its place.
fn error_text(error: &protox::Error) -> String {
    let Some(file) = error.file() else { return error.to_string() };
    // Line and column stand in the text for programmers alone.
    let placed = format!("{error:?}");
    match placed.strip_prefix(file).is_some_and(|rest| rest.starts_with(':')) {
        true => placed,
        false if error.to_string().contains(file) => error.to_string(),
        false => format!("{file}: {error}"),
    }
}

struct Resolver(Arc<dyn ProtoSource>);

impl FileResolver for Resolver {
    /// Names that lead upwards or from the root, which a script may give, and the compiler by itself refuses.
    fn resolve_path(&self, path: &Path) -> Option<String> {
        let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        if is_plain { None } else { path.to_str().map(str::to_owned) }
    }

    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        match self.0.read(name) {
            Ok(Some(text)) => File::from_source(name, &text),
            Ok(None) => Err(protox::Error::file_not_found(name)),
            Err(error) => Err(protox::Error::new(error)),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) struct Texts(pub(crate) &'static [(&'static str, &'static str)]);

    impl ProtoSource for Texts {
        fn read(&self, name: &str) -> Result<Option<String>, std::io::Error> {
            Ok(self.0.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned()))
        }
    }

    pub(crate) fn definitions(text: &'static str) -> Definitions {
        let texts: &'static [(&str, &str)] = Box::leak(Box::new([("t.proto", text)]));
        let source: Arc<dyn ProtoSource> = Arc::new(Texts(texts));
        let mut all = Definitions::default();
        all.load(&["t.proto".to_owned()], &source).expect("definitions");
        all
    }

    /// Scripts ask a server with each connection, and a server may say something new each time.
    #[test]
    fn what_servers_say_takes_bounded_room() {
        use prost_reflect::prost_types::ServiceDescriptorProto;

        let of = |name: &str| {
            let service = ServiceDescriptorProto { name: Some(name.to_owned()), ..<_>::default() };
            let name = Some(format!("{name}.proto"));
            vec![FileDescriptorProto { name, service: vec![service], ..<_>::default() }]
        };
        let mut all = definitions("syntax = \"proto3\"; service Own {}");
        (0..100).for_each(|_| all.learn(of("Same")).expect("sound"));
        assert_eq!(all.reflected.len(), 1);
        (0..100).for_each(|number| all.learn(of(&format!("S{number}"))).expect("sound"));
        assert_eq!(all.reflected.len(), SERVERS_MAX);
        assert!(all.service("Own").is_some() && all.service("S99").is_some());
        assert!(all.service("S0").is_none() && all.service("Same").is_none());
    }

    #[test]
    fn a_hostile_entry_of_a_map_is_refused() {
        use prost_reflect::prost_types::MessageOptions;

        let field = |name: &str, number: i32, of: Type| FieldDescriptorProto {
            name: Some(name.to_owned()),
            number: Some(number),
            label: Some(Label::Optional as i32),
            r#type: Some(of as i32),
            ..FieldDescriptorProto::default()
        };
        let file = |fields: Vec<FieldDescriptorProto>| {
            let options = MessageOptions { map_entry: Some(true), ..MessageOptions::default() };
            let entry = DescriptorProto {
                name: Some("ByEntry".to_owned()),
                field: fields,
                options: Some(options),
                ..DescriptorProto::default()
            };
            let mut by = field("by", 1, Type::Message);
            by.type_name = Some(".M.ByEntry".to_owned());
            by.label = Some(Label::Repeated as i32);
            let message = DescriptorProto {
                name: Some("M".to_owned()),
                field: vec![by],
                nested_type: vec![entry],
                ..DescriptorProto::default()
            };
            FileDescriptorProto {
                name: Some("t.proto".to_owned()),
                syntax: Some("proto3".to_owned()),
                message_type: vec![message],
                ..FileDescriptorProto::default()
            }
        };
        let (key, value) = (field("key", 1, Type::String), field("value", 2, Type::Int32));
        let add = |fields| Definitions::default().learn(vec![file(fields)]);
        assert!(add(vec![key.clone(), value.clone()]).is_ok());
        let wrong_key = field("key", 1, Type::Double);
        for fields in [vec![], vec![key.clone()], vec![value.clone()], vec![wrong_key, value]] {
            assert!(
                matches!(add(fields), Err(DefinitionsError::MapEntry(name)) if name == "ByEntry")
            );
        }
    }

    #[test]
    fn files_and_their_imports_are_compiled() {
        let texts = Texts(&[
            (
                "a.proto",
                "syntax = \"proto3\"; package p; import \"b.proto\"; import \"google/protobuf/empty.proto\"; service S { rpc M(B) returns (stream google.protobuf.Empty); }",
            ),
            ("b.proto", "syntax = \"proto3\"; package p; message B { string x = 1; }"),
            ("bad.proto", "syntax = \"proto3\";\nmessage M { strin x = 1; }"),
            (
                "../up.proto",
                "syntax = \"proto3\"; package up; service U { rpc M(V) returns (V); } message V {}",
            ),
        ]);
        let source: Arc<dyn ProtoSource> = Arc::new(texts);
        let mut all = Definitions::default();
        let methods = all.load(&["../up.proto".to_owned()], &source).expect("definitions");
        assert_eq!(methods[0].full_method, "/up.U/M");
        let methods = all.load(&["a.proto".to_owned()], &source).expect("definitions");
        assert_eq!(methods.len(), 1);
        assert_eq!(methods[0].full_method, "/p.S/M");
        assert!(methods[0].is_server_stream && !methods[0].is_client_stream);
        assert!(all.method("p.S/M").is_some() && all.method("/p.S/M").is_some());
        assert!(all.method("p.S.M").is_none());
        let bad = all.load(&["bad.proto".to_owned()], &source).expect_err("an unknown type");
        assert!(bad.to_string().starts_with("bad.proto:2:13: "), "{bad}");
        assert!(all.load(&["none.proto".to_owned()], &source).is_err());
        assert!(matches!(all.load_protoset(b"\xff\xff"), Err(DefinitionsError::Wire)));
    }
}
