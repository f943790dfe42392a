//! `groupwire ace profile`: the training run of the paper "Adaptive On-the-Fly Compression", called ACE (sections 4.1
//! and 4.2).

use std::error::Error;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args as ClapArgs;
use groupwire_lab::ace::Files;
use groupwire_tunnel::ace::{Bench, Training};
use groupwire_tunnel::profile;
use indicatif::{ProgressBar, ProgressStyle};

use super::table;

/// The most blocks that are measured of each file, evenly spread. With 100 repetitions of each a run takes about two
/// minutes.
const BLOCKS: usize = 32;
/// The most blocks of each file and the repetitions with `--quick`, which takes some seconds.
const QUICK_BLOCKS: usize = 8;
const QUICK_REPEAT: u32 = 5;
/// Bytes that are read of each file, which bounds the memory.
const LARGEST: u64 = 64 << 20;
/// A machine is not idle if its load average of the last minute is above this: half of one core.
const IDLE: f64 = 0.5;
/// The seed of built-in files that are generated.
const SEED: u64 = 1;

/// The options of `groupwire ace profile`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Write the profile to this file instead of groupwire/ace-profile.txt in $XDG_DATA_HOME or ~/.local/share.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Train with these files instead of the built-in ones and those that every Linux has.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    files: Vec<PathBuf>,

    /// How often to compress and decompress each block [default: 100].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: Option<u32>,

    /// Take a few seconds: measure fewer blocks of each file, five times each unless --repeat is given.
    #[arg(long)]
    quick: bool,
}

/// A file that the training run measures.
struct Sample {
    name: String,
    bytes: Vec<u8>,
}

pub(super) fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    let out =
        match args.out.or_else(profile::default_path) {
            Some(out) => out,
            None => return Err(
                "there is no home directory to write the profile to: name a file with --out FILE"
                    .into(),
            ),
        };
    let samples = match args.files.is_empty() {
        true => built_in(),
        false => args.files.iter().map(|path| read(path)).collect::<Result<_, _>>()?,
    };
    profile::check(&out)?;
    warn_unless_idle();
    let (most, repeat) = if args.quick { (QUICK_BLOCKS, QUICK_REPEAT) } else { (BLOCKS, 100) };
    let repeat = args.repeat.unwrap_or(repeat);
    let bench = measure(&samples, most, repeat)?;
    let training = Training::of(&bench)?;
    profile::save(&out, &training)?;
    let names: Vec<&str> = samples.iter().map(|sample| &sample.name[..]).collect();
    table::print(&bench, &names, repeat);
    println!("\nWritten to {}.", out.display());
    Ok(ExitCode::SUCCESS)
}

/// The training files of the experiment `groupwire lab ace`, which measures with other files.
fn built_in() -> Vec<Sample> {
    let files = Files::load(None, SEED).training.into_iter();
    files.map(|file| Sample { name: file.name.to_owned(), bytes: file.octets }).collect()
}

fn read(path: &Path) -> Result<Sample, String> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    let file = File::open(path).and_then(|file| file.take(LARGEST).read_to_end(&mut bytes));
    match file {
        Err(error) => Err(format!("cannot read {name}: {error}")),
        Ok(_) if Training::blocks(&bytes).next().is_none() => {
            Err(format!("{name} is too small to train with: it has less than one block of 32 KiB"))
        }
        Ok(_) => Ok(Sample { name, bytes }),
    }
}

fn measure(samples: &[Sample], most: usize, repeat: u32) -> Result<Bench, Box<dyn Error>> {
    let mut bench = Bench::new(Training::choices(), repeat)?;
    let chosen: Vec<(&str, &[u8])> =
        samples.iter().flat_map(|sample| chosen(sample, most)).collect();
    let bar = ProgressBar::new(chosen.len() as u64);
    bar.set_style(ProgressStyle::with_template("{bar:32} {pos}/{len} blocks, {eta} left, {msg}")?);
    for (name, block) in chosen {
        bar.set_message(name.to_owned());
        bench.block(block, &mut clock)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(bench)
}

/// At most `most` blocks, evenly spread over a sample.
fn chosen(sample: &Sample, most: usize) -> impl Iterator<Item = (&str, &[u8])> {
    let count = Training::blocks(&sample.bytes).count();
    let step = count.div_ceil(most).max(1);
    let blocks = Training::blocks(&sample.bytes).step_by(step);
    blocks.map(|block| (&sample.name[..], block))
}

/// The processor time of this thread, which does not include other processes.
#[cfg(unix)]
fn clock() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    // The processor time of a thread is never negative.
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

#[cfg(not(unix))]
fn clock() -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

/// Warns if other processes are busy: they share caches and memory, although not the processor time of this thread.
fn warn_unless_idle() {
    // Only Linux has this file.
    let Ok(text) = fs::read_to_string("/proc/loadavg") else { return };
    let load = text.split(' ').next().and_then(|load| load.parse::<f64>().ok());
    if let Some(load) = load.filter(|load| *load > IDLE) {
        eprintln!(
            "groupwire: this machine is busy (load average {load}); the times are more accurate on an idle one"
        );
    }
}
