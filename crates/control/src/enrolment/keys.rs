//! `Keys`: the secrets of a fleet in its folder, made once, and the public keys of its agents.

use std::net::IpAddr;
use std::path::Path;

use fleet::Name;
use nkeys::KeyPair;
use serde::{Deserialize, Serialize};
use stdx::private_file;

use super::token::{TokenRules, TokenTerms};
use crate::error::ControlError;

/// The file of the keys in a fleet's folder.
const FILE: &str = "keys.json";

/// The secrets of a fleet, and the public keys of its agents.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Keys {
    /// The server's certificate and its key, PEM.
    pub(super) certificate: String,
    pub(super) certificate_key: String,
    /// The names in the certificate.
    pub(super) hosts: Vec<String>,
    /// Seeds of nkeys: of the process that lets machines in, of coordinators, and of who has a token.
    pub(super) admin: String,
    pub(super) coordinator: String,
    pub(super) join: String,
    /// Agents that were let in, in that order.
    pub(super) agents: Vec<(Name, String)>,
    /// What the joining token is good for.
    #[serde(default)]
    pub(super) terms: TokenTerms,
    /// Public keys of agents that were put out: they do not come back.
    #[serde(default)]
    withdrawn: Vec<String>,
}

/// Why a machine is not let in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Refusal {
    NameTaken,
    TooMany,
    BadKey,
    Withdrawn,
    TokenEnded,
    TokenSpent,
}

/// The most keys of agents that were put out; the oldest go first.
const WITHDRAWN_MAX: usize = 4 * fleet::AGENTS_MAX;

impl Keys {
    /// Those of the folder; new ones where it has none. A new certificate is made where one of `hosts` is not in the present one.
    ///
    /// # Errors
    /// The file cannot be read or written, or is damaged.
    pub(super) fn of(dir: &Path, hosts: &[String]) -> Result<Self, ControlError> {
        let mut keys = Self::stored(dir)?.unwrap_or_else(Self::new);
        if !hosts.iter().all(|host| keys.hosts.contains(host)) {
            keys.certify(hosts).map_err(ControlError::Keys)?;
        }
        keys.save(dir)?;
        Ok(keys)
    }

    /// Those of the folder, where it has some.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub(super) fn stored(dir: &Path) -> Result<Option<Self>, ControlError> {
        let path = dir.join(FILE);
        let keys = read_secret(&path)?.map(|bytes| serde_json::from_slice(&bytes));
        keys.transpose().map_err(|error| ControlError::file(&path, error.into()))
    }

    fn new() -> Self {
        let empty = String::new;
        Self {
            certificate: empty(),
            certificate_key: empty(),
            hosts: Vec::new(),
            admin: seed(&KeyPair::new_user()),
            coordinator: seed(&KeyPair::new_user()),
            join: seed(&KeyPair::new_user()),
            agents: Vec::new(),
            terms: TokenTerms::default(),
            withdrawn: Vec::new(),
        }
    }

    /// Makes a certificate that these names stand in; it is its own authority.
    fn certify(&mut self, hosts: &[String]) -> Result<(), String> {
        let key = rcgen::KeyPair::generate().map_err(|error| error.to_string())?;
        let params = rcgen::CertificateParams::new(hosts.to_vec());
        let certificate = params.and_then(|params| params.self_signed(&key));
        self.certificate = certificate.map_err(|error| error.to_string())?.pem();
        self.certificate_key = key.serialize_pem();
        self.hosts = hosts.to_vec();
        Ok(())
    }

    /// The certificate's bytes; `None` where the file was changed by hand.
    pub(super) fn certificate_der(&self) -> Option<Vec<u8>> {
        use rustls::pki_types::CertificateDer;
        use rustls::pki_types::pem::PemObject;
        CertificateDer::from_pem_slice(self.certificate.as_bytes()).ok().map(|der| der.to_vec())
    }

    pub(super) fn save(&self, dir: &Path) -> Result<(), ControlError> {
        // Texts alone: they have a form in JSON.
        let text = serde_json::to_vec_pretty(self).unwrap_or_default();
        write_secret(&dir.join(FILE), &text)
    }

    /// Lets an agent in: a name belongs to the first key that asks with it.
    ///
    /// # Errors
    /// The name has another key, there are too many agents, or the key is none.
    pub(super) fn admit(&mut self, name: &Name, public: &str) -> Result<(), Refusal> {
        if KeyPair::from_public_key(public).is_err() || !public.starts_with('U') {
            return Err(Refusal::BadKey);
        }
        if self.withdrawn.iter().any(|key| key == public) {
            return Err(Refusal::Withdrawn);
        }
        match self.agents.iter().find(|(known, _)| known == name) {
            Some((_, known)) if known == public => Ok(()),
            Some(_) => Err(Refusal::NameTaken),
            None if self.agents.len() >= fleet::AGENTS_MAX => Err(Refusal::TooMany),
            None => {
                self.agents.push((name.clone(), public.to_owned()));
                Ok(())
            }
        }
    }
}

