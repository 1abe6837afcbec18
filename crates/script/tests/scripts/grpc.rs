//! Calls of gRPC by scripts: what goes out, what comes back, what is refused before anything is sent.

#![expect(clippy::unwrap_used, reason = "a test says by a panic that it failed")]

use std::rc::Rc;
use std::sync::Arc;

use ::grpc::{CallOutcome, Code, Metadata, Status};
use script::{
    Action, ActionResult, Call, Files, Host, Level, Program, Realm, Stage, StepResult, Ticket,
    VirtualUser as _, Vu,
};
use stdx::Nanos;
use users::{GrpcKind, GrpcRequest, GrpcResponse, Replies, StreamAction, StreamEvent};

struct World;

impl Host for World {
    fn now(&self) -> Nanos {
        Nanos::ZERO
    }
    fn log(&self, _: Level, _: &str) {}
}

struct Sources(String);

impl Files for Sources {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        match name {
            "/main.js" => Ok(self.0.clone().into_bytes()),
            "/protos/t.proto" => Ok(PROTO.as_bytes().to_vec()),
            "/protos/sub/other.proto" => Ok(OTHER.as_bytes().to_vec()),
            _ => Err("no such file or directory".to_owned()),
        }
    }
}

const PROTO: &str = "syntax = \"proto3\"; package p; import \"sub/other.proto\"; service S { rpc M(Ask) returns (Reply); rpc Talk(stream Ask) returns (stream Reply); rpc List(Ask) returns (stream Reply); } message Ask { string text = 1; int32 n = 2; }";
const OTHER: &str =
    "syntax = \"proto3\"; package p; message Reply { string text = 1; int64 n = 2; }";

const BEGIN: &str = "import grpc from 'k6/net/grpc';
const c = new grpc.Client();
const methods = c.load(['/protos'], 't.proto');
const tried = (f) => { try { return f(); } catch (error) { return error.message; } };
";

/// A VU in its first step, and that step.
fn begin(body: &str) -> (Vu, StepResult) {
    let text = format!("{BEGIN}export default function () {{ {body} }}");
    let world: Rc<dyn Host> = Rc::new(World);
    let files = Rc::new(Sources(text));
    let program =
        Program::compile("/main.js", Arc::new(Vec::new()), files, Rc::clone(&world)).unwrap();
    let mut vu = Vu::new(&Realm::new(&program).unwrap(), world, 1).unwrap();
    let call = Call { stage: Stage::Setup, function: "default".into(), iteration: 0, data: None };
    let step = vu.call(call);
    (vu, step)
}

/// What is asked for next; ends of channels are left out.
fn next(vu: &mut Vu) -> (Ticket, GrpcRequest) {
    let mut asked = Vec::new();
    let _memory = vu.take_actions(&mut asked);
    asked.retain(|action| !matches!(action, Action::EndChannel(_)));
    assert_eq!(asked.len(), 1, "{asked:?}");
    let Action::Grpc(ticket, request) = asked.remove(0) else { panic!("it makes a call") };
    (ticket, *request)
}

fn answer(vu: &mut Vu, ticket: Ticket, outcome: CallOutcome) -> StepResult {
    let response = GrpcResponse { outcome, took_ms: 1.0 };
    vu.answer(ticket, ActionResult::Grpc(Box::new(response))).unwrap()
}

/// Connects.
fn connect(vu: &mut Vu) -> StepResult {
    let (ticket, request) = next(vu);
    assert_eq!(request.kind, GrpcKind::Dial);
    answer(vu, ticket, CallOutcome::default())
}

fn returned(step: StepResult) -> String {
    let StepResult::Done(done) = step else { panic!("it has ended: {step:?}") };
    done.unwrap().unwrap()
}

