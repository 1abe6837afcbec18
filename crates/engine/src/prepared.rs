//! `Prepared`: a plan made ready: requests rendered, TLS set up. Shared by all workers, read only.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use metrics::Generator;
use wire::h1::request::{HeadStyle, TargetForm};
use wire::tls::rustls::pki_types::CertificateDer;
use wire::tls::{
    self, Agreed, ClientSetup, Offer, Resumption, ServerNaming, TlsClient, TlsSetupError,
    Verification,
};
use wire::url::{Url, without_zone};
use workload::{ChannelTls, Load, Plan, Target, TargetRef};

use crate::endpoint_rotation::EndpointRotation;
use crate::error::{CertificateRole, StartError};
use crate::hit::Hit;
use crate::host_policy;
use crate::origin::Origin;
use crate::request::{Addressing, Request, RequestDefaults, Unsendable};
use crate::response_handler::Decode;
use crate::route::{self, Purpose, Route};
use crate::settings::{Capture, ClientIdentity, Protocol, Settings};
use crate::worker_demand::WorkerDemand;

/// A plan made ready.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) plan: Plan,
    pub(crate) settings: Settings,
    /// How many workers a rate keeps busy.
    pub(crate) demand: WorkerDemand,
    /// The most that is captured of a body, in bytes, whatever is asked for.
    pub(crate) body_most: u64,
    /// The plan's targets, in their order; none of them where they are more than [`LIST_MAX`].
    pub(crate) requests: Vec<Result<Request, Unsendable>>,
    pub(crate) defaults: RequestDefaults,
    /// Which endpoint is next where several are dialled for one name.
    pub(crate) rotation: EndpointRotation,
    /// The same as `defaults` for what users ask for to get pipes.
    upgrade_defaults: RequestDefaults,
    tls: OnceLock<Result<Arc<TlsClient>, TlsSetupError>>,
    /// The same with each of the client certificates that are for some hosts.
    tls_known: Vec<OnceLock<Result<Arc<TlsClient>, TlsSetupError>>>,
    /// For connections that are to leave HTTP/1.1, so that they must not agree on HTTP/2: for each of the client
    /// certificates, and for the rest at the end.
    tls_upgrading: Vec<OnceLock<Result<Arc<TlsClient>, TlsSetupError>>>,
    /// For channels with certificates of their own.
    tls_channels: Mutex<HashMap<Arc<ChannelTls>, Result<Arc<TlsClient>, TlsSetupError>>>,
}

impl Prepared {
    /// The capture of a hit's body, and its most bytes. A call's message is wanted whole, up to its caller's limit: the memory of
    /// the process alone may cut it.
    pub(crate) fn body_limits(&self, hit: &Hit) -> (Capture, u64) {
        let capture = self.settings.capture;
        match hit.whole_body_max() {
            Some(max) if max > self.body_most => (Capture { body_max: max, ..capture }, max),
            _ => (capture, self.body_most),
        }
    }

    /// Renders the requests and, where a target wants TLS or a flag names a certificate, sets up TLS.
    pub(crate) fn new(plan: Plan, settings: Settings) -> Result<Self, StartError> {
        let has_secure_proxy = route::check_proxies(&settings, plan.targets.list())
            .map_err(|(url, reason)| StartError::Proxy { url, reason })?;
        let defaults = RequestDefaults::of(&plan.name, &settings);
        let list = plan.targets.list();
        let made_before = list.iter().take(if list.len() <= LIST_MAX { LIST_MAX } else { 0 });
        let made = |target: TargetRef<'_>| request(&target.to_target(), &defaults, &settings);
        let requests: Vec<_> = made_before.map(made).collect();
        let given = &settings.tls;
        let wants_tls = has_secure_proxy
            || !given.root_certs_pem.is_empty()
            || given.cert_pem.is_some()
            || given.key_pem.is_some()
            || list.iter().any(is_secure);
        let tls_known = given.identities.iter().map(|_| OnceLock::new()).collect();
        let tls_upgrading = (0..=given.identities.len()).map(|_| OnceLock::new()).collect();
        let tls = OnceLock::new();
        let rotation = EndpointRotation::of(&settings);
        let upgrade_defaults = defaults.of_upgrades();
        let prepared = Self {
            demand: WorkerDemand::of(&plan.targets),
            plan,
            body_most: settings.capture.most(),
            settings,
            requests,
            defaults,
            rotation,
            upgrade_defaults,
            tls,
            tls_known,
            tls_upgrading,
            tls_channels: Mutex::default(),
        };
        if let Err(reason) = prepared.try_identities() {
            return Err(StartError::Certificate { role: CertificateRole::ClientOfHosts, reason });
        }
        if wants_tls && let Err(reason) = prepared.tls() {
            let role = match prepared.settings.tls.cert_pem {
                Some(_) => CertificateRole::Client,
                None => CertificateRole::Roots,
            };
            return Err(StartError::Certificate { role, reason });
        }
        Ok(prepared)
    }

