//! The fuzz target's seeds as a plain test: each comes to what its name says; and what seeded changes make of them is survived.

#![allow(clippy::disallowed_methods, reason = "a test reads its seeds from files")]

#[path = "../../../fuzz/checks/grpc.rs"]
mod check;

use check::check;
use stdx::Prng;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/grpc/");
/// Changed seeds; 300,000 were tried once.
const CHANGED: usize = 20_000;

fn seed(name: &str) -> Vec<u8> {
    std::fs::read(format!("{CORPUS}{name}")).expect("a seed")
}

#[test]
fn seeds_come_to_what_they_say() {
    for (name, expect) in [
        ("two_messages", "13 2"),
        ("many_messages", "13 2"),
        ("trailers_only", "5 0"),
        ("gzip", "0 1"),
        ("bomb", "8 0"),
        ("too_large", "8 0"),
        ("cut_off", "13 0"),
        ("no_trailers", "13 1"),
        ("html", "2 0"),
        ("metadata", "13 0"),
        ("details", "3 0"),
        ("json", "read"),
        ("json_deep", "refused"),
        ("json_wrong", "refused"),
        ("message", "read"),
        ("message_deep", "read"),
        ("message_wrong", "refused"),
        ("protoset", "read"),
        ("protoset_wrong", "refused"),
        ("editions", "refused"),
        ("reflection", "read"),
        ("reflection_refusal", "refused"),
    ] {
        assert_eq!(check(&seed(name)), expect, "{name}");
    }
}

/// One to four changes: a byte anew, a byte taken out, a part doubled, two seeds joined.
fn changed(seeds: &[Vec<u8>], rng: &mut Prng) -> Vec<u8> {
    let at = |len: usize, rng: &mut Prng| rng.below(len.max(1) as u64) as usize;
    let mut bytes = seeds[at(seeds.len(), rng)].clone();
    for _ in 0..=rng.below(4) {
        let place = at(bytes.len(), rng);
        match rng.below(5) {
            0 if !bytes.is_empty() => bytes[place] = rng.below(256) as u8,
            1 if !bytes.is_empty() => bytes[place] ^= 1 << rng.below(8),
            2 if !bytes.is_empty() => drop(bytes.remove(place)),
            3 => {
                let part = bytes[place..].to_vec();
                bytes.extend_from_slice(&part[..part.len().min(64)]);
            }
            _ => {
                let other = &seeds[at(seeds.len(), rng)];
                bytes.truncate(place);
                bytes.extend_from_slice(&other[at(other.len(), rng)..]);
            }
        }
    }
    bytes
}

#[test]
fn changed_seeds_are_survived() {
    let mut names: Vec<_> = std::fs::read_dir(CORPUS)
        .expect("the corpus")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    names.sort();
    let seeds: Vec<Vec<u8>> =
        names.iter().map(|path| std::fs::read(path).expect("a seed")).collect();
    let mut rng = Prng::new(45);
    for _ in 0..CHANGED {
        check(&changed(&seeds, &mut rng));
    }
}