#[test]
fn a_call_goes_out_and_its_answer_is_an_object() {
    let (mut vu, _) = begin(
        "c.connect('h:1', { plaintext: true });
         const r = c.invoke('p.S/M', { text: 'a', n: 2 }, { metadata: { 'x-a': '1', 'k-bin': new Uint8Array([2, 200]) }, tags: { kind: 'own' }, timeout: '5s' });
         c.close();
         return [methods[0].full_method, r.status === grpc.StatusOK, r.status, r.message, r.headers, r.error];",
    );
    connect(&mut vu);
    let (ticket, request) = next(&mut vu);
    assert_eq!((request.kind, request.path.as_str()), (GrpcKind::Call, "/p.S/M"));
    assert_eq!(&*request.http.url, "http://h:1/p.S/M");
    assert_eq!(request.http.body.as_deref(), Some(&b"\0\0\0\0\x05\x0a\x01a\x10\x02"[..]));
    assert_eq!(request.http.tags, [("kind".to_owned(), "own".to_owned())]);
    for (name, value) in
        [("grpc-timeout", "5000000u"), ("te", "trailers"), ("x-a", "1"), ("k-bin", "Asg")]
    {
        assert_eq!(request.http.header(name), Some(value));
    }
    let outcome = CallOutcome {
        messages: vec![b"\x0a\x01b\x10\x03".to_vec()],
        headers: Metadata(vec![("h".to_owned(), vec![b"1".to_vec(), b"2".to_vec()])]),
        ..CallOutcome::default()
    };
    assert_eq!(
        returned(answer(&mut vu, ticket, outcome)),
        r#"["/p.S/M",true,0,{"text":"b","n":"3"},{"h":["1","2"]},null]"#
    );
}

#[test]
fn a_call_that_fails_throws_nothing_and_has_an_empty_message() {
    let (mut vu, _) = begin(
        "c.connect('h:1');
         const r = c.invoke('/p.S/M', {});
         return [r.status == 5, String(r.status), r.message, r.error];",
    );
    connect(&mut vu);
    let (ticket, request) = next(&mut vu);
    assert_eq!(&*request.http.url, "https://h:1/p.S/M");
    let status = Status::new(Code(5), "no such thing");
    let outcome = CallOutcome { status, ..CallOutcome::default() };
    assert_eq!(
        returned(answer(&mut vu, ticket, outcome)),
        r#"[true,"NotFound",{"text":"","n":"0"},{"code":5,"message":"no such thing","details":[]}]"#
    );
}

#[test]
fn what_is_wrong_is_said_before_anything_is_sent() {
    let (mut vu, _) = begin(
        "const before = tried(() => c.invoke('p.S/M', {}));
         c.connect('h:1', { plaintext: true });
         return [
           before,
           tried(() => c.invoke('p.S/Nope', {})),
           tried(() => c.invoke('//p.S/M', {})),
           tried(() => c.invoke('', {})),
           tried(() => c.invoke('p.S/M')),
           tried(() => c.invoke('p.S/M', { n: 'x' })),
           tried(() => c.invoke('p.S/M', {}, { nope: 1 })),
           tried(() => c.invoke('p.S/M', {}, { metadata: { 'a-bin': 'x' } })),
           tried(() => c.connect('h:1', { plaintext: 1 })),
           tried(() => c.load([], 'x.proto')),
           tried(() => new grpc.Stream({}, 'p.S/M')),
         ].join('\\n');",
    );
    let step = connect(&mut vu);
    let expect = [
        "no gRPC connection, you must call connect first",
        "method \"/p.S/Nope\" not found in file descriptors",
        "method \"//p.S/M\" not found in file descriptors",
        "method to invoke cannot be empty",
        "request cannot be nil",
        "unable to serialise request object to protocol buffer: proto: (line 1:6): invalid value for int32 field n: \"x\"",
        "invalid GRPC's client.invoke() parameters: unknown param: \"nope\"",
        "invalid GRPC's client.invoke() parameters: invalid metadata param: \"a-bin\" value must be binary",
        "invalid grpc.connect() parameters: invalid plaintext value: '1', it needs to be boolean",
        "load must be called in the init context",
        "invalid GRPC Stream's client: not a gRPC client",
    ];
    let text: String = serde_json::from_str(&returned(step)).unwrap();
    assert_eq!(text.lines().collect::<Vec<_>>(), expect);
}