    /// The plan's part of the generator's record.
    pub(crate) fn generator(&self, workers: usize, io: &str) -> Generator {
        let plan = &self.plan;
        let (max_in_flight, users, rate_per_s) = match &plan.load {
            Load::Open { shape, max_in_flight } => {
                (max_in_flight.unwrap_or(0), 0, shape.mean_rate_per_s(plan.duration))
            }
            Load::Closed { users } => (0, *users, 0.0),
            Load::Users(crew) => (0, crew.users, 0.0),
        };
        Generator {
            workers: workers as u32,
            io: io.to_owned(),
            tick: self.settings.tick,
            max_in_flight,
            users,
            self_paced: matches!(plan.load, Load::Users(_)),
            server_here: self.is_server_here(),
            rate_per_s,
            seed: plan.seed,
            ..Generator::default()
        }
    }

    /// Whether a server lies on this machine, as far as addresses show without a look-up.
    fn is_server_here(&self) -> bool {
        let is_here = |host: &str| {
            host == "localhost"
                || without_zone(host)
                    .parse::<IpAddr>()
                    .is_ok_and(|ip| ip.to_canonical().is_loopback())
        };
        let dialled = self.settings.connect_to.iter().any(|(_, to)| {
            let host = to.rsplit_once(':').map_or(to.as_str(), |(host, _)| host);
            is_here(host.trim_matches(['[', ']']))
        });
        let first = self.plan.targets.list().iter().take(LIST_MAX);
        let named =
            first.filter_map(|target| Url::parse(target.url).ok()).any(|url| is_here(&url.host));
        self.settings.unix_socket.is_some() || dialled || named
    }

    /// The TLS set-up, made at its first use (a redirect may be the first to want it).
    pub(crate) fn tls(&self) -> Result<Arc<TlsClient>, TlsSetupError> {
        self.tls.get_or_init(|| client_config(&self.settings, None, self.settings.protocol)).clone()
    }

    /// The TLS set-up for an origin: some hosts have a client certificate of their own.
    pub(crate) fn tls_for(&self, origin: &Origin) -> Result<Arc<TlsClient>, TlsSetupError> {
        if let Some(given) = origin.tls.as_ref().filter(|tls| tls.has_certificates()) {
            return self.tls_of_channel(given);
        }
        let (host, protocol) = (origin.host(), self.settings.protocol);
        let list = &self.settings.tls.identities;
        let fits = |identity: &ClientIdentity| {
            identity.domains.iter().any(|d| host_policy::is_of(d, host))
        };
        let at = list.iter().position(fits).unwrap_or(list.len());
        let identity = list.get(at);
        let made = match origin.upgrades() {
            true => Some((&self.tls_upgrading[at], Protocol::Http1)),
            false => self.tls_known.get(at).map(|made| (made, protocol)),
        };
        match made {
            Some((made, protocol)) => {
                made.get_or_init(|| client_config(&self.settings, identity, protocol)).clone()
            }
            None => self.tls(),
        }
    }

