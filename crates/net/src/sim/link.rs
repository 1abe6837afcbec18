//! `Link`: one direction of a connection: bytes go in, segments come out later, in order, whatever happens to them.

use std::collections::VecDeque;

use stdx::{Nanos, Prng};

use super::fault::{Faults, end_of};

/// The world's chances: what each segment meets on its way.
#[derive(Debug)]
pub(super) struct Weather {
    pub(super) faults: Faults,
    pub(super) rng: Prng,
}

/// What arrives at a link's far end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Bytes(Vec<u8>),
    /// The near end closed; nothing follows.
    End,
    /// The near end, or something between, reset; nothing follows.
    Reset,
}

/// The receiver at a link's far end: a stalled server receives nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Toward {
    Peer,
    Worker,
}

/// One direction of a connection.
#[derive(Debug)]
pub(super) struct Link {
    toward: Toward,
    /// Given by the near end, not yet on the way.
    unsent: VecDeque<u8>,
    /// The near end closes after what is unsent.
    closing: bool,
    /// `End` or `Reset` is on the way: nothing more goes in.
    ended: bool,
    /// `Reset` is on the way, perhaps after an `End`.
    was_reset: bool,
    under_way: VecDeque<(Nanos, Piece)>,
    bytes_under_way: usize,
    /// When the wire is free for the next segment.
    free_at: Nanos,
    /// When the last segment arrives; none overtakes it.
    last_at: Nanos,
    /// The queue holds the arrival of the first segment under way.
    pub(super) is_armed: bool,
}

/// The most often that one segment is lost.
const LOSSES_MAX: u32 = 6;

impl Weather {
    /// Whether something of this chance comes true. Draws nothing where it cannot.
    pub(super) fn strikes(&mut self, chance: f64) -> bool {
        chance > 0.0 && self.rng.next_f64() < chance
    }

    /// One way's delay of one segment.
    pub(super) fn latency(&mut self) -> Nanos {
        let spread = self.faults.latency_max.saturating_sub(self.faults.latency_min);
        match spread.0 {
            0 => self.faults.latency_min,
            n => self.faults.latency_min.saturating_add(Nanos(self.rng.below(n.saturating_add(1)))),
        }
    }

    /// How much later something comes for being lost, perhaps more than once: `first`, then twice that, and so on.
    pub(super) fn lost_for(&mut self, first: Nanos) -> Nanos {
        let mut lost = Nanos::ZERO;
        for doubling in 0..LOSSES_MAX {
            if !self.strikes(self.faults.loss) {
                break;
            }
            lost = lost.saturating_add(Nanos(first.0 << doubling));
        }
        lost
    }

    fn segment_len(&mut self) -> usize {
        let spread = self.faults.segment_max - self.faults.segment_min;
        self.faults.segment_min + self.rng.below(spread as u64 + 1) as usize
    }

    /// How long the wire is busy with so many bytes.
    fn transmission(&self, len: usize) -> Nanos {
        match self.faults.bytes_per_s {
            0 => Nanos::ZERO,
            rate => Nanos(len as u64 * Nanos::SECOND.0 / rate),
        }
    }
}

impl Link {
    /// An empty link; nothing arrives before `not_before`.
    pub(super) const fn new(toward: Toward, not_before: Nanos) -> Self {
        Self {
            toward,
            unsent: VecDeque::new(),
            closing: false,
            ended: false,
            was_reset: false,
            under_way: VecDeque::new(),
            bytes_under_way: 0,
            free_at: Nanos::ZERO,
            last_at: not_before,
            is_armed: false,
        }
    }

