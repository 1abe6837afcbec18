//! `ScriptVariables`: what a script sees in `__ENV`, and what of it may leave this machine. Variables of the machine's environment
//! never do by themselves: there lie the tokens of a CI job.

/// What a script sees in `__ENV`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ScriptVariables {
    /// All that it sees here; of a name that comes twice the last one counts.
    pub(super) shown: Vec<(String, String)>,
    /// Those that were named: by `-e`, or by the archive that the script comes from. They alone go into an archive.
    pub(super) named: Vec<(String, String)>,
}

impl ScriptVariables {
    /// Those of an archive, of the machine's environment, and of `-e`, in this order.
    pub(super) fn of(
        archived: &[(String, String)],
        system: Vec<(String, String)>,
        given: &[(String, String)],
    ) -> Self {
        let shown = [archived, &system, given].concat();
        Self { shown, named: [archived, given].concat() }
    }

    /// The variables that one of these texts reads as `__ENV.NAME` or `__ENV["NAME"]`, and that stay on this machine.
    pub(super) fn left_behind<'t>(&self, texts: impl Iterator<Item = &'t [u8]>) -> Vec<&str> {
        let is_named = |name: &str| self.named.iter().any(|(known, _)| known == name);
        let read: Vec<&[u8]> = texts.flat_map(names_read).collect();
        let is_read = |name: &str| read.contains(&name.as_bytes());
        let own = self.shown.iter().map(|(name, _)| name.as_str());
        let mut left: Vec<&str> = own.filter(|name| !is_named(name) && is_read(name)).collect();
        left.sort_unstable();
        left.dedup();
        left
    }
}

/// The names behind each `__ENV` of a text.
fn names_read(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    const OBJECT: &[u8] = b"__ENV";
    let places = text.windows(OBJECT.len()).enumerate().filter(|(_, part)| *part == OBJECT);
    places.filter_map(|(at, _)| {
        let rest = &text[at + OBJECT.len()..];
        let begin = rest.iter().position(|byte| !b"?.[\"'`".contains(byte))?;
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$".contains(byte);
        let len = rest[begin..].iter().take_while(|byte| is_of_name(byte)).count();
        (begin > 0 && len > 0).then(|| &rest[begin..begin + len])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(names: &[&str]) -> Vec<(String, String)> {
        names.iter().map(|name| ((*name).to_owned(), format!("value of {name}"))).collect()
    }

    #[test]
    fn what_is_read_and_not_named_is_left_behind() {
        let system = pairs(&["HOST", "TOKEN", "PATH", "A_B", "HOSTS"]);
        let variables = ScriptVariables::of(&pairs(&["OLD"]), system, &pairs(&["A_B"]));
        assert_eq!(variables.named, pairs(&["OLD", "A_B"]));
        assert_eq!(variables.shown.len(), 7);
        let texts =
            ["get(__ENV.HOST+__ENV.A_B)", "const t = __ENV['TOKEN'] || __ENV.NONE, e = __ENV"];
        let left = variables.left_behind(texts.iter().map(|text| text.as_bytes()));
        assert_eq!(left, ["HOST", "TOKEN"]);
        assert!(variables.left_behind([b"__ENV.OLD PATH".as_slice()].into_iter()).is_empty());
    }
}
