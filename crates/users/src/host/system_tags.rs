//! `SystemTags`: which of k6's own tags samples have.

/// One of k6's own tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[expect(missing_docs, reason = "each is k6's tag of this name")]
pub enum SystemTag {
    Proto,
    Subproto,
    Status,
    Method,
    Url,
    Name,
    Group,
    Check,
    Error,
    ErrorCode,
    TlsVersion,
    Scenario,
    Service,
    ExpectedResponse,
    Iter,
    Vu,
    OcspStatus,
    Ip,
}

/// k6's names of them, in their order.
const NAMES: [(&str, SystemTag); 18] = [
    ("proto", SystemTag::Proto),
    ("subproto", SystemTag::Subproto),
    ("status", SystemTag::Status),
    ("method", SystemTag::Method),
    ("url", SystemTag::Url),
    ("name", SystemTag::Name),
    ("group", SystemTag::Group),
    ("check", SystemTag::Check),
    ("error", SystemTag::Error),
    ("error_code", SystemTag::ErrorCode),
    ("tls_version", SystemTag::TlsVersion),
    ("scenario", SystemTag::Scenario),
    ("service", SystemTag::Service),
    ("expected_response", SystemTag::ExpectedResponse),
    ("iter", SystemTag::Iter),
    ("vu", SystemTag::Vu),
    ("ocsp_status", SystemTag::OcspStatus),
    ("ip", SystemTag::Ip),
];

impl SystemTag {
    /// k6's name of it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        NAMES[self as usize].0
    }
}

/// A set of k6's own tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemTags(u32);

/// k6's: all but iter, vu, ocsp_status and ip.
impl Default for SystemTags {
    fn default() -> Self {
        Self((1 << SystemTag::Iter as u32) - 1)
    }
}

impl SystemTags {
    /// The set of the tags of these names; unknown names are ignored, as in k6.
    #[must_use]
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let one = |name: &str| {
            let known = NAMES.iter().find(|(known, _)| *known == name.trim());
            known.map_or(0, |(_, tag)| 1 << (*tag as u32))
        };
        Self(names.into_iter().fold(0, |set, name| set | one(name)))
    }

    /// Whether a tag is in the set.
    #[must_use]
    pub const fn has(self, tag: SystemTag) -> bool {
        self.0 & (1 << tag as u32) != 0
    }

    /// The set without one of its tags.
    #[must_use]
    pub const fn without(self, tag: SystemTag) -> Self {
        Self(self.0 & !(1 << tag as u32))
    }

    /// The names in the set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES.iter().filter(move |(_, tag)| self.has(*tag)).map(|(name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_of_names() {
        assert!(NAMES.iter().enumerate().all(|(at, (_, tag))| *tag as usize == at));
        let default = SystemTags::default();
        assert!(default.has(SystemTag::ExpectedResponse) && !default.has(SystemTag::Vu));
        let some = SystemTags::named(["status", " vu", "nothing"]);
        assert_eq!(some.names().collect::<Vec<_>>(), ["status", "vu"]);
    }
}
