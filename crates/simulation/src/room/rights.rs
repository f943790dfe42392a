//! The rights of a participant, as a test states them: the same as in the claim `groupwire` of a
//! JSON web token (`crates/server/src/access/jwt/rights.rs`), as text. Each line is the name of a
//! right, then patterns of channel names, separated by tabs: `publish`, `subscribe`, `qos`,
//! `snapshot`. A right without a line has its default.

use groupwire_session::{
    Access, Authority, ChangeRequest, Grant, Identity, OpenRequest, PartRequest, Qos,
};

/// Grants the rights in a participant's identity.
pub(crate) struct ByRights;

impl Authority for ByRights {
    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
        let (rights, channel) = (Rights(request.identity), request.channel);
        let access =
            Access { publish: rights.publish(channel), subscribe: rights.subscribe(channel) };
        if !access.publish && !access.subscribe {
            return Err(format!("this participant has no right to the channel {channel:?}"));
        }
        if request.existing.is_none() && !rights.qos(channel) {
            return Err(format!(
                "the channel {channel:?} does not exist yet, and this participant has no right to set its QoS"
            ));
        }
        Ok(Grant { access, qos: request.qos })
    }

    fn change(&self, request: &ChangeRequest<'_>) -> Result<Qos, String> {
        match Rights(request.identity).qos(request.channel) {
            true => Ok(request.qos),
            false => Err("this participant has no right to change the channel's QoS".to_owned()),
        }
    }

    fn part(&self, request: &PartRequest<'_>) -> Result<(), String> {
        let rights = Rights(request.identity);
        match request.channels.iter().all(|channel| rights.snapshot(channel)) {
            true => Ok(()),
            false => {
                Err("this participant has no right to upload snapshots of these channels".into())
            }
        }
    }
}

/// The rights of an identity.
struct Rights<'a>(&'a Identity);

impl Rights<'_> {
    fn publish(&self, channel: &str) -> bool {
        self.permits("publish", channel).unwrap_or(true)
    }

    fn subscribe(&self, channel: &str) -> bool {
        self.permits("subscribe", channel).unwrap_or(true)
    }

    fn qos(&self, channel: &str) -> bool {
        self.permits("qos", channel).unwrap_or_else(|| self.publish(channel))
    }

    fn snapshot(&self, channel: &str) -> bool {
        self.permits("snapshot", channel).unwrap_or_else(|| self.publish(channel))
    }

    /// Whether a pattern of this right matches the channel. `None` if the right has no line.
    fn permits(&self, right: &str, channel: &str) -> Option<bool> {
        let text = std::str::from_utf8(&self.0.rights).ok()?;
        let mut lines = text.lines().map(|line| line.split('\t'));
        let mut patterns =
            lines.find_map(|mut words| (words.next() == Some(right)).then_some(words))?;
        Some(patterns.any(|pattern| matches(pattern, channel)))
    }
}

/// Whether a pattern, in which each star stands for any text, matches a name.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(start) else { return false };
    let tails = name.char_indices().map(|(at, _)| &name[at..]).chain([""]);
    tails.into_iter().any(|tail| matches(rest, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may(rights: &str, right: &str, channel: &str) -> bool {
        let identity = Identity { subject: Vec::new(), rights: rights.as_bytes().to_vec() };
        let rights = Rights(&identity);
        match right {
            "publish" => rights.publish(channel),
            "subscribe" => rights.subscribe(channel),
            "qos" => rights.qos(channel),
            _ => rights.snapshot(channel),
        }
    }

    #[test]
    fn rights_without_a_line_have_their_defaults() {
        for right in ["publish", "subscribe", "qos", "snapshot"] {
            assert!(may("", right, "chat"), "{right}");
        }
        assert!(!may("publish", "publish", "chat"));
        assert!(may("publish", "subscribe", "chat"));
        assert!(!may("publish", "qos", "chat") && !may("publish", "snapshot", "chat"));
        assert!(may("publish\nqos\t*", "qos", "chat"));
    }

    #[test]
    fn stars_stand_for_any_text() {
        let rights = "publish\tchat\tdraw/*/shapes";
        assert!(may(rights, "publish", "chat") && may(rights, "publish", "draw/7/shapes"));
        assert!(!may(rights, "publish", "chats") && !may(rights, "publish", "draw/7/lines"));
        assert!(matches("*", "") && matches("a*", "a") && matches("*a*b", "cab"));
        assert!(!matches("*a", "ab"));
    }
}
