//! protocols as state machines: bytes in, events out.
