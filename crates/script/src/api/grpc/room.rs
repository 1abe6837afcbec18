//! Room on the stack for what recurses over messages: a VU's own stack has little left below deep JavaScript.

use ::grpc::json::{MessageDescriptor, nests_deeply};

use crate::runtime::deep_stack;

/// Messages of so few bytes nest no deeper than a VU's stack allows: a level takes two bytes.
const SMALL_BYTES: usize = 64;
/// The stack for others, of which only what is used takes memory: 4 MiB.
const ROOM_BYTES: usize = 4 << 20;

/// Does something with a message of this type that has so many bytes.
pub(super) fn with_room_for<T>(
    of: &MessageDescriptor,
    bytes: usize,
    body: impl FnOnce() -> T,
) -> T {
    if bytes > SMALL_BYTES && nests_deeply(of) { with_room(body) } else { body() }
}

/// Does something with messages of types that are not known before.
pub(super) fn with_room<T>(body: impl FnOnce() -> T) -> T {
    deep_stack::within(ROOM_BYTES, |_| body())
}