impl Keys {
    /// Lets an agent in that asks by the joining token: one that is new needs a token which has not ended.
    ///
    /// # Errors
    /// As [`Self::admit`], or the token is good for no more.
    pub(super) fn admit_by_token(
        &mut self,
        name: &Name,
        public: &str,
        now_s: u64,
    ) -> Result<(), Refusal> {
        let before = self.agents.len();
        self.admit(name, public)?;
        if self.agents.len() == before {
            return Ok(());
        }
        let refusal = match (now_s >= self.terms.ends_s, self.terms.left) {
            (true, _) => Refusal::TokenEnded,
            (false, 0) => Refusal::TokenSpent,
            (false, left) => {
                self.terms.left = left - 1;
                return Ok(());
            }
        };
        self.agents.truncate(before);
        Err(refusal)
    }

    /// Puts an agent out; its name is free.
    ///
    /// # Errors
    /// There is no such agent.
    pub(super) fn remove(&mut self, name: &Name) -> Result<(), ControlError> {
        let at = self.agents.iter().position(|(known, _)| known == name);
        let at = at.ok_or_else(|| ControlError::NoAgent(name.clone()))?;
        let (_, public) = self.agents.remove(at);
        self.withdrawn.push(public);
        let surplus = self.withdrawn.len().saturating_sub(WITHDRAWN_MAX);
        self.withdrawn.drain(..surplus);
        Ok(())
    }

    /// Makes another key for who asks to be let in.
    pub(super) fn renew_token(&mut self, rules: TokenRules, now_s: u64) {
        self.join = seed(&KeyPair::new_user());
        self.terms = rules.from(now_s);
    }
}

/// The seed of a key that was made here.
pub(super) fn seed(key: &KeyPair) -> String {
    key.seed().unwrap_or_default()
}

/// The public key of a seed.
pub(super) fn public(seed: &str) -> String {
    KeyPair::from_seed(seed).map_or(String::new(), |key| key.public_key())
}

/// Writes a file that only its owner may read, whole or not at all.
pub(super) fn write_secret(path: &Path, bytes: &[u8]) -> Result<(), ControlError> {
    private_file::write(path, bytes).map_err(|error| ControlError::file(path, error))
}

/// The most bytes of a file with secrets: the keys of the largest fleet take a tenth of it.
const SECRET_MAX: u64 = 16 << 20;

/// Reads a file with secrets; `None` where there is none.
pub(super) fn read_secret(path: &Path) -> Result<Option<Vec<u8>>, ControlError> {
    match private_file::read(path, SECRET_MAX) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ControlError::file(path, error)),
    }
}

/// The addresses and names under which others reach a server that listens here.
pub(super) fn hosts(listen: IpAddr, advertised: Option<&str>) -> Vec<String> {
    let mut hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    if !listen.is_unspecified() {
        hosts.push(listen.to_string());
    }
    hosts.extend(advertised.map(str::to_owned));
    hosts.sort();
    hosts.dedup();
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    #[test]
    fn keys_stay_and_a_name_belongs_to_its_first_key() {
        use std::os::unix::fs::PermissionsExt;
        let dir = Scratch::new("keys");
        let here = ["127.0.0.1".to_owned()];
        let mut keys = Keys::of(dir.path(), &here).unwrap();
        let [one, other] = [(); 2].map(|()| KeyPair::new_user().public_key());
        assert_eq!(keys.admit(&name("a"), &one), Ok(()));
        assert_eq!(keys.admit(&name("a"), &one), Ok(()), "it asks again after a restart");
        assert_eq!(keys.admit(&name("a"), &other), Err(Refusal::NameTaken));
        assert_eq!(keys.admit(&name("b"), "Uno"), Err(Refusal::BadKey));
        keys.terms = TokenTerms { ends_s: 100, left: 1 };
        assert_eq!(keys.admit_by_token(&name("a"), &one, 100), Ok(()), "it is in already");
        assert_eq!(keys.admit_by_token(&name("b"), &other, 100), Err(Refusal::TokenEnded));
        assert_eq!(keys.admit_by_token(&name("b"), &other, 99), Ok(()));
        let third = KeyPair::new_user().public_key();
        assert_eq!(keys.admit_by_token(&name("c"), &third, 99), Err(Refusal::TokenSpent));
        assert_eq!(keys.agents.len(), 2);
        keys.remove(&name("b")).unwrap();
        assert!(keys.remove(&name("b")).is_err());
        assert_eq!(keys.admit(&name("b"), &other), Err(Refusal::Withdrawn));
        assert_eq!(keys.admit(&name("b"), &third), Ok(()), "its name is free");
        keys.save(dir.path()).unwrap();
        let again = Keys::of(dir.path(), &here).unwrap();
        assert_eq!((&again.agents, &again.join), (&keys.agents, &keys.join));
        assert_eq!(again.certificate, keys.certificate);
        let moved = Keys::of(dir.path(), &["10.0.0.1".to_owned()]).unwrap();
        assert!(moved.certificate != keys.certificate && moved.join == keys.join);
        let mode = std::fs::metadata(dir.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
