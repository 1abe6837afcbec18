//! A call is sent, and answered.

use grpc::{CallOutcome, Code, Reply};
use metrics::tally::MetricId;
use workload::EngineResponse;

use super::failure;
use super::pending::{CallLabels, PendingCall};
use crate::host::action::ActionResult;
use crate::host::grpc::{GrpcKind, GrpcRequest, GrpcResponse};
use crate::host::traits::Host as _;
use crate::host::virtual_user::UserProgram;
use crate::http::call::HttpCall;
use crate::pool::slot::RequestOwner;
use crate::pool::vu_pool::VuPool;

impl<P: UserProgram> VuPool<P> {
    /// Sends a call on its channel.
    pub(crate) fn send_call(&mut self, owner: RequestOwner, request: GrpcRequest) {
        let (pending, http) = PendingCall::split(request);
        let mut call = HttpCall::first_hop(owner, http);
        call.grpc = Some(Box::new(pending));
        let target = self.targets.get(&call);
        self.submit(target, false, call);
    }

    /// A call is answered, or was not.
    pub(crate) fn finish_call(
        &mut self,
        call: HttpCall,
        pending: &PendingCall,
        reply: &EngineResponse<'_>,
    ) {
        let owner = call.owner;
        let outcome = outcome_of(pending, reply);
        let took_ms = reply.done.saturating_sub(reply.due).0 as f64 / 1e6;
        if matches!(pending.kind, GrpcKind::Call | GrpcKind::Probe) {
            let http = call.into_request();
            let labels = CallLabels {
                call: pending,
                http: &http,
                status: outcome.status.code.0,
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
    if let Some(status) = failure::status_of(reply) {
        return CallOutcome { status, ..CallOutcome::default() };
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

/// The words behind the status in a status line.
fn reason(head: &[u8]) -> String {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    line.splitn(3, ' ').nth(2).unwrap_or_default().to_owned()
}
