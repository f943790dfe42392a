//! The policies that are compared over real links.

use std::path::PathBuf;
use std::time::Instant;

use groupwire_ace::{Candidate, Duplex, Settings};
use groupwire_codecs::{ALL, Costs};
use groupwire_papers::ace2005::{self, Training, TrainingError};

use super::super::simulated::cpu;
use super::super::{Files, Options};
use crate::Result;
use crate::program::installed;

/// The policies that are compared unless `--policy` names others: no compression, the paper's
/// codecs, today's at several levels, and what adapts.
const USUAL: [&str; 12] = [
    NEVER, "lzo", "zlib", "bzip2", "lz4", "zstd-1", "zstd-3", "zstd-9", "zstd-19", ADAPT, ACE_2005,
    GROUPWIRE,
];
const NEVER: &str = "never";
const GROUPWIRE: &str = "groupwire";
const ACE_2005: &str = "ace-2005";
const ADAPT: &str = "zstd-adapt";
/// The name of the program for zstd-adapt.
const ZSTD: &str = "zstd";

/// A policy: how a stream is compressed.
#[derive(Debug, Clone)]
pub(in super::super) struct Policy {
    pub(in super::super) name: String,
    pub(super) way: Way,
}

/// The program that compresses the stream.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// A stream of Groupwire at both ends.
    Stream(Ends),
    /// The program at this path, at both ends.
    Zstd(PathBuf),
}

/// The policy of both ends of a stream.
#[derive(Debug, Clone)]
pub(super) enum Ends {
    /// A policy of the product.
    Product(Settings),
    /// The policy of the paper of 2005, after a training run.
    Ace2005(Training),
}

impl Ends {
    /// Makes the encoder or decoder of one end.
    pub(super) fn end(&self) -> Result<Duplex> {
        match self {
            Ends::Product(settings) => Ok(Duplex::new(settings)?),
            Ends::Ace2005(training) => Ok(ace2005::stream(training)),
        }
    }
}

impl Policy {
    /// The policies with these names, or the usual ones. `skipped` gets those that are not
    /// installed.
    ///
    /// # Errors
    /// A name that is none.
    pub(in super::super) fn chosen(
        options: &Options,
        files: &Files,
        mut skipped: impl FnMut(&str, &str),
    ) -> Result<Vec<Policy>> {
        let start = Instant::now();
        let costs = Costs::measure(ALL, Costs::SAMPLES, || start.elapsed());
        let usual: Vec<String> = USUAL.map(str::to_owned).to_vec();
        let names = if options.policies.is_empty() { &usual } else { &options.policies };
        let mut policies = Vec::new();
        for name in names {
            let stream = |settings| Way::Stream(Ends::Product(settings));
            let way = match name.as_str() {
                ADAPT => match installed(&[ZSTD]) {
                    Some(program) => Way::Zstd(program),
                    None => {
                        skipped(ADAPT, "zstd is not installed; it is in the package zstd");
                        continue;
                    }
                },
                NEVER => stream(Settings::always(Candidate::NONE)),
                GROUPWIRE => stream(Settings::adaptive(costs.clone())),
                ACE_2005 => match trained(files, options.common.quick) {
                    Ok(training) => Way::Stream(Ends::Ace2005(training)),
                    Err(error) => {
                        skipped(ACE_2005, &format!("its training run failed: {error}"));
                        continue;
                    }
                },
                codec => {
                    let unknown = |_| {
                        format!(
                            "there is no policy {name}; there are never, codecs such as lz4, zstd-3 and \
                             zstd-3+history, zstd-adapt, ace-2005, groupwire"
                        )
                    };
                    stream(Settings::always(codec.parse().map_err(unknown)?))
                }
            };
            policies.push(Policy { name: name.clone(), way });
        }
        Ok(policies)
    }
}

/// Trains the paper's system for this machine, with a part of the training files.
///
/// # Errors
/// Training files of fewer than two blocks, codecs that are missing or broken. Constants of another
/// machine are no substitute: they would be measured as if they were of this one.
pub(in super::super) fn trained(
    files: &Files,
    quick: bool,
) -> std::result::Result<Training, TrainingError> {
    /// The most bytes of each file that are used: the paper's system took all, and 100 times, which
    /// takes minutes.
    const MOST: usize = 512 << 10;
    const QUICK: usize = 64 << 10;
    const REPEAT: u32 = 3;
    let most = if quick { QUICK } else { MOST };
    let samples = files.training.iter();
    let samples = samples.map(|sample| &sample.bytes[..sample.bytes.len().min(most)]);
    let samples: Vec<&[u8]> = samples.collect();
    Training::run(&samples, REPEAT, &mut cpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_training_run_ace_2005_is_skipped_and_that_is_said() {
        let files = Files { training: Vec::new(), benchmark: Vec::new() };
        let options = crate::options::parsed("--policy ace-2005");
        let mut skipped = Vec::new();
        let note = |what: &str, why: &str| skipped.push(format!("{what}: {why}"));
        let policies = Policy::chosen(&options, &files, note).unwrap();
        assert!(policies.is_empty(), "{policies:?}");
        let [said] = &skipped[..] else { panic!("{skipped:?}") };
        assert!(said.starts_with("ace-2005: its training run failed: "), "{said}");
    }
}
