//! The status of a call of gRPC, judged as its caller judges it.

use grpc::{CallOutcome, Code, RECEIVE_MAX, Reply, Status};
use metrics::Outcome;
use workload::RequestKind;

use crate::captured::CapturedResponse;
use crate::hit::Hit;
use crate::settings::AnswerForm;

/// The status of a hit that is a call of gRPC, once its response is there.
pub(super) fn call_status(
    hit: &Hit,
    captured: Option<&CapturedResponse>,
    (form, outcome): (AnswerForm, Outcome),
) -> Option<Status> {
    let is_call = matches!(hit.kind, RequestKind::Call(_) | RequestKind::Stream(_));
    if !matches!(outcome, Outcome::Http(_)) || !(is_call || form.is_grpc()) {
        return None;
    }
    let unknown = || Status::new(Code::UNKNOWN, "");
    Some(captured.map_or_else(unknown, |captured| grpc_status(hit, captured, form)))
}

/// The status of a call of gRPC: what the caller gets is judged in the same way.
fn grpc_status(hit: &Hit, captured: &CapturedResponse, form: AnswerForm) -> Status {
    let is_whole = captured.body.len() as u64 >= hit.progress.bytes_in;
    let reply = Reply {
        http_status: hit.progress.status,
        http_reason: std::str::from_utf8(&captured.reason).unwrap_or_default(),
        head: captured.head.as_deref().unwrap_or(&captured.headers),
        // A body that went by in parts, or was not kept, says nothing; nor does one of many messages.
        body: if is_whole && form != AnswerForm::Messages { &captured.body } else { &[] },
        trailers: &captured.trailers,
    };
    // A small body may become a large message: it has the caller's limit.
    let message_max = match hit.body_max {
        u64::MAX => RECEIVE_MAX.max(captured.body.len()),
        most => usize::try_from(most).unwrap_or(usize::MAX),
    };
    CallOutcome::of(&reply, message_max).status
}
