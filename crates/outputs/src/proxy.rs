//! The proxy of requests that are no load: by the rules that load has, and no others.

use ureq::{Proxy, ProxyProtocol};
use wire::proxy::{ProxyScheme, ProxyVariables};
use wire::url::Url;

use crate::error::OutputError;

/// The proxy that the environment names for a URL (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`); `None` if it is asked directly.
///
/// # Errors
/// The variable names no proxy that is spoken, or the URL is none: nothing may be sent then.
pub fn proxy_of(url: &str) -> Result<Option<Proxy>, OutputError> {
    proxy_by(url, &ProxyVariables::read(|name| std::env::var(name).ok()))
}

fn proxy_by(url: &str, variables: &ProxyVariables) -> Result<Option<Proxy>, OutputError> {
    let address = || OutputError::Address(stdx::shown_url(url).into_owned());
    let url = Url::parse(url).map_err(|_| address())?;
    let Some(proxy) = variables.proxy_of(&url)? else { return Ok(None) };
    let protocol = match proxy.scheme {
        ProxyScheme::Http => ProxyProtocol::Http,
        ProxyScheme::Https => ProxyProtocol::Https,
        // The proxy resolves names, as it does for load.
        ProxyScheme::Socks5 => ProxyProtocol::Socks5h,
    };
    let host = if proxy.host.contains(':') { format!("[{}]", proxy.host) } else { proxy.host };
    let mut built = Proxy::builder(protocol).host(&host).port(proxy.port);
    if let Some((user, password)) = &proxy.credentials {
        built = built.username(user).password(password);
    }
    built.build().map(Some).map_err(|_| address())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_the_proxy_of_its_scheme_and_no_other() {
        let variables = ProxyVariables {
            http: Some("socks5://u%40:p@[::1]:9".to_owned()),
            https: Some("ftp://nowhere".to_owned()),
            no_proxy: "10.0.0.0/8".to_owned(),
        };
        let proxy = proxy_by("http://a.test:8086/write", &variables).unwrap().unwrap();
        assert_eq!((proxy.protocol(), proxy.port()), (ProxyProtocol::Socks5h, 9));
        assert_eq!((proxy.username(), proxy.password()), (Some("u@"), Some("p")));
        assert!(!proxy.resolve_target());
        assert!(proxy_by("https://a.test/", &variables).is_err(), "ftp is not spoken");
        for direct in ["http://10.9.8.7/", "http://localhost:8086/", "https://127.0.0.1/"] {
            assert_eq!(proxy_by(direct, &variables).unwrap(), None, "{direct}");
        }
    }
}
