//! Runs of two variants that were made in turn: which of them belong together in time.

/// Which run of `a` belongs to which one of `b`, by the Unix times at which they began: two runs of different variants that follow
/// each other are a pair, and each is in one pair at most. None where a time is not known (0).
pub(super) fn pairs(a: &[i64], b: &[i64]) -> Vec<(usize, usize)> {
    if a.iter().chain(b).any(|begun| *begun == 0) {
        return Vec::new();
    }
    let of = |times: &[i64], side: Side| {
        times.iter().enumerate().map(|(at, begun)| (*begun, side, at)).collect::<Vec<_>>()
    };
    let mut all = [of(a, Side::A), of(b, Side::B)].concat();
    all.sort_by_key(|(begun, ..)| *begun);
    let mut pairs = Vec::new();
    let mut open: Option<(Side, usize)> = None;
    for (_, side, at) in all {
        open = match (open, side) {
            (Some((Side::A, before)), Side::B) => {
                pairs.push((before, at));
                None
            }
            (Some((Side::B, before)), Side::A) => {
                pairs.push((at, before));
                None
            }
            _ => Some((side, at)),
        };
    }
    pairs
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    A,
    B,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_time_are_pairs() {
        assert_eq!(pairs(&[10, 30, 50], &[20, 40, 60]), [(0, 0), (1, 1), (2, 2)]);
        // Blocks in an order of their own: a b, b a, a b.
        assert_eq!(pairs(&[10, 40, 50], &[20, 30, 60]), [(0, 0), (1, 1), (2, 2)]);
        // In whatever order the files are.
        assert_eq!(pairs(&[50, 10], &[60, 20]), [(1, 1), (0, 0)]);
        assert_eq!(pairs(&[1, 2, 3], &[4, 5, 6]), [(2, 0)], "one after the other");
        assert_eq!(pairs(&[10, 0], &[20, 40]), [], "not known");
        assert_eq!(pairs(&[], &[1]), []);
    }
}
