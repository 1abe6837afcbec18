//! `cut`: an agent's part of a plan, where several machines share it.

use thiserror::Error;
use workload::{Load, Plan, SegmentSlice};

use crate::settings::Settings;

/// Why a part of a plan is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CutError {
    /// Too few users.
    #[error("{0} users are too few for all agents: one has none of them")]
    Users(u64),
    /// Too few requests may be under way at once.
    #[error("a limit of {0} requests under way is too small for all agents: one may send none")]
    InFlight(u64),
    /// Too few connections.
    #[error("{0} connections to a host are too few for all agents: one has none of them")]
    Connections(usize),
    /// Users that decide for themselves have numbers of their own.
    #[error("a script's users cannot be cut")]
    Script,
}

/// The part of a plan that has these numbers. The limits are cut as well: the parts of all agents come to the whole of
/// users, requests, connections and requests under way.
///
/// # Errors
/// The part has no user, or may not send anything.
pub fn cut(
    mut plan: Plan,
    mut settings: Settings,
    part: &SegmentSlice,
) -> Result<(Plan, Settings), CutError> {
    let count = |whole: usize| usize::try_from(part.count(whole as u64)).unwrap_or(usize::MAX);
    let conns = settings.max_connections.filter(|conns| *conns > 0);
    let own_conns = conns.map(count);
    match &mut plan.load {
        Load::Open { max_in_flight, .. } => {
            if let Some(max) = max_in_flight {
                let whole = *max;
                *max = Some(part.count(whole))
                    .filter(|own| *own > 0)
                    .ok_or(CutError::InFlight(whole))?;
            }
        }
        Load::Closed { users } => {
            let whole = *users;
            *users = match conns.zip(own_conns) {
                // Users that share connections evenly stay with them.
                Some((conns, own)) if whole.is_multiple_of(conns as u64) => {
                    own as u64 * (whole / conns as u64)
                }
                _ => part.count(whole),
            };
            if *users == 0 {
                return Err(CutError::Users(whole));
            }
            plan.hits_max = plan.hits_max.map(|max| part.count(max));
        }
        Load::Users(_) => return Err(CutError::Script),
    }
    if let Some((conns, 0)) = conns.zip(own_conns) {
        return Err(CutError::Connections(conns));
    }
    settings.max_connections = own_conns.or(settings.max_connections);
    settings.connections = count(settings.connections).max(1);
    plan.part = Some(part.clone());
    Ok((plan, settings))
}

#[cfg(test)]
mod tests {
    use workload::arrival::{Rate, Shape};
    use workload::{Segment, Targets};

    use super::*;

    fn parts() -> Vec<SegmentSlice> {
        let sequence = Some("0,1/2,3/4,1");
        let parse = |segment| Segment::parse(segment, sequence).unwrap().vus().clone();
        ["0:1/2", "1/2:3/4", "3/4:1"].map(parse).to_vec()
    }

    fn closed(users: u64) -> Plan {
        Plan { hits_max: Some(1001), ..Plan::new(Load::Closed { users }, Targets::default(), 1) }
    }

    #[test]
    fn parts_of_a_closed_loop_come_to_the_whole() {
        let settings =
            Settings { max_connections: Some(10), connections: 10, ..Settings::default() };
        let mut sums = (0, 0, 0, 0);
        for part in parts() {
            let (plan, settings) = cut(closed(40), settings.clone(), &part).unwrap();
            let Load::Closed { users } = plan.load else { panic!("closed stays closed") };
            let conns = settings.max_connections.unwrap();
            assert_eq!(users, 4 * conns as u64, "users stay with their connections");
            sums.0 += users;
            sums.1 += conns;
            sums.2 += settings.connections;
            sums.3 += plan.hits_max.unwrap();
        }
        assert_eq!(sums, (40, 10, 10, 1001));
    }

    #[test]
    fn parts_of_an_open_loop_cut_its_limit_and_not_its_numbers() {
        let shape = Shape::constant(Rate::per_second(10));
        let load = Load::Open { shape, max_in_flight: Some(9) };
        let whole = Plan { hits_max: Some(7), ..Plan::new(load, Targets::default(), 1) };
        let mut sum = 0;
        for part in parts() {
            let (plan, _) = cut(whole.clone(), Settings::default(), &part).unwrap();
            let Load::Open { max_in_flight, .. } = plan.load else { panic!("open stays open") };
            sum += max_in_flight.unwrap();
            assert_eq!((plan.hits_max, plan.part), (Some(7), Some(part)));
        }
        assert_eq!(sum, 9);
    }

    #[test]
    fn a_part_with_nothing_to_do_is_refused() {
        let last = &parts()[2];
        let refused = |plan, settings| cut(plan, settings, last).err();
        assert_eq!(refused(closed(3), Settings::default()), Some(CutError::Users(3)));
        let few = Settings { max_connections: Some(3), ..Settings::default() };
        assert_eq!(refused(closed(100), few), Some(CutError::Connections(3)));
        let shape = Shape::constant(Rate::per_second(10));
        let open = Load::Open { shape, max_in_flight: Some(2) };
        let open = Plan::new(open, Targets::default(), 1);
        assert_eq!(refused(open, Settings::default()), Some(CutError::InFlight(2)));
    }
}
