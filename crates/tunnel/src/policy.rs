//! How the streams of a tunnel choose codecs, and whether they may compress.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use groupwire_ace::{
    Candidate, Decision, Delivered, Duplex, Forecast, Packed, Policy, Settings, SettingsError,
    Situation,
};
use groupwire_codecs::{ChoiceError, by_number};

use crate::{Sizes, Workbench, costs};

/// How codecs are chosen.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Codecs {
    /// For each block the codec that is expected to deliver it soonest.
    #[default]
    Adaptive,
    /// No block is compressed.
    Never,
    /// The same candidate for every block.
    Always(Candidate),
}

impl Codecs {
    /// Checks that this build has the codecs.
    ///
    /// # Errors
    /// The candidate that this build cannot compress with.
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        Duplex::new(&self.settings(Sizes::LARGE)).map(drop)
    }

    /// One end of a stream, which compresses nothing before `permission` is granted.
    ///
    /// # Errors
    /// Sizes that are out of bounds.
    pub(crate) fn duplex(
        &self,
        sizes: Sizes,
        permission: &Permission,
        workbench: &Workbench,
    ) -> Result<Duplex, SettingsError> {
        let settings = self.settings(sizes);
        let (permission, workbench) = (permission.clone(), workbench.clone());
        let reacts_to_contention = matches!(self, Codecs::Adaptive);
        let policy =
            Permitted { policy: settings.policy(), permission, workbench, reacts_to_contention };
        Duplex::with_policy(&settings, Box::new(policy))
    }

    /// The settings of a stream.
    fn settings(&self, Sizes { block, history }: Sizes) -> Settings {
        let settings = match self {
            Codecs::Adaptive => Settings::adaptive(costs::known()),
            Codecs::Never => Settings::always(Candidate::NONE),
            Codecs::Always(candidate) => Settings::always(*candidate),
        };
        Settings { block, history, ..settings }
    }
}

/// Parses `adaptive`, `never`, or the name of a candidate such as `zstd-3` or `zstd-3+history`.
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
            Codecs::Always(candidate) => candidate.fmt(f),
        }
    }
}

/// Whether a connection may be compressed. Either end may deny it, so it is granted only after the
/// listening end has answered. Clones refer to the same permission.
#[derive(Debug, Clone, Default)]
pub(crate) struct Permission(Arc<AtomicU8>);

const ANSWERED: u8 = 1;
const DENIED: u8 = 2;

impl Permission {
    /// Forbids compression.
    pub(crate) fn deny(&self) {
        self.0.fetch_or(DENIED, Ordering::Relaxed);
    }

    /// Notes that the listening end has answered.
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

/// The value of [`Workbench::contention`] from which streams stop choosing slow codecs: at 2 they
/// wait as long as they work. From there on a slow codec delays the other streams by as much as it
/// gains for its own.
const OVERLOADED: f64 = 2.0;

/// The highest zstd level for an overloaded processor: 4 ns per byte, some 250 MB/s (the cost table
/// in `groupwire-ace`).
const LIGHT_LEVEL: i8 = 3;

/// The candidate itself if it is fast, otherwise zstd-1. All codecs are fast except zlib, brotli,
/// bzip2, lzma and the higher levels of zstd.
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

/// A policy whose decisions apply only while compression is permitted; otherwise blocks are sent
/// uncompressed. The inner policy learns from compression times that include the time for which the
/// stream waits for other streams.
#[derive(Debug)]
struct Permitted {
    policy: Box<dyn Policy>,
    permission: Permission,
    workbench: Workbench,
    /// Whether this policy chooses a fast codec during an overload. Fixed candidates stay
    /// unchanged.
    reacts_to_contention: bool,
}

impl Policy for Permitted {
    fn choose(&mut self, now: Duration, block: &[u8], situation: &Situation) -> Decision {
        let mut decision = self.policy.choose(now, block, situation);
        if self.reacts_to_contention && self.workbench.contention() >= OVERLOADED {
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

    /// The number of bytes that 30,000 equal bytes take on the wire.
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
    fn without_permission_no_policy_compresses() {
        let lz4 = Codecs::Always("lz4".parse().unwrap());
        for codecs in [Codecs::Adaptive, Codecs::Never, lz4] {
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
    fn under_overload_slow_codecs_are_replaced_by_a_fast_one() {
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
    fn candidates_that_do_not_exist_are_refused() {
        assert!("zstd-3+history".parse::<Codecs>().unwrap().check().is_ok());
        assert!(
            "zstd-77".parse::<Codecs>().is_err()
                || "zstd-77".parse::<Codecs>().unwrap().check().is_err()
        );
        assert_eq!("adaptive".parse::<Codecs>().unwrap().to_string(), "adaptive");
    }
}
