//! The known word that a mistyped one probably stands for.

/// The nearest of `known` by edits (insert, delete, replace, swap neighbours); `None` where none is near enough to help:
/// at most two edits, and fewer than half of the word.
#[must_use]
pub fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|word| (distance(typed, word), word))
        .filter(|&(edits, word)| edits <= 2 && 2 * edits < word.len().max(typed.len()))
        .min()
        .map(|(_, word)| word)
}

/// Edits between two words (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found() {
        let known = ["duration", "rate", "targets", "timeout", "workers", "max-workers", "q"];
        let cases = [
            ("duraton", Some("duration")),
            ("reta", None),
            ("rat", Some("rate")),
            ("raet", Some("rate")),
            ("target", Some("targets")),
            ("max_workers", Some("max-workers")),
            ("x", None),
            ("banana", None),
        ];
        for (typed, nearest_word) in cases {
            assert_eq!(nearest(typed, known.into_iter()), nearest_word, "{typed}");
        }
    }
}
