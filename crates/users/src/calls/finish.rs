//! A call is sent, and answered.

use grpc::{CallOutcome, Code, Reply};
use metrics::tally::MetricId;
use stdx::{MemoryShare, OutOfMemory};
use workload::{EngineResponse, FailureDetail};

use super::failure;
use super::pending::{CallLabels, PendingCall};
use super::stream_state::{StreamState, one_too_many, reason};
use crate::host::action::ActionResult;
use crate::host::grpc::{GrpcKind, GrpcRequest, GrpcResponse, Replies};
use crate::host::traits::Host as _;
use crate::host::virtual_user::UserProgram;
use crate::http::call::HttpCall;
use crate::pool::slot::RequestOwner;
use crate::pool::vu_pool::VuPool;

impl<P: UserProgram> VuPool<P> {
    /// Sends a call on its channel.
    pub(crate) fn send_call(&mut self, owner: RequestOwner, request: GrpcRequest) {
        let (pending, mut http) = PendingCall::split(request);
        for (name, value) in &*self.plan.http.default_headers {
            http.default_header(name, value);
        }
        let mut call = HttpCall::first_hop(owner, http);
        call.grpc = Some(Box::new(pending));
        let (target, is_stream) = (self.targets.get(&call), call.stream_mut().is_some());
        let user = self.submit(target, false, call);
        if is_stream {
            self.note_stream(owner, user);
        }
    }

    /// A call is answered, or was not.
    pub(crate) fn finish_call(
        &mut self,
        call: HttpCall,
        pending: PendingCall,
        reply: &EngineResponse<'_>,
    ) {
        if pending.stream.is_some() {
            return self.finish_stream(call, pending, reply);
        }
        let owner = call.owner;
        let outcome = outcome_of(&pending, reply);
        let took_ms = reply.done.saturating_sub(reply.due).0 as f64 / 1e6;
        if matches!(pending.kind, GrpcKind::Call | GrpcKind::Probe) {
            let http = call.into_request();
            let labels = CallLabels {
                call: &pending,
                http: &http,
                status: Some(outcome.status.code.0),
                ip: reply.remote.map(|remote| remote.ip()),
            };
            let (sampled, at) = (self.slots[owner.slot].sampled(), self.host.sampled_at());
            let values = [(MetricId::GRPC_REQ_DURATION, took_ms)];
            self.recorder.grpc(sampled, &labels, at, &values);
        }
        let response = Box::new(GrpcResponse { outcome, took_ms });
        self.answers.push_back((owner, ActionResult::Grpc(response)));
    }
}

fn outcome_of(pending: &PendingCall, reply: &EngineResponse<'_>) -> CallOutcome {
    if pending.kind == GrpcKind::Dial {
        return failure::dial_text(reply).map_or_else(CallOutcome::default, |text| {
            CallOutcome::failed(Code::UNAVAILABLE, text)
        });
    }
    if reply.detail == FailureDetail::BodyTooLong {
        return too_long(pending, reply);
    }
    if let Some(status) = failure::status_of(reply) {
        return CallOutcome { status, ..CallOutcome::default() };
    }
    // The body is there once, and twice more while its message is taken out.
    let mut copies = MemoryShare::default();
    if reply.detail == FailureDetail::BodyCut || copies.resize(2 * reply.body.len()).is_err() {
        return CallOutcome::failed(Code::RESOURCE_EXHAUSTED, OutOfMemory.to_string());
    }
    let head = reply.head.as_deref().unwrap_or_default();
    let reason = reason(head);
    let reply = Reply {
        http_status: reply.status,
        http_reason: &reason,
        head,
        body: reply.body,
        trailers: reply.trailers,
    };
    CallOutcome::of(&reply, pending.receive_max)
}

/// The body has more bytes than one message may have: it was cut, and its beginning shows the reason.
fn too_long(pending: &PendingCall, reply: &EngineResponse<'_>) -> CallOutcome {
    let mut state = StreamState::new(Replies::One, pending.receive_max);
    state.begin(200, reply.head.as_deref().unwrap_or_default());
    state.push(reply.body, &mut |_| {});
    let status = state.end.unwrap_or_else(one_too_many);
    CallOutcome { status, ..CallOutcome::default() }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::host::http::HttpRequest;

    fn pending() -> PendingCall {
        let http = Box::new(HttpRequest::new(Rc::from("http://h:1/p.S/M"), Rc::from("")));
        let request = GrpcRequest {
            http,
            channel: 0,
            kind: GrpcKind::Call,
            path: "/p.S/M".to_owned(),
            address: "h:1".to_owned(),
            receive_max: 10,
            replies: Replies::One,
            tls: None,
        };
        PendingCall::split(request).0
    }

    /// Issue 45: a message for which there is no memory, and one that is too large, end their calls with gRPC's own status.
    #[test]
    fn what_there_is_no_room_for_exhausts_resources() {
        let head: &[u8] = b"HTTP/2.0 200 OK\r\ncontent-type: application/grpc\r\n";
        for (detail, failure, body, text) in [
            (FailureDetail::BodyCut, None, &b"\0\0\0\0\x05ab"[..], "no memory is left"),
            (
                FailureDetail::BodyTooLong,
                Some(("too-large", "the body".to_owned())),
                &b"\0\0\0\0\x0b01234567890"[..],
                "received message larger than max (11 vs. 10)",
            ),
        ] {
            let reply = EngineResponse {
                status: 200,
                head: Some(head.into()),
                body,
                detail,
                failure,
                trailers: b"grpc-status: 0\r\n",
                ..EngineResponse::default()
            };
            let status = outcome_of(&pending(), &reply).status;
            assert_eq!(status.code, Code::RESOURCE_EXHAUSTED);
            assert!(status.message.contains(text), "{}", status.message);
        }
    }
}