    /// The TLS set-up of a channel that has certificates of its own, made once for all that have the same.
    fn tls_of_channel(&self, given: &Arc<ChannelTls>) -> Result<Arc<TlsClient>, TlsSetupError> {
        let mut made = self.tls_channels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(given) {
            return known.clone();
        }
        if made.len() >= CHANNEL_TLS_MAX {
            made.clear();
        }
        let setup = channel_config(&self.settings, given);
        made.insert(Arc::clone(given), setup.clone());
        setup
    }

    /// The TLS set-up for a proxy that is spoken to over TLS: in HTTP/1.1, and without a host's own certificate.
    pub(crate) fn tls_for_proxy(&self) -> Result<Arc<TlsClient>, TlsSetupError> {
        let made = &self.tls_upgrading[self.settings.tls.identities.len()];
        made.get_or_init(|| client_config(&self.settings, None, Protocol::Http1)).clone()
    }

    /// Makes every TLS set-up, so that what is wrong with one is known before the run.
    fn try_identities(&self) -> Result<(), TlsSetupError> {
        let list = self.tls_known.iter().zip(&self.settings.tls.identities);
        for (made, identity) in list {
            let protocol = self.settings.protocol;
            made.get_or_init(|| client_config(&self.settings, Some(identity), protocol)).clone()?;
        }
        Ok(())
    }

    /// What the first TLS handshake agreed on, once there was one.
    pub(crate) fn tls_agreed(&self) -> Option<Agreed> {
        self.tls.get()?.as_ref().ok()?.agreed().cloned()
    }

    /// The request of a planned target, where it was made before the run.
    pub(crate) fn planned(&self, target: Option<u32>) -> Option<&Result<Request, Unsendable>> {
        self.requests.get(target? as usize)
    }

    /// A target that is not of the plan, a lazy one, or one of so many that they are made ready when it is their turn.
    pub(crate) fn request(&self, target: &Target) -> Result<Request, Unsendable> {
        request(target, &self.defaults, &self.settings)
    }

    /// What a user asks for.
    pub(crate) fn request_of(&self, ask: &Target, hit: &Hit) -> Result<Request, Unsendable> {
        if let Some(channel) = hit.kind.channel() {
            return request(ask, &self.defaults.of_channel(channel), &self.settings);
        }
        let upgrades = hit.kind.is_upgrade();
        let defaults = if upgrades { &self.upgrade_defaults } else { &self.defaults };
        request(ask, defaults, &self.settings)
    }

    /// What `from` becomes after a redirect with this status to `location`.
    pub(crate) fn redirected(
        &self,
        from: &Request,
        status: u16,
        location: &str,
    ) -> Result<Request, Unsendable> {
        let (target, url) = from.redirected(status, location)?;
        let defaults = &self.defaults;
        Request::with_url(&target, url, defaults, |url| addressing(url, defaults, &self.settings))
    }

    /// Which content codings are decoded for this request.
    pub(crate) fn decode(&self, request: &Request) -> Decode {
        match self.defaults.style {
            HeadStyle::Native => Decode::Accepted(request.accepted),
            HeadStyle::Plain => Decode::All,
            HeadStyle::Go if request.template.asks_gzip() => Decode::GzipOnly,
            HeadStyle::Go | HeadStyle::Exact(_) => Decode::Nothing,
        }
    }
}

/// Targets whose requests are made ready before the run: 10,000. A request takes some 2 KB, so that of longer lists each is made when
/// it is its turn, in a microsecond or two, as it is of lazy targets.
pub(crate) const LIST_MAX: usize = 10_000;

/// Whether a target wants TLS.
fn is_secure(target: TargetRef<'_>) -> bool {
    let scheme = target.url.trim_start().as_bytes().get(..6);
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"https:"))
}

fn request(
    target: &Target,
    defaults: &RequestDefaults,
    settings: &Settings,
) -> Result<Request, Unsendable> {
    Request::new(target, defaults, |url| addressing(url, defaults, settings))
}

/// How a request's head is written for the way to its origin.
fn addressing(url: &Url, defaults: &RequestDefaults, settings: &Settings) -> Addressing {
    let purpose = if defaults.wants_tunnel() { Purpose::Upgrade } else { Purpose::Http };
    match route::route(url, purpose, settings).0 {
        Route::Forward(proxy) => {
            Addressing { form: TargetForm::Absolute, proxy_authorization: proxy.authorization }
        }
        Route::Direct | Route::Unix(_) | Route::Tunnel(_) | Route::Socks(_) => {
            Addressing::default()
        }
    }
}