#[test]
fn a_connection_that_cannot_be_made_is_thrown() {
    let (mut vu, _) = begin(
        "const text = tried(() => c.connect('h:1'));
         return [text, tried(() => c.invoke('p.S/M', {}))];",
    );
    let (ticket, _) = next(&mut vu);
    let step = answer(&mut vu, ticket, CallOutcome::failed(Code::UNAVAILABLE, "refused"));
    assert_eq!(returned(step), r#"["refused","no gRPC connection, you must call connect first"]"#);
}

#[test]
fn a_client_has_certificates_of_its_own() {
    let (mut vu, _) = begin(
        "const cert = '-----BEGIN CERTIFICATE-----';
         c.connect('h:1', { authority: 'other:2', tls: { cacerts: ['root'], cert, key: 'key' } });
         const bad = (tls) => tried(() => c.connect('h:1', { tls }));
         return [bad({ cert: 'x', key: 'y' }), bad({ key: 'y' }), bad({ cert, key: 'ENCRYPTED' }),
           bad({ cert, key: 'BEGIN ENCRYPTED PRIVATE KEY', password: 'p' }),
           tried(() => c.invoke('p.S/M', {}))].join('\\n');",
    );
    let (ticket, request) = next(&mut vu);
    let tls = request.tls.expect("it has some");
    assert_eq!(tls.roots_pem, [b"root"]);
    assert_eq!(
        (tls.key_pem.as_deref(), tls.server_name.as_deref()),
        (Some(&b"key"[..]), Some("other"))
    );
    assert_eq!(request.http.header("host"), Some("other:2"));
    let step = answer(&mut vu, ticket, CallOutcome::default());
    let text: String = serde_json::from_str(&returned(step)).unwrap();
    let expect = [
        "failed to append certificate from PEM: tls: failed to find any PEM data in certificate input",
        "failed to append certificate from PEM: certificate and key go together",
        "failed to append certificate from PEM: tls: failed to parse private key",
        "encrypted pkcs8 formatted key is not supported",
        "no gRPC connection, you must call connect first",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expect);
}

/// What a stream did since the last time.
fn stream_actions(vu: &mut Vu) -> Vec<StreamAction> {
    let mut asked = Vec::new();
    let _memory = vu.take_actions(&mut asked);
    let of = |action| match action {
        Action::Stream(_, what) => Some(what),
        _ => None,
    };
    asked.into_iter().filter_map(of).collect()
}

fn happen(vu: &mut Vu, ticket: Ticket, event: StreamEvent) -> StepResult {
    vu.answer(ticket, ActionResult::Stream(event)).unwrap()
}

fn ended(status: Status) -> StreamEvent {
    let outcome = CallOutcome { status, ..CallOutcome::default() };
    StreamEvent::Ended(Box::new(GrpcResponse { outcome, took_ms: 1.0 }))
}

/// A VU whose script has opened a stream in the way that this says, with the ticket and the request of the stream, and what it did.
fn open_stream(body: &str) -> (Vu, Ticket, GrpcRequest, Vec<StreamAction>) {
    let (mut vu, _) = begin(&format!(
        "const seen = [];
         c.connect('h:1', {{ plaintext: true }});
         return new Promise((done) => {{ {body} s.on('end', () => done(seen)); }});"
    ));
    connect(&mut vu);
    let mut asked = Vec::new();
    let _memory = vu.take_actions(&mut asked);
    let Action::Grpc(ticket, request) = asked.remove(0) else { panic!("it opens a stream") };
    let actions = asked.into_iter().filter_map(|action| match action {
        Action::Stream(of, what) if of == ticket => Some(what),
        _ => None,
    });
    (vu, ticket, *request, actions.collect())
}

const HANDLERS: &str = "s.on('data', (m, meta) => seen.push(m.text + typeof meta.ts));
    s.on('error', (e) => seen.push([+e.code, e.message, e.details]));";

#[test]
fn a_stream_is_written_to_and_gives_what_comes() {
    let (mut vu, ticket, request, actions) = open_stream(&format!(
        "const s = new grpc.Stream(c, 'p.S/Talk', {{ metadata: {{ 'x-a': '1' }}, tags: {{ k: 'v' }} }});
         {HANDLERS} s.write({{ text: 'a' }}); s.write(null); s.write({{}}); s.end(); s.write({{ n: 1 }});"
    ));
    assert_eq!((request.kind, request.replies), (GrpcKind::Stream, Replies::Many));
    assert_eq!((request.path.as_str(), request.http.header("x-a")), ("/p.S/Talk", Some("1")));
    assert_eq!(request.http.timeout, Some(Nanos::MAX));
    let frame = |message: &[u8]| [&[0, 0, 0, 0, message.len() as u8], message].concat();
    let expect = [
        StreamAction::Send(frame(b"\x0a\x01a")),
        StreamAction::Send(frame(b"")),
        StreamAction::End,
    ];
    assert_eq!(actions, expect);
    happen(&mut vu, ticket, StreamEvent::Message(b"\x0a\x01x".to_vec()));
    happen(&mut vu, ticket, StreamEvent::Message(Vec::new()));
    let step = happen(&mut vu, ticket, ended(Status::new(Code(3), "bad")));
    assert_eq!(returned(step), r#"["xnumber","number",[3,"bad",[]]]"#);
}

#[test]
fn the_only_message_of_a_request_ends_it() {
    let (mut vu, ticket, _, actions) = open_stream(&format!(
        "const s = new grpc.Stream(c, 'p.S/List'); {HANDLERS} s.write({{}}); s.write({{}});"
    ));
    assert_eq!(actions.len(), 3, "{actions:?}");
    assert_eq!(actions[1..], [StreamAction::End, StreamAction::Cancel]);
    let step = happen(&mut vu, ticket, ended(Status::default()));
    assert_eq!(returned(step), r#"[[13,"SendMsg called after CloseSend",null]]"#);
}

#[test]
fn a_stream_ends_with_what_does_not_fit_and_with_a_handler_that_throws() {
    let (mut vu, ticket, _, actions) = open_stream(&format!(
        "const s = new grpc.Stream(c, 'p.S/Talk'); {HANDLERS} s.write({{ n: 'x' }}); s.write({{}});"
    ));
    assert_eq!(actions, [StreamAction::Cancel]);
    let step =
        happen(&mut vu, ticket, ended(Status::new(Code::UNKNOWN, "canceled by client (k6)")));
    let text = returned(step);
    assert!(text.starts_with(r#"[[2,"unable to serialise request object to protocol buffer: "#));
    assert!(text.ends_with(r#"[2,"canceled by client (k6)",[]]]"#), "{text}");
    let (mut vu, ticket, ..) = open_stream(
        "const s = new grpc.Stream(c, 'p.S/Talk');
         s.on('data', () => { throw new Error('mine'); });
         s.on('error', (e) => seen.push(e.message.split(' at ')[0]));",
    );
    happen(&mut vu, ticket, StreamEvent::Message(Vec::new()));
    assert_eq!(stream_actions(&mut vu), [StreamAction::Cancel]);
    assert_eq!(returned(happen(&mut vu, ticket, ended(Status::default()))), r#"["Error: mine"]"#);
    let (mut vu, ticket, ..) =
        open_stream(&format!("const s = new grpc.Stream(c, 'p.S/Talk'); {HANDLERS}"));
    happen(&mut vu, ticket, StreamEvent::Message(b"\xff".to_vec()));
    assert_eq!(stream_actions(&mut vu), [StreamAction::Cancel]);
    let step = happen(&mut vu, ticket, ended(Status::default()));
    assert!(returned(step).starts_with(r#"[[13,"grpc: failed to unmarshal"#));
}
