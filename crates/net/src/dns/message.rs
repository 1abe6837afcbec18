//! DNS messages: questions out, answers in. It trusts nothing in an answer and does no I/O.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use simple_dns::rdata::RData;
use simple_dns::{CLASS, Name, Packet, PacketFlag, QCLASS, QTYPE, Question, RCODE, TYPE};

/// Which addresses are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// A records.
    V4,
    /// AAAA records.
    V6,
}

/// The content of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Addresses of the name, or of what its aliases lead to; may be empty (the name has none of this family).
    Addresses(Vec<IpAddr>),
    /// NXDOMAIN.
    NoSuchHost,
    /// SERVFAIL, REFUSED and their like.
    Misbehaving,
    /// It did not fit; ask again over TCP.
    CutOff,
}

/// A question to encode and the mark that its answer must bear.
#[derive(Clone, Copy, Debug)]
pub(super) struct Query<'a> {
    /// The name, without a final dot.
    pub(super) name: &'a str,
    /// Which addresses.
    pub(super) family: Family,
    /// Its number.
    pub(super) id: u16,
}

/// The longest chain of aliases that is followed.
const ALIASES_MAX: usize = 16;
/// The bytes that a question and a record take at least. // RFC 1035, 4.1.2 and 4.1.3.
const QUESTION_LEN_MIN: usize = 5;
const RECORD_LEN_MIN: usize = 11;

impl Query<'_> {
    /// The message to send; `None` if the name is no DNS name (empty or too long, or a label of it).
    pub(super) fn encode(&self) -> Option<Vec<u8>> {
        if self.name.split('.').any(str::is_empty) {
            return None;
        }
        let name = Name::new(self.name).ok()?;
        let mut packet = Packet::new_query(self.id);
        packet.set_flags(PacketFlag::RECURSION_DESIRED);
        packet.questions.push(Question::new(name, self.qtype(), CLASS::IN.into(), false));
        packet.build_bytes_vec().ok()
    }

    /// What `message` answers; `None` if it is not an answer to this question, or no DNS message at all.
    pub(super) fn decode(&self, message: &[u8]) -> Option<Answer> {
        if !counts_fit(message) {
            return None;
        }
        if simple_dns::header_buffer::has_flags(message, PacketFlag::TRUNCATION).ok()? {
            return self.is_own_id(message).then_some(Answer::CutOff);
        }
        let packet = Packet::parse(message).ok()?;
        if packet.id() != self.id || !packet.has_flags(PacketFlag::RESPONSE) {
            return None;
        }
        let asked = Name::new(self.name).ok()?;
        let [question] = packet.questions.as_slice() else { return None };
        if question.qname != asked
            || question.qtype != self.qtype()
            || question.qclass != QCLASS::CLASS(CLASS::IN)
        {
            return None;
        }
        Some(match packet.rcode() {
            RCODE::NoError => Answer::Addresses(self.addresses(&packet, asked)),
            RCODE::NameError => Answer::NoSuchHost,
            _ => Answer::Misbehaving,
        })
    }

    /// Whether a message that was cut off, and so cannot be read to its end, bears this question's number.
    fn is_own_id(&self, message: &[u8]) -> bool {
        simple_dns::header_buffer::id(message) == Ok(self.id)
            && simple_dns::header_buffer::has_flags(message, PacketFlag::RESPONSE) == Ok(true)
    }

    const fn qtype(&self) -> QTYPE {
        match self.family {
            Family::V4 => QTYPE::TYPE(TYPE::A),
            Family::V6 => QTYPE::TYPE(TYPE::AAAA),
        }
    }

    /// The addresses of `asked`, or of the name that its aliases lead to.
    fn addresses(&self, packet: &Packet<'_>, asked: Name<'_>) -> Vec<IpAddr> {
        let mut owner = asked.into_owned();
        for _ in 0..ALIASES_MAX {
            let own = packet.answers.iter().filter(|record| record.name == owner);
            let found: Vec<IpAddr> =
                own.clone().filter_map(|record| self.address(&record.rdata)).collect();
            if !found.is_empty() {
                return found;
            }
            let alias = own.clone().find_map(|record| match &record.rdata {
                RData::CNAME(target) => Some(target.0.clone().into_owned()),
                _ => None,
            });
            match alias {
                Some(target) => owner = target,
                None => break,
            }
        }
        Vec::new()
    }

    fn address(&self, rdata: &RData<'_>) -> Option<IpAddr> {
        match (self.family, rdata) {
            (Family::V4, RData::A(a)) => Some(Ipv4Addr::from(a.address).into()),
            (Family::V6, RData::AAAA(a)) => Some(Ipv6Addr::from(a.address).into()),
            _ => None,
        }
    }
}

/// Whether the message is long enough for the counts it claims, so that nothing is reserved for what cannot be there.
/// A message that was cut off claims what it once had, and is not read.
fn counts_fit(message: &[u8]) -> bool {
    use simple_dns::header_buffer::{
        additional_records, answers, has_flags, name_servers, questions,
    };
    if has_flags(message, PacketFlag::TRUNCATION) == Ok(true) {
        return true;
    }
    let counts =
        [questions(message), answers(message), name_servers(message), additional_records(message)];
    let [Ok(questions), Ok(answers), Ok(servers), Ok(additional)] = counts else { return false };
    let records = usize::from(answers) + usize::from(servers) + usize::from(additional);
    usize::from(questions) * QUESTION_LEN_MIN + records * RECORD_LEN_MIN <= message.len()
}
