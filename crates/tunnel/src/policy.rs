//! How a tunnel's streams choose codecs, and whether they may.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use groupwire_ace::{
    Candidate, Decision, Delivered, Duplex, Forecast, Packed, Policy, Settings, SettingsError,
    Situation, Training,
};
use groupwire_codecs::{ChoiceError, by_number};

use crate::{Sizes, Workbench, costs};

/// How codecs are chosen.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Codecs {
    /// For each block, by forecast.
    #[default]
    Adaptive,
    /// Nothing is packed.
    Never,
    /// As in the paper of 2005, after this training.
    Ace2005(Training),
    /// Always the same.
    Always(Candidate),
}

impl Codecs {
    /// Whether this build can do it.
    ///
    /// # Errors
    /// What it cannot pack by.
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        Duplex::new(&self.settings(Sizes::LARGE)).map(drop)
    }

    /// One end of a stream, which packs nothing before it is permitted to.
    ///
    /// # Errors
    /// Sizes out of their bounds.
    pub(crate) fn duplex(
        &self,
        sizes: Sizes,
        permission: &Permission,
        workbench: &Workbench,
    ) -> Result<Duplex, SettingsError> {
        let settings = self.settings(sizes);
        let (permission, workbench) = (permission.clone(), workbench.clone());
        let heeds_others = matches!(self, Codecs::Adaptive);
        let policy = Permitted { policy: settings.policy(), permission, workbench, heeds_others };
        Duplex::with_policy(&settings, Box::new(policy))
    }

    /// Of these sizes, which the paper's system does not heed.
    fn settings(&self, Sizes { block, history }: Sizes) -> Settings {
        let settings = match self {
            Codecs::Adaptive => Settings::adaptive(costs::known()),
            Codecs::Never => Settings::always(Candidate::NONE),
            Codecs::Ace2005(training) => return Settings::ace2005(training.clone()),
            Codecs::Always(candidate) => Settings::always(*candidate),
        };
        Settings { block, history, ..settings }
    }
}

/// By its name: `adaptive`, `never`, or a codec as in `zstd-3` or `zstd-3+history`.
impl FromStr for Codecs {
    type Err = ChoiceError;

    fn from_str(name: &str) -> Result<Self, ChoiceError> {
        Ok(match name {
            "adaptive" => Codecs::Adaptive,
            "never" => Codecs::Never,
            name => Codecs::Always(name.parse()?),
        })
    }
}

impl fmt::Display for Codecs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Codecs::Adaptive => f.write_str("adaptive"),
            Codecs::Never => f.write_str("never"),
            Codecs::Ace2005(_) => f.write_str("ace-2005"),
            Codecs::Always(candidate) => candidate.fmt(f),
        }
    }
}

/// Whether bytes may be packed. Both ends have a say, so it is not before the listening end has answered. Clones share.
#[derive(Debug, Clone, Default)]
pub(crate) struct Permission(Arc<AtomicU8>);

const ANSWERED: u8 = 1;
const DENIED: u8 = 2;

impl Permission {
    /// This end says no.
    pub(crate) fn deny(&self) {
        self.0.fetch_or(DENIED, Ordering::Relaxed);
    }

    /// The listening end has answered.
    pub(crate) fn answered(&self) {
        self.0.fetch_or(ANSWERED, Ordering::Relaxed);
    }

    pub(crate) fn is_answered(&self) -> bool {
        self.0.load(Ordering::Relaxed) & ANSWERED != 0
    }

    pub(crate) fn is_denied(&self) -> bool {
        self.0.load(Ordering::Relaxed) & DENIED != 0
    }

    fn is_granted(&self) -> bool {
        self.is_answered() && !self.is_denied()
    }
}

/// From such a contention on there is no processor time to spare: what one stream gains by a slow codec the others lose,
/// and as they are late, each takes the network for slow and an even slower codec for better.
const CROWDED: f64 = 2.0;

/// The highest level of zstd that packs about as fast as a processor serves a network.
const LIGHT_LEVEL: i8 = 3;

