//! The one table of the modules that scripts import by name.

use rquickjs::Module;

use super::libraries::LIBRARIES;
use super::{
    cable, crypto, csv, data, encoding, execution, fs, globals, grpc, html, http, k6, metrics,
    secrets, streams, timers, ws, x509,
};
use crate::loader::builtins::{Builtins, Declare};

/// k6's modules and globals, with ours.
pub(crate) static K6: Builtins = Builtins {
    modules: MODULES,
    removed: REMOVED,
    libraries: LIBRARIES,
    install_globals: globals::install,
};

/// Every built-in module.
const MODULES: &[(&str, Declare)] = &[
    ("k6", |ctx, name| Module::declare_def::<k6::K6, _>(ctx, name)),
    ("k6/execution", |ctx, name| Module::declare_def::<execution::Execution, _>(ctx, name)),
    ("k6/metrics", |ctx, name| Module::declare_def::<metrics::Metrics, _>(ctx, name)),
    ("k6/http", |ctx, name| Module::declare_def::<http::Http, _>(ctx, name)),
    ("k6/crypto", |ctx, name| Module::declare_def::<crypto::Crypto, _>(ctx, name)),
    ("k6/data", |ctx, name| Module::declare_def::<data::Data, _>(ctx, name)),
    ("k6/encoding", |ctx, name| Module::declare_def::<encoding::Encoding, _>(ctx, name)),
    ("k6/experimental/csv", |ctx, name| Module::declare_def::<csv::Csv, _>(ctx, name)),
    ("k6/experimental/fs", |ctx, name| Module::declare_def::<fs::Fs, _>(ctx, name)),
    ("k6/experimental/streams", |ctx, name| Module::declare_def::<streams::Streams, _>(ctx, name)),
    ("k6/net/grpc", |ctx, name| Module::declare_def::<grpc::Grpc, _>(ctx, name)),
    ("k6/html", |ctx, name| Module::declare_def::<html::Html, _>(ctx, name)),
    ("k6/crypto/x509", |ctx, name| Module::declare_def::<x509::X509, _>(ctx, name)),
    ("k6/secrets", |ctx, name| Module::declare_def::<secrets::SecretsModule, _>(ctx, name)),
    ("k6/x/cable", |ctx, name| Module::declare_def::<cable::Cable, _>(ctx, name)),
    ("k6/ws", |ctx, name| Module::declare_def::<ws::Ws, _>(ctx, name)),
    ("k6/websockets", |ctx, name| Module::declare_def::<ws::WebSockets, _>(ctx, name)),
    ("k6/experimental/websockets", |ctx, name| {
        Module::declare_def::<ws::OldWebSockets, _>(ctx, name)
    }),
    ("k6/timers", |ctx, name| Module::declare_def::<timers::TimersModule, _>(ctx, name)),
];

/// Modules that k6 has or once had and brunt lacks, each with the end of the error's text.
const REMOVED: &[(&str, &str)] = &[
    ("k6/browser", "is not there: brunt run drives no browser"),
    ("k6/experimental/browser", "has been graduated, please use k6/browser instead"),
    ("k6/experimental/grpc", "has been graduated, please use k6/net/grpc instead"),
    (
        "k6/experimental/timers",
        "has been graduated, and it's now globally available as defined by standard WebAPIs; remove the import",
    ),
    (
        "k6/experimental/tracing",
        "has been removed; all of its functionality is available as the JavaScript module https://jslib.k6.io/http-instrumentation-tempo",
    ),
    (
        "k6/experimental/webcrypto",
        "has been graduated and it's now globally available as defined by standard WebAPIs; remove the import",
    ),
    ("k6/experimental/redis", "has been removed, k6/x/redis took its place"),
];
