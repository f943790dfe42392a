//! The memory of a codec that packs and unpacks messages: as the codec states it, and as the system
//! counts it.

use std::process::Command;
use std::{env, fs, io};

use groupwire_codecs::{Choice, Codec, Packer};

use super::contender::Contender;
use super::telecom;
use crate::options::Common;
use crate::{Result, Row, Update};

/// The number of packers that are made at a time, because the system counts in pages, and takes
/// more than a program asks for.
const COPIES: usize = 16;
/// The size of the message that they pack.
const SIZE: usize = 1400;

/// The fields of a row: the memory that the codec states for compressing and decompressing; the
/// memory that this process allocated and used for it; and the peak for the first packer, because
/// some codecs release memory after a message.
const FIELDS: &str = "codec compress decompress taken resident peak";

/// Measures each codec in a process of its own.
pub(super) fn run(
    contenders: &[Contender],
    common: &Common,
    emit: &mut dyn FnMut(Update),
) -> Result<()> {
    for contender in contenders.iter().filter(|one| one.choice().is_some()) {
        let name = contender.to_string();
        let output =
            Command::new(env::current_exe()?).args(["lossless", "--memory-of", &name]).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let sizes: Vec<u64> = text.split_whitespace().filter_map(|one| one.parse().ok()).collect();
        let row = Row::new("memory", FIELDS, common).with("codec", &name);
        emit(match sizes.len() {
            5 => {
                let fields = FIELDS.split(' ').skip(1).zip(sizes);
                Update::Row(fields.fold(row, |row, (field, size)| row.with(field, size)))
            }
            _ => {
                let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                Update::Skipped { what: name, why }
            }
        });
    }
    Ok(())
}

/// Prints the sizes of one codec. Makes some packers, lets each pack and unpack a message of 1400
/// bytes, and looks what this process, which has to be a new one, has grown by.
///
/// # Errors
/// Where there is no `/proc`, or no such level.
pub(super) fn measure(contender: Contender) -> Result<()> {
    let Some(choice) = contender.choice() else {
        return Err("auto has the memory of the codecs that it uses: name one of them".into());
    };
    let sizes = sizes(choice, contender.codecs())?.map(|size| size.to_string());
    println!("{}", sizes.join(" "));
    Ok(())
}

fn sizes(choice: Choice, codecs: &'static [&'static dyn Codec]) -> io::Result<[u64; 5]> {
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
        let mut packer = Packer::new(codecs);
        work(&mut packer)?;
        packers.push(packer);
        if copy == 0 {
            most = peak()?;
        }
    }
    let after = grown()?;
    let own = packers[0].memory();
    let each = |at: usize| after[at].saturating_sub(before[at]) / COPIES as u64;
    let own = [own.compress as u64, own.decompress as u64];
    Ok([own[0], own[1], each(0), each(1), most.saturating_sub(first)])
}

/// The sizes of this process' data, and of its resident memory, in bytes.
fn grown() -> io::Result<[u64; 2]> {
    Ok([status("VmData:")?, status("RssAnon:")?])
}

/// The peak of the resident memory, in bytes.
fn peak() -> io::Result<u64> {
    status("VmHWM:")
}

fn status(name: &str) -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.map(|count| count * 1024).ok_or_else(|| io::ErrorKind::InvalidData.into())
}
