//! Room for recursion: a stack of its own for what recurses as deep as a script is nested. It is reserved, and only what is used
//! takes memory.

use corosensei::on_stack;
use corosensei::stack::DefaultStack;

/// A VU's stack: 256 KiB, of which only what is used takes memory.
pub(crate) const VU_STACK_BYTES: usize = 256 << 10;
/// What of it is left to our own functions below JavaScript's deepest: 64 KiB.
const VU_STACK_SPARE_BYTES: usize = 64 << 10;
/// What of a VU's stack JavaScript may use.
pub(crate) const VU_JS_STACK_BYTES: usize = VU_STACK_BYTES - VU_STACK_SPARE_BYTES;
/// What JavaScript may use of the stack that a program is compiled on when it runs, and of a worker's when its bytecode is
/// read: 1 MiB, as QuickJS has it.
pub(crate) const RUN_STACK_BYTES: usize = 1 << 20;
/// A smaller stack than this is not made: 4 MiB, the half of what a process begins with.
const BYTES_MIN: usize = 4 << 20;

/// Runs `body` on a stack of so many bytes, or of fewer where the machine does not give them; `body` is handed how many.
pub(crate) fn within<T>(bytes: usize, body: impl FnOnce(usize) -> T) -> T {
    let halves = std::iter::successors(Some(bytes), |bytes| Some(bytes / 2));
    for bytes in halves.take_while(|bytes| *bytes >= BYTES_MIN) {
        if let Ok(stack) = DefaultStack::new(bytes) {
            return on_stack(stack, || body(bytes));
        }
    }
    body(BYTES_MIN / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(levels: usize) -> usize {
        let room = std::hint::black_box([1_u8; 1024]);
        if levels == 0 { 0 } else { depth(levels - 1) + usize::from(room[levels % 1024]) }
    }

    #[test]
    fn there_is_room() {
        // A test's thread has 2 MiB.
        assert_eq!(within(256 << 20, |bytes| (bytes, depth(20_000))), (256 << 20, 20_000));
        // No address space is that large (1 EiB).
        assert!(within(1 << 60, |bytes| bytes) < 1 << 50);
    }
}
