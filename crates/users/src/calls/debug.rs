//! Calls in the log (`httpDebug`): the fields of both sides and, with `full`, the bytes of the messages.

use std::fmt::Write as _;

use workload::EngineResponse;

use super::pending::PendingCall;
use crate::host::grpc::GrpcKind;
use crate::host::traits::Level;
use crate::host::virtual_user::UserProgram;
use crate::http::call::HttpCall;
use crate::http::plan::HttpDebug;
use crate::pool::vu_pool::VuPool;

/// The bytes of a message that are shown, at most.
const SHOWN_MAX: usize = 1 << 10;

impl<P: UserProgram> VuPool<P> {
    /// Logs a call that has ended, where that is wanted.
    pub(crate) fn debug_call(
        &self,
        call: &HttpCall,
        pending: &PendingCall,
        reply: &EngineResponse<'_>,
    ) {
        let Some(debug) = self.plan.http.debug.filter(|_| pending.kind != GrpcKind::Dial) else {
            return;
        };
        let fields = [("source", "http-debug")];
        (self.plan.log)(Level::Info, &asked(call, &pending.path, debug), &fields);
        (self.plan.log)(Level::Info, &answered(reply, debug), &fields);
    }
}

/// The request, without what redaction hides.
fn asked(call: &HttpCall, path: &str, debug: HttpDebug) -> String {
    let mut text = format!("Out Header:\nFull Method: {path}\n");
    for (name, value) in call.headers() {
        let shown = stdx::redacted_value(name, value.as_bytes());
        let value = shown.as_deref().unwrap_or(value);
        text.push_str(&format!("{name}: {value}\n"));
    }
    if let Some(body) = call.body() {
        push_payload("Out", body, debug, &mut text);
    }
    text
}

/// The response, and the failure where there is one.
fn answered(reply: &EngineResponse<'_>, debug: HttpDebug) -> String {
    let mut text = String::from("In Header:\n");
    push_lines(reply.head.as_deref().unwrap_or_default(), &mut text);
    if !reply.body.is_empty() {
        push_payload("In", reply.body, debug, &mut text);
    }
    text.push_str("\nIn Trailer:\n");
    push_lines(reply.trailers, &mut text);
    if let Some((_, reason)) = &reply.failure {
        text.push_str(&format!("\nEnd:\n{reason}\n"));
    }
    text
}

fn push_lines(lines: &[u8], text: &mut String) {
    let shown = stdx::redacted_lines(lines);
    let shown = String::from_utf8_lossy(shown.as_deref().unwrap_or(lines));
    text.push_str(&shown.replace('\r', ""));
}

/// The length of a body and, with `full`, its first bytes in hexadecimal: its type is not known here.
fn push_payload(side: &str, body: &[u8], debug: HttpDebug, text: &mut String) {
    text.push_str(&format!("\n{side} Payload:\nWire Length: {}\n", body.len()));
    if debug == HttpDebug::Full {
        for byte in &body[..body.len().min(SHOWN_MAX)] {
            write!(text, "{byte:02x}").expect("a String takes every byte");
        }
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_a_call_are_shown_without_secrets() {
        // It holds for the process; no other test has a field of this name.
        stdx::redact("x-hidden");
        let head: &[u8] = b"HTTP/2.0 200 OK\r\nx-hidden: secret\r\nx: 1\r\n";
        let reply = EngineResponse {
            head: Some(head.into()),
            body: b"\0\0\0\0\x01\xfe",
            trailers: b"grpc-status: 5\r\n",
            ..EngineResponse::default()
        };
        let text = answered(&reply, HttpDebug::Full);
        assert!(text.contains("In Trailer:\ngrpc-status: 5\n"), "{text}");
        assert!(text.contains("Wire Length: 6\n0000000001fe\n"), "{text}");
        assert!(text.contains("x: 1\n") && !text.contains("secret"), "{text}");
        assert!(!answered(&reply, HttpDebug::Heads).contains("fe"));
    }
}
