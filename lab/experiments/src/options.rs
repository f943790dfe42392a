//! Options that experiments share.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::Result;
use crate::program::installed;

/// Options of every experiment.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct Common {
    /// The seed of generated messages and of simulated networks. The same number gives the same
    /// results.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Take at most 30 seconds: print every row, measured with fewer messages.
    #[arg(long)]
    pub(crate) quick: bool,

    /// Print rows of JSON instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Common {
    /// The first of two sizes of a measurement for quick ones, otherwise the second.
    pub(crate) fn quick_or<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }
}

/// The number of simultaneous runs of a simulation.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct Threads {
    /// The number of simultaneous runs. Default: one for each core.
    #[arg(long = "threads", value_name = "COUNT")]
    count: Option<NonZero<usize>>,
}

impl Threads {
    pub(crate) fn count(self) -> usize {
        let cores = || std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        self.count.unwrap_or_else(cores).get()
    }
}

/// The program `groupwire`, which experiments start as a server or a tunnel.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Program {
    /// The groupwire program that is measured. Default: the one beside this program, else the one
    /// on PATH.
    #[arg(long = "groupwire", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Program {
    /// The path of the program.
    ///
    /// # Errors
    /// The program does not exist. The error says what to do about it.
    pub(crate) fn path(&self) -> Result<PathBuf> {
        let beside = || {
            let mut path = std::env::current_exe().ok()?;
            path.set_file_name(format!("groupwire{}", std::env::consts::EXE_SUFFIX));
            Some(path).filter(|path| path.is_file())
        };
        let found = self.file.clone().or_else(beside).or_else(|| installed(&["groupwire"]));
        found.ok_or_else(|| {
            "there is no program groupwire beside this one, nor on PATH: build it with 'cargo build --release', or \
             name one with --groupwire"
                .into()
        })
    }
}

/// Whether `item` is among the items that the user named. Naming none stands for all.
pub(crate) fn is_wanted<T: PartialEq<U>, U: ?Sized>(named: &[T], item: &U) -> bool {
    named.is_empty() || named.iter().any(|one| one == item)
}

/// The named items, or the usual ones if the user named none.
pub(crate) fn or_usual<T: Clone>(named: &[T], usual: &[T]) -> Vec<T> {
    if named.is_empty() { usual.to_vec() } else { named.to_vec() }
}

/// The directory that the user named, otherwise this one if it exists.
pub(crate) fn directory_or(named: &Option<PathBuf>, usual: &str) -> Option<PathBuf> {
    named.clone().or_else(|| Some(PathBuf::from(usual)).filter(|path| path.is_dir()))
}

/// A parser of numbers between two bounds.
pub(crate) fn between(
    least: f64,
    most: f64,
) -> impl Fn(&str) -> std::result::Result<f64, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| format!("it must be a number from {least} to {most}"))
    }
}

/// The name of an option's value, on the command line and in rows.
pub(crate) fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// Implements `Display` and `Serialize` for enumerations of option values, by the names that they
/// have there.
macro_rules! named {
    ($($values:ty),+) => {$(
        impl std::fmt::Display for $values {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.pad(&$crate::options::name(self))
            }
        }

        impl serde::Serialize for $values {
            fn serialize<S: serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
                to.serialize_str(&$crate::options::name(self))
            }
        }
    )+};
}
pub(crate) use named;

/// The options that these words on a command line stand for.
#[cfg(test)]
pub(crate) fn parsed<A: Args>(words: &str) -> A {
    #[derive(clap::Parser)]
    struct Command<A: Args> {
        #[command(flatten)]
        options: A,
    }
    let words = std::iter::once("test").chain(words.split_whitespace());
    <Command<A> as clap::Parser>::parse_from(words).options
}