/// What comes nearest and does not take long: lz4, snappy and the low levels of zstd do not.
fn lighter(candidate: Candidate) -> Candidate {
    let choice = candidate.choice;
    let is_light = match by_number(choice.codec).map(|codec| codec.name()) {
        Some("zstd") => choice.level.is_some_and(|level| level <= LIGHT_LEVEL),
        Some("zlib" | "brotli" | "bzip2" | "lzma") => false,
        _ => true,
    };
    let light = if is_light { Ok(candidate) } else { "zstd-1".parse() };
    light.unwrap_or(Candidate::NONE)
}

/// A policy whose word counts only if there is permission; otherwise blocks go as they are. It is told of packing as if
/// the other streams' turns were load.
#[derive(Debug)]
struct Permitted {
    policy: Box<dyn Policy>,
    permission: Permission,
    workbench: Workbench,
    /// Whether other streams' turns count: what is fixed, or as in 2005, is left as it is.
    heeds_others: bool,
}

impl Policy for Permitted {
    fn choose(&mut self, now: Duration, block: &[u8], situation: &Situation) -> Decision {
        let mut decision = self.policy.choose(now, block, situation);
        if self.heeds_others && self.workbench.contention() >= CROWDED {
            decision.candidate = lighter(decision.candidate);
        }
        if self.permission.is_granted() {
            decision
        } else {
            Decision { candidate: Candidate::NONE }
        }
    }

    fn packed(&mut self, now: Duration, packed: &Packed) {
        let took = packed.took.mul_f64(self.workbench.contention());
        self.policy.packed(now, &Packed { took, ..*packed });
    }

    fn delivered(&mut self, now: Duration, delivered: &Delivered) {
        self.policy.delivered(now, delivered);
    }

    fn peer_has(&mut self, codecs: u16, history: bool) {
        self.policy.peer_has(codecs, history);
    }

    fn window(&self) -> usize {
        self.policy.window()
    }

    fn forecast(&self) -> Forecast {
        self.policy.forecast()
    }
}

#[cfg(test)]
mod tests {
    use groupwire_ace::Coders;

    use super::*;

    /// What so many bytes are on the wire.
    fn wire(codecs: &Codecs, permission: &Permission) -> usize {
        let mut duplex = codecs.duplex(Sizes::LARGE, permission, &Workbench::new()).unwrap();
        assert_eq!(duplex.write(&[b'a'; 30_000]), 30_000);
        duplex.flush();
        let mut wire = 0;
        while duplex.work(&mut Coders::new(), &mut || Duration::ZERO).unwrap() {}
        while !duplex.output().is_empty() {
            wire += duplex.output().len();
            duplex.sent(Duration::ZERO, duplex.output().len());
        }
        wire
    }

    #[test]
    fn without_permission_nothing_is_packed_by_any_policy() {
        let lz4 = Codecs::Always("lz4".parse().unwrap());
        for codecs in [Codecs::Adaptive, Codecs::Never, Codecs::Ace2005(Training::reference()), lz4]
        {
            let permission = Permission::default();
            assert!(wire(&codecs, &permission) > 30_000);
            permission.deny();
            permission.answered();
            assert!(wire(&codecs, &permission) > 30_000);
        }
        let permission = Permission::default();
        permission.answered();
        assert!(wire(&Codecs::Always("lz4".parse().unwrap()), &permission) < 1000);
    }

    #[test]
    fn a_crowd_takes_what_does_not_take_long() {
        for (name, light) in [
            ("none", "none"),
            ("lz4", "lz4"),
            ("zstd-3+history", "zstd-3+history"),
            ("zstd-19+history", "zstd-1"),
            ("bzip2", "zstd-1"),
        ] {
            assert_eq!(lighter(name.parse().unwrap()).to_string(), light);
        }
    }

    #[test]
    fn what_cannot_be_packed_by_is_refused() {
        assert!("zstd-3+history".parse::<Codecs>().unwrap().check().is_ok());
        assert!(
            "zstd-77".parse::<Codecs>().is_err()
                || "zstd-77".parse::<Codecs>().unwrap().check().is_err()
        );
        assert_eq!("adaptive".parse::<Codecs>().unwrap().to_string(), "adaptive");
    }
}