    /// Takes bytes in; they go on their way with the next [`Link::pump`]. After a close or reset they are lost.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        if !self.closing && !self.ended {
            self.unsent.extend(bytes);
        }
    }

    /// The near end closes after what it put in.
    pub(super) const fn close(&mut self) {
        self.closing = true;
    }

    /// The near end resets: what is unsent is lost, what is under way arrives before the reset.
    pub(super) fn reset(&mut self, now: Nanos, weather: &mut Weather) {
        self.unsent.clear();
        if !self.was_reset {
            (self.ended, self.was_reset) = (true, true);
            self.depart(now, Piece::Reset, weather);
        }
    }

    /// Sends segments while the far end has room for them (in bytes), and the end after them.
    pub(super) fn pump(&mut self, now: Nanos, mut room: usize, weather: &mut Weather) {
        while !self.ended && room > 0 && !self.unsent.is_empty() {
            let mut len = weather.segment_len().min(self.unsent.len()).min(room);
            let strikes = weather.strikes(weather.faults.reset);
            if strikes {
                len /= 2;
            }
            if len > 0 {
                let bytes = self.unsent.drain(..len).collect();
                self.depart(now, Piece::Bytes(bytes), weather);
            }
            room -= len;
            if strikes {
                self.reset(now, weather);
            }
        }
        if self.closing && !self.ended && self.unsent.is_empty() {
            self.ended = true;
            self.depart(now, Piece::End, weather);
        }
    }

    /// Puts a piece on its way.
    fn depart(&mut self, now: Nanos, piece: Piece, weather: &mut Weather) {
        let len = match &piece {
            Piece::Bytes(bytes) => bytes.len(),
            Piece::End | Piece::Reset => 0,
        };
        let departs = end_of(&weather.faults.link_stalls, now.max(self.free_at));
        self.free_at = departs.saturating_add(weather.transmission(len));
        let delay = weather.latency().saturating_add(weather.lost_for(Faults::RETRANSMIT));
        let mut at = self.free_at.saturating_add(delay).max(self.last_at);
        at = end_of(&weather.faults.link_stalls, at);
        if self.toward == Toward::Peer {
            at = end_of(&weather.faults.server_stalls, at);
        }
        self.last_at = at;
        self.bytes_under_way += len;
        self.under_way.push_back((at, piece));
    }

    /// When the first segment under way arrives.
    pub(super) fn next_at(&self) -> Option<Nanos> {
        self.under_way.front().map(|(at, _)| *at)
    }

    /// Takes the first segment under way: it has arrived.
    pub(super) fn take(&mut self) -> Option<Piece> {
        let (_, piece) = self.under_way.pop_front()?;
        if let Piece::Bytes(bytes) = &piece {
            self.bytes_under_way -= bytes.len();
        }
        Some(piece)
    }

    /// Bytes on their way.
    pub(super) const fn bytes_under_way(&self) -> usize {
        self.bytes_under_way
    }

    /// Bytes that wait for room.
    pub(super) fn bytes_unsent(&self) -> usize {
        self.unsent.len()
    }

    /// Whether the near end has closed or reset, or the link was reset on the way.
    pub(super) const fn is_over(&self) -> bool {
        self.closing || self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weather(faults: Faults) -> Weather {
        Weather { faults: faults.bounded(), rng: Prng::new(3) }
    }

    fn arrivals(link: &mut Link) -> Vec<(Nanos, Piece)> {
        std::iter::from_fn(|| link.next_at().zip(link.take())).collect()
    }

    #[test]
    fn bytes_keep_their_order_through_any_weather() {
        let faults = Faults {
            latency_max: Nanos::from_millis(5),
            segment_min: 1,
            segment_max: 7,
            loss: 0.2,
            ..Faults::default()
        };
        let (mut link, mut weather) = (Link::new(Toward::Worker, Nanos::ZERO), weather(faults));
        let sent: Vec<u8> = (0..=255).collect();
        link.put(&sent);
        link.close();
        link.pump(Nanos::ZERO, usize::MAX, &mut weather);
        let arrived = arrivals(&mut link);
        assert!(arrived.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        assert!(arrived.last().expect("an end").0 > Faults::RETRANSMIT, "some are lost at 20 %");
        assert_eq!(arrived.last().expect("an end").1, Piece::End);
        let mut got = Vec::new();
        for (_, piece) in arrived {
            if let Piece::Bytes(bytes) = piece {
                assert!(bytes.len() <= 7);
                got.extend(bytes);
            }
        }
        assert_eq!(got, sent);
        assert_eq!(link.bytes_under_way(), 0);
    }

    #[test]
    fn a_reset_delivers_half_and_ends() {
        let faults = Faults { reset: 1.0, ..Faults::default() };
        let (mut link, mut weather) = (Link::new(Toward::Worker, Nanos::ZERO), weather(faults));
        link.put(&[7; 100]);
        link.close();
        link.pump(Nanos::ZERO, usize::MAX, &mut weather);
        let pieces: Vec<_> = arrivals(&mut link).into_iter().map(|(_, piece)| piece).collect();
        assert_eq!(pieces, [Piece::Bytes(vec![7; 50]), Piece::Reset]);
        link.put(b"late");
        link.pump(Nanos::ZERO, usize::MAX, &mut weather);
        assert_eq!((link.next_at(), link.bytes_unsent()), (None, 0));
    }

    #[test]
    fn bandwidth_and_stalls_delay() {
        let ms = Nanos::from_millis;
        let stall = super::super::Span { from: ms(5), to: ms(30) };
        let faults = Faults {
            bytes_per_s: 1_000_000,
            segment_min: 1000,
            segment_max: 1000,
            server_stalls: vec![stall],
            ..Faults::default()
        };
        let (mut link, mut weather) = (Link::new(Toward::Peer, Nanos::ZERO), weather(faults));
        link.put(&[0; 6000]);
        link.pump(Nanos::ZERO, 6000, &mut weather);
        let at: Vec<u64> = arrivals(&mut link).iter().map(|(at, _)| at.0 / 1000).collect();
        // 1 ms of transmission each and 50 µs of latency; the fifth falls into the stall.
        assert_eq!(at, [1050, 2050, 3050, 4050, 30_000, 30_000]);
    }
}
