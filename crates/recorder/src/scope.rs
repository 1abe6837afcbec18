//! `Scope`: the hosts whose requests are kept.

/// The hosts whose requests are kept, with all their ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The host of the first page that is gone to, known from its answer on; everything until then.
    #[default]
    FirstPage,
    /// These hosts and those below them (`shop.example` has `api.shop.example`).
    Hosts(Vec<String>),
    /// Every host.
    AllHosts,
}

impl Scope {
    /// Hosts that a person has named: letter case and a last dot do not matter.
    #[must_use]
    pub fn named(hosts: &[String]) -> Self {
        Self::Hosts(hosts.iter().map(|host| plain(host)).collect())
    }

    /// Whether requests to this host (without a port) are kept, as far as it is known.
    #[must_use]
    pub fn covers(&self, host: &str) -> bool {
        match self {
            Self::FirstPage | Self::AllHosts => true,
            Self::Hosts(hosts) => {
                let host = plain(host);
                hosts.iter().any(|one| is_below(&host, one))
            }
        }
    }

    /// The scope of a person who went to a page, by the hosts that led to it and its own: `www.` is the site itself.
    pub(crate) fn of_pages<'a>(hosts: impl Iterator<Item = &'a str>) -> Self {
        Self::Hosts(hosts.map(site).collect())
    }
}

fn site(host: &str) -> String {
    let host = plain(host);
    let site = host.strip_prefix("www.").filter(|rest| rest.contains('.'));
    site.map_or(host.clone(), str::to_owned)
}

fn plain(host: &str) -> String {
    let host = host.trim().trim_end_matches('.').trim_start_matches("*.");
    host.trim_matches(['[', ']']).to_ascii_lowercase()
}

fn is_below(host: &str, site: &str) -> bool {
    let Some(before) = host.strip_suffix(site) else { return false };
    before.is_empty() || (before.ends_with('.') && !site.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_those_below_it() {
        let scope = Scope::named(&["Shop.example.".to_owned(), "[::1]".to_owned()]);
        for (host, is_kept) in [
            ("shop.example", true),
            ("API.shop.example", true),
            ("shop.example.", true),
            ("::1", true),
            ("[::1]", true),
            ("workshop.example", false),
            ("shop.example.evil.test", false),
            ("example", false),
            ("", false),
        ] {
            assert_eq!(scope.covers(host), is_kept, "{host}");
        }
        assert!(Scope::FirstPage.covers("any") && Scope::AllHosts.covers("any"));
        assert!(!Scope::named(&[String::new()]).covers("any.example"));
        assert!(Scope::of_pages(["www.shop.example"].into_iter()).covers("api.shop.example"));
        assert!(!Scope::of_pages(["app.shop.example"].into_iter()).covers("shop.example"));
        assert!(Scope::of_pages(["127.0.0.1"].into_iter()).covers("127.0.0.1"));
    }
}
