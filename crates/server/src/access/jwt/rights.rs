//! What a JSON web token permits its user: the claim `groupwire`.

use groupwire_session::{
    Access, Authority, ChangeRequest, Grant, Identity, OpenRequest, PartRequest, Qos, Quota,
};
use serde::{Deserialize, Serialize};

use crate::tools::pattern::matches;

/// The smallest quota, in bytes per second: the largest packet then takes at most one second, so
/// that a client that does not know its quota cannot get far above it while the server delays
/// reading its transport.
const LEAST_BYTES: u64 = 65_536;

/// The rights of a user, as patterns of names in which a star stands for any text. They are the
/// claim `groupwire` of a JSON web token:
///
/// ```json
/// { "rooms": ["docs/*"], "publish": ["*"], "subscribe": ["*"], "qos": [], "snapshot": ["shapes"] }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Rights {
    /// The rooms that the user may join.
    pub rooms: Vec<String>,
    /// The channels that the user may publish on. Default: all.
    #[serde(default = "all")]
    pub publish: Vec<String>,
    /// The channels that the user may receive. Default: all.
    #[serde(default = "all")]
    pub subscribe: Vec<String>,
    /// The channels whose QoS the user may set, also by being the first who opens one. A channel
    /// that exists keeps its QoS. Default: those of `publish`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qos: Option<Vec<String>>,
    /// The channels that may be in parts of the snapshot that the user uploads. Default: those of
    /// `publish`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Vec<String>>,
    /// What the user may send before being slowed down, if that is more or less than the server's
    /// options say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<UserLimits>,
}

/// What a user may send in a second, in place of `--participant-bytes` and
/// `--participant-deliveries`. 0: no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct UserLimits {
    /// Bytes; at least 65,536, the size of the largest packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Deliveries: each message counts once per receiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliveries: Option<u64>,
}

impl UserLimits {
    fn quota(self, usual: Quota) -> Quota {
        let limit = |own: Option<u64>, least: u64, usual| match own {
            None => usual,
            Some(0) => u64::MAX,
            Some(own) => own.max(least),
        };
        Quota {
            bytes: limit(self.bytes, LEAST_BYTES, usual.bytes),
            deliveries: limit(self.deliveries, 1, usual.deliveries),
        }
    }
}

fn all() -> Vec<String> {
    vec!["*".to_owned()]
}

impl Rights {
    /// All rights in the rooms of these names or patterns.
    pub fn of_rooms(rooms: impl IntoIterator<Item = String>) -> Self {
        let rooms = rooms.into_iter().collect();
        Rights { rooms, publish: all(), subscribe: all(), qos: None, snapshot: None, limits: None }
    }

    pub(super) fn may_join(&self, room: &str) -> bool {
        has(&self.rooms, room)
    }

    fn may_set_qos(&self, channel: &str) -> bool {
        has(self.qos.as_ref().unwrap_or(&self.publish), channel)
    }

    fn may_upload(&self, channel: &str) -> bool {
        has(self.snapshot.as_ref().unwrap_or(&self.publish), channel)
    }

    pub(in crate::access) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    fn of(identity: &Identity) -> Result<Self, String> {
        serde_json::from_slice(&identity.rights).map_err(|_| "the token has no rights".to_owned())
    }
}

fn has(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

/// Permits what the rights in a participant's token say.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByRights;

impl Authority for ByRights {
    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
        let rights = Rights::of(request.identity)?;
        let channel = request.channel;
        let access = Access {
            publish: has(&rights.publish, channel),
            subscribe: has(&rights.subscribe, channel),
        };
        if !access.publish && !access.subscribe {
            return Err(format!("this token permits nothing on the channel {channel:?}"));
        }
        if request.existing.is_none() && !rights.may_set_qos(channel) {
            return Err(format!(
                "the channel {channel:?} does not exist yet, and this token does not permit to set its QoS"
            ));
        }
        Ok(Grant { access, qos: request.qos })
    }

    fn change(&self, request: &ChangeRequest<'_>) -> Result<Qos, String> {
        match Rights::of(request.identity)?.may_set_qos(request.channel) {
            true => Ok(request.qos),
            false => Err("this token does not permit to change the channel's QoS".to_owned()),
        }
    }

    fn quota(&self, identity: &Identity, usual: Quota) -> Quota {
        let limits = Rights::of(identity).ok().and_then(|rights| rights.limits);
        limits.map_or(usual, |limits| limits.quota(usual))
    }

    fn part(&self, request: &PartRequest<'_>) -> Result<(), String> {
        let rights = Rights::of(request.identity)?;
        match request.channels.iter().all(|channel| rights.may_upload(channel)) {
            true => Ok(()),
            false => {
                Err("this token does not permit to upload snapshots of these channels".to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_may_have_limits_of_its_own() {
        let usual = Quota { bytes: 1 << 20, deliveries: 1000 };
        let quota = |limits: &str| {
            let rights = rights(&format!(r#"{{ "rooms": ["*"]{limits} }}"#)).to_bytes();
            ByRights.quota(&Identity { subject: Vec::new(), rights }, usual)
        };
        assert_eq!(quota(""), usual);
        assert_eq!(quota(r#", "limits": {}"#), usual);
        let more = quota(r#", "limits": { "bytes": 9000000 }"#);
        assert_eq!(more, Quota { bytes: 9_000_000, ..usual });
        let other = quota(r#", "limits": { "bytes": 1, "deliveries": 0 }"#);
        assert_eq!(other, Quota { bytes: LEAST_BYTES, deliveries: u64::MAX });
        let wrong = r#"{ "rooms": [], "limits": { "people": 1 } }"#;
        assert!(serde_json::from_str::<Rights>(wrong).is_err());
    }

    fn rights(json: &str) -> Rights {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn what_is_not_said_has_stated_defaults() {
        let all = rights(r#"{ "rooms": ["docs/*"] }"#);
        assert_eq!(all, Rights::of_rooms(["docs/*".to_owned()]));
        assert!(all.may_join("docs/plan") && !all.may_join("game"));
        assert!(all.may_set_qos("draw") && all.may_upload("draw"));
        let reader = rights(r#"{ "rooms": ["*"], "publish": [] }"#);
        assert!(!reader.may_set_qos("draw") && !reader.may_upload("draw"));
        let keeper = rights(r#"{ "rooms": ["*"], "publish": [], "snapshot": ["draw"] }"#);
        assert!(keeper.may_upload("draw") && !keeper.may_upload("chat"));
        for wrong in [r#"{}"#, r#"{ "rooms": "docs" }"#, r#"{ "rooms": [], "admin": true }"#] {
            assert!(serde_json::from_str::<Rights>(wrong).is_err(), "{wrong}");
        }
    }
}
