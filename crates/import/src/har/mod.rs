//! HARs of browsers and proxies: the requests of the site itself, with the values that come from answers taken there.
//!
//! ```text
//! text ─▶ archive (entries) ─▶ select (own hosts, chains of redirects) ─▶ correlate (find, look, facts)
//!                                                  sinks, body, cookies, socket ─▶ build: groups, pauses, notes
//! ```

mod archive;
mod body;
mod build;
mod cookies;
mod correlate;
mod entry;
mod facts;
mod find;
mod headers;
mod index;
mod item;
mod look;
mod moment;
mod notes;
mod received;
mod select;
mod sinks;
mod socket;
mod surroundings;
mod tokens;
mod unbound;
mod whole;

use std::collections::BTreeSet;

use archive::Archive;
use correlate::{Correlator, Unit};
use index::Index;

use crate::{Import, ImportError, Input, Kind};

/// How often the search begins anew because a redirect must not be followed.
const ROUNDS_MAX: usize = 6;

pub(crate) fn import(input: &Input<'_>) -> Result<Import, ImportError> {
    let (mut archive, fault) = Archive::of(input.text);
    let mut import =
        Import { inputs: vec![(input.name.to_owned(), Kind::Har)], ..Import::default() };
    notes::add_faults(&mut import, input, &archive, fault.as_ref());
    // Proxies write entries as they end, browsers as they begin.
    archive.entries.sort_by_key(|entry| entry.started_ms.unwrap_or(0));
    let mut reasons = select::reasons(&archive.entries);
    select::keep_cookie_setters(&archive.entries, &mut reasons);
    notes::add_left_out(&mut import, input, &archive.entries, &reasons);
    notes::add_sanitised(&mut import, input, &archive);
    let replayed: Vec<usize> = (0..reasons.len()).filter(|at| reasons[*at].is_none()).collect();
    Ok(replay(&import, input, &archive, &replayed))
}

/// The import with the groups of the recording. A redirect that alone has a value is not followed, which only the search shows:
/// it begins anew with that redirect split, a few times at most.
fn replay(import: &Import, input: &Input<'_>, archive: &Archive, replayed: &[usize]) -> Import {
    let mut split = BTreeSet::new();
    let mut index = Index::default();
    let mut round = 0;
    loop {
        let units = units(archive, replayed, &split, &mut index);
        let mut correlator = Correlator::new(&archive.entries, &units);
        let mut built = import.clone();
        build::add_groups(&mut built, input, archive, &mut correlator);
        let is_settled = correlator.split.is_subset(&split);
        // The redirects that are split by now are enough for all but the last values found.
        if is_settled || round == ROUNDS_MAX {
            return built;
        }
        split.append(&mut correlator.split);
        round += 1;
    }
}

fn units(
    archive: &Archive,
    replayed: &[usize],
    split: &BTreeSet<usize>,
    index: &mut Index,
) -> Vec<Unit> {
    let unit = |chain: Vec<usize>| {
        let known = index.answer(&archive.entries, chain[chain.len() - 1]);
        Unit { chain, known }
    };
    select::chains(&archive.entries, replayed, split).into_iter().map(unit).collect()
}
