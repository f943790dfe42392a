//! What is compared over real links.

use std::path::PathBuf;
use std::time::Instant;

use groupwire_ace::{Candidate, Settings, Training};
use groupwire_codecs::{ALL, Costs};

use super::super::simulated::cpu;
use super::super::{Error, Files, Options};
use crate::program::installed;

/// What is compared unless something else is asked for: no compression, the paper's codecs, today's at several levels, and
/// what adapts.
const USUAL: [&str; 12] = [
    NEVER, "lzo", "zlib", "bzip2", "lz4", "zstd-1", "zstd-3", "zstd-9", "zstd-19", ADAPT, ACE_2005,
    GROUPWIRE,
];
const NEVER: &str = "never";
const GROUPWIRE: &str = "groupwire";
const ACE_2005: &str = "ace-2005";
const ADAPT: &str = "zstd-adapt";
/// The program that has it.
const ZSTD: &str = "zstd";

/// One of them.
#[derive(Debug, Clone)]
pub(in super::super) struct Policy {
    pub(in super::super) name: String,
    pub(super) way: Way,
}

/// How octets get to the other end.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// By a stream of ours at both ends.
    Stream(Box<Settings>),
    /// By the program at this path, at both ends.
    Zstd(PathBuf),
}

impl Policy {
    /// Those of these names, or the usual ones; `skipped` is told what is not installed.
    ///
    /// # Errors
    /// A name that is none.
    pub(in super::super) fn chosen(
        options: &Options,
        files: &Files,
        mut skipped: impl FnMut(&str, &str),
    ) -> Result<Vec<Policy>, Error> {
        let start = Instant::now();
        let costs = Costs::measure(ALL, Costs::SAMPLES, || start.elapsed());
        let usual: Vec<String> = USUAL.map(str::to_owned).to_vec();
        let names = if options.policies.is_empty() { &usual } else { &options.policies };
        let mut policies = Vec::new();
        for name in names {
            let settings = match name.as_str() {
                ADAPT => match installed(&[ZSTD]) {
                    Some(program) => {
                        policies.push(Policy { name: name.clone(), way: Way::Zstd(program) });
                        continue;
                    }
                    None => {
                        skipped(ADAPT, "zstd is not installed; it is in the package zstd");
                        continue;
                    }
                },
                NEVER => Settings::always(Candidate::NONE),
                GROUPWIRE => Settings::adaptive(costs.clone()),
                ACE_2005 => Settings::ace2005(trained(files, options.quick)),
                codec => {
                    let unknown = |_| Error::Policy(name.clone());
                    Settings::always(codec.parse().map_err(unknown)?)
                }
            };
            policies.push(Policy { name: name.clone(), way: Way::Stream(Box::new(settings)) });
        }
        Ok(policies)
    }
}

/// What the paper's system learns of this machine beforehand, of a part of the training files.
pub(in super::super) fn trained(files: &Files, quick: bool) -> Training {
    /// Of each file: the paper's took all, and 100 times, which takes minutes.
    const MOST: usize = 512 << 10;
    const QUICK: usize = 64 << 10;
    const REPEAT: u32 = 3;
    let most = if quick { QUICK } else { MOST };
    let samples = files.training.iter();
    let samples = samples.map(|sample| &sample.octets[..sample.octets.len().min(most)]);
    let samples: Vec<&[u8]> = samples.collect();
    // Nothing is wrong with the samples, and this build has the codecs.
    Training::run(&samples, REPEAT, &mut cpu).unwrap_or_else(|_| Training::reference())
}

/// Whether a policy of this name does the same whatever happens.
pub(in super::super) fn is_static(name: &str) -> bool {
    ![ADAPT, ACE_2005, GROUPWIRE].contains(&name)
}
