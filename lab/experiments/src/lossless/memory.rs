//! What a codec holds to pack and unpack messages: as it says itself, and as the system sees it.

use std::{fs, io};

use groupwire_codecs::{ALL, Choice, Packer};
use serde::{Deserialize, Serialize};

use super::telecom;

/// Packers that are made at a time: the system counts in pages, and takes more than it is asked for.
const COPIES: usize = 16;
/// Of the message that they pack.
const SIZE: usize = 1400;

/// Memory of one end, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// To pack, as the codec reckons.
    pub compress: usize,
    /// To unpack, as the codec reckons.
    pub decompress: usize,
    /// What this process took from the system for it.
    pub taken: u64,
    /// What of that it has used so far, in whole pages.
    pub resident: u64,
    /// What it used at the most, for the first of them: some give back what they took when a message is done.
    pub peak: u64,
}

/// Makes some packers, lets each pack and unpack a message of 1400 octets, and looks what this process has grown by: so
/// it is to be a new one.
///
/// # Errors
/// Where there is no `/proc`, or no such level.
pub fn measure(choice: Choice) -> io::Result<Memory> {
    let message = &telecom::packets(1, telecom::PACKETS)[..SIZE];
    let work = |packer: &mut Packer| {
        let (mut packed, mut back) = (Vec::new(), Vec::new());
        packer.pack(choice, message, &mut packed).map_err(io::Error::other)?;
        packer.unpack(&packed, SIZE, &mut back).map_err(io::Error::other)
    };
    let mut packers = Vec::with_capacity(COPIES);
    let (before, first) = (grown()?, peak()?);
    let mut most = first;
    for copy in 0..COPIES {
        let mut packer = Packer::new(ALL);
        work(&mut packer)?;
        packers.push(packer);
        if copy == 0 {
            most = peak()?;
        }
    }
    let after = grown()?;
    let own = packers[0].memory();
    let each = |at: usize| after[at].saturating_sub(before[at]) / COPIES as u64;
    Ok(Memory {
        compress: own.compress,
        decompress: own.decompress,
        taken: each(0),
        resident: each(1),
        peak: most.saturating_sub(first),
    })
}

/// The data of this process and what of it is resident, in bytes.
fn grown() -> io::Result<[u64; 2]> {
    Ok([status("VmData:")?, status("RssAnon:")?])
}

/// The most that was ever resident, in bytes.
fn peak() -> io::Result<u64> {
    status("VmHWM:")
}

fn status(name: &str) -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.map(|count| count * 1024).ok_or_else(|| io::ErrorKind::InvalidData.into())
}