/// So many TLS set-ups of channels are kept.
const CHANNEL_TLS_MAX: usize = 256;

/// The set-up of the run, with a channel's own certificates in the place of the run's.
fn channel_config(
    settings: &Settings,
    given: &ChannelTls,
) -> Result<Arc<TlsClient>, TlsSetupError> {
    let usual = client_setup(settings, None, Protocol::PriorKnowledge);
    tls::client_config(&ClientSetup {
        roots: if settings.tls.insecure { Vec::new() } else { roots() },
        roots_pem: given.roots_pem.clone(),
        cert_pem: given.cert_pem.clone(),
        key_pem: given.key_pem.clone(),
        ..usual
    })
}

fn client_config(
    settings: &Settings,
    identity: Option<&ClientIdentity>,
    protocol: Protocol,
) -> Result<Arc<TlsClient>, TlsSetupError> {
    tls::client_config(&client_setup(settings, identity, protocol))
}

fn client_setup(
    settings: &Settings,
    identity: Option<&ClientIdentity>,
    protocol: Protocol,
) -> ClientSetup {
    let given = &settings.tls;
    let needs_roots = given.root_certs_pem.is_empty() && !given.insecure;
    ClientSetup {
        roots: if needs_roots { roots() } else { Vec::new() },
        roots_pem: given.root_certs_pem.clone(),
        cert_pem: identity.map(|own| own.cert_pem.clone()).or_else(|| given.cert_pem.clone()),
        key_pem: identity.map(|own| own.key_pem.clone()).or_else(|| given.key_pem.clone()),
        verification: if given.insecure { Verification::None } else { Verification::Full },
        offer: match protocol {
            Protocol::Http1 => Offer::Http1,
            Protocol::Alpn | Protocol::PriorKnowledge => Offer::Http2,
        },
        resumption: if given.session_tickets { Resumption::On } else { Resumption::Off },
        versions: given.versions,
        suites: given.suites.clone(),
        server_name: match given.no_server_name {
            true => ServerNaming::Withheld,
            false => ServerNaming::Sent,
        },
        key_log: given
            .log_keys
            .then(|| Arc::new(tls::rustls::KeyLogFile::new()) as Arc<dyn tls::rustls::KeyLog>),
    }
}

/// The system's roots; on a machine without a certificate store, those bundled with us.
fn roots() -> Vec<CertificateDer<'static>> {
    let system = rustls_native_certs::load_native_certs().certs;
    if system.is_empty() { webpki_root_certs::TLS_SERVER_ROOT_CERTS.to_vec() } else { system }
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;
    use workload::{RequestKind, Targets};

    use super::*;
    use crate::settings::CapturedHeaders;

    /// Issue 45: a script may want messages over 16 MiB; other bodies have that limit as before.
    #[test]
    fn a_call_is_captured_up_to_its_callers_limit() {
        let capture = Capture {
            body_max: Capture::BODY_MAX,
            headers: CapturedHeaders::WholeHead,
            ..Capture::default()
        };
        let settings = Settings { capture, ..Settings::default() };
        let plan = Plan::new(Load::Closed { users: 1 }, Targets::default(), 1);
        let prepared = Prepared::new(plan, settings).expect("sound settings");
        let usual = (capture, Capture::BODY_MAX);
        let check = |kind: RequestKind, body_max: u64, expect: (Capture, u64)| {
            let mut hit = Hit::new(0, Nanos::ZERO);
            (hit.kind, hit.body_max) = (kind, body_max);
            assert_eq!(prepared.body_limits(&hit), expect);
        };
        check(
            RequestKind::Call(0),
            32 << 20,
            (Capture { body_max: 32 << 20, ..capture }, 32 << 20),
        );
        check(RequestKind::Call(0), 4 << 20, usual);
        check(RequestKind::Call(0), u64::MAX, usual);
        check(RequestKind::Stream(0), 32 << 20, usual);
    }
}
