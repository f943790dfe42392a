//! The policies that are compared over real links.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use groupwire_ace::{Candidate, Duplex, Settings};
use groupwire_codecs::{ALL, Costs};
use groupwire_papers::ace2005::{self, Training};
use serde_json::Value;

use super::super::training::Trained;
use super::super::{Files, Options};
use crate::Result;
use crate::program::installed;

/// The policies that are compared unless `--policy` names others: no compression, the paper's
/// codecs, today's at several levels, and what adapts.
const USUAL: [&str; 12] = [
    NEVER, "lzo", "zlib", "bzip2", "lz4", "zstd-1", "zstd-3", "zstd-9", "zstd-19", ADAPT, ACE_2005,
    GROUPWIRE,
];
/// The policies that the paper compares, and ours.
const PAPERS: [&str; 6] = [NEVER, "lzo", "zlib", "bzip2", ACE_2005, GROUPWIRE];
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
    /// The training run of the paper's policy.
    trained: Option<Rc<Trained>>,
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
    /// What the policy was trained with, for a row; `None` if it was not.
    pub(super) fn trained(&self) -> Option<Value> {
        self.trained.as_ref().map(|trained| trained.describe())
    }

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
        let usual: &[&str] = if options.is_paper() { &PAPERS } else { &USUAL };
        let usual: Vec<String> = usual.iter().map(|name| (*name).to_owned()).collect();
        let names = if options.policies.is_empty() { &usual } else { &options.policies };
        let mut policies = Vec::new();
        for name in names {
            let mut trained = None;
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
                ACE_2005 => match files.trained(options.training_time()) {
                    Ok(run) => {
                        let training = run.training.clone();
                        trained = Some(run);
                        Way::Stream(Ends::Ace2005(training))
                    }
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
            policies.push(Policy { name: name.clone(), way, trained });
        }
        Ok(policies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_training_run_ace_2005_is_skipped_and_that_is_said() {
        let files = Files::new(Vec::new(), Vec::new());
        let options = crate::options::parsed("--policy ace-2005");
        let mut skipped = Vec::new();
        let note = |what: &str, why: &str| skipped.push(format!("{what}: {why}"));
        let policies = Policy::chosen(&options, &files, note).unwrap();
        assert!(policies.is_empty(), "{policies:?}");
        let [said] = &skipped[..] else { panic!("{skipped:?}") };
        assert!(said.starts_with("ace-2005: its training run failed: "), "{said}");
    }
}
