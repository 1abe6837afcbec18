//! Room for recursion: a stack of its own for what recurses as deep as a script is nested. It is reserved, and only what is used
//! takes memory.

use corosensei::on_stack;
use corosensei::stack::DefaultStack;

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
        // Nobody has that much address space.
        assert!(within(1 << 60, |bytes| bytes) < 1 << 50);
    }
}
