//! Policies over the path to another machine: the files go there through the product's own tunnel,
//! one behind the other, and the agent says when all have come.

use std::time::Instant;

use groupwire_tunnel::Codecs;

use super::files::Files;
use super::row::{Part, compare_times, row};
use super::{ALL, Options};
use crate::far::{Access, Near};
use crate::options::or_usual;
use crate::{Result, Row, Update};

/// The policies that are compared unless `--policy` names others. Those of the paper of 2005 and
/// the program zstd have no tunnel.
const USUAL: [&str; 8] =
    ["never", "lz4", "zlib", "bzip2", "zstd-1", "zstd-3", "zstd-9", "groupwire"];
/// The bytes of all files that are sent unless `--share` says otherwise.
const BYTES: usize = 16 << 20;
const QUICK_BYTES: usize = 1 << 20;
/// The bytes that are written at a time.
const PIECE: usize = 64 << 10;

/// Sends the files by each policy, each through a tunnel of its own.
///
/// # Errors
/// A policy that is none.
pub(super) fn run(
    access: &Access,
    options: &Options,
    files: &Files,
    emit: &mut dyn FnMut(Update),
) -> Result<()> {
    let names = or_usual(&options.policies, &USUAL.map(str::to_owned));
    let policies = names.iter().map(|name| {
        let policy = if name == "groupwire" { "adaptive" } else { name };
        let policy: Codecs = policy
            .parse()
            .map_err(|_| format!("there is no policy {name} over another machine's path"))?;
        Result::Ok((name, policy))
    });
    let policies = policies.collect::<Result<Vec<_>>>()?;
    let all: usize = files.benchmark.iter().map(|sample| sample.bytes.len()).sum();
    let most = options.common.quick_or(QUICK_BYTES, BYTES);
    let share = options.share.unwrap_or(most as f64 / all.max(1) as f64).min(1.0);
    let part = |bytes: usize| (bytes as f64 * share).ceil() as usize;
    let parts = files.benchmark.iter().map(|sample| &sample.bytes[..part(sample.bytes.len())]);
    let parts: Vec<&[u8]> = parts.collect();
    let total = policies.len();
    let mut rows = Vec::new();
    for (done, (name, policy)) in policies.into_iter().enumerate() {
        emit(Update::Progress { done, total, what: format!("the far machine, {name}") });
        let row = row((Part::Real, &options.common), "far", ALL, name)
            .with("bytes_in", parts.iter().map(|part| part.len()).sum::<usize>())
            .with("share", share);
        rows.push(send(access, policy, &parts, row));
    }
    compare_times(&mut rows);
    rows.into_iter().for_each(|row| emit(Update::Row(row)));
    Ok(())
}

fn send(access: &Access, policy: Codecs, parts: &[&[u8]], row: Row) -> Row {
    let start = Instant::now();
    let streamed = Near::open(access, policy)
        .and_then(|near| near.stream(parts.iter().flat_map(|part| part.chunks(PIECE))));
    match streamed {
        Ok(streamed) => {
            let seconds = streamed.time.as_secs_f64();
            row.with("seconds", seconds).with("bytes_wire", streamed.wire)
        }
        Err(error) => row.failed(Some(format!("after {:?}: {error}", start.elapsed()))),
    }
}
