//! Measures commits and starts: `cargo run --release --package groupwire-store --example measure --
//! FOLDER [commits|rooms|log|erase]`. The folder must be empty; what is written there stays.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use groupwire_store::{Append, Directory, Monitor, Options, Record, RoomLog, Store, wait};

/// Rooms that share the log when commits are measured.
const ROOMS: usize = 50;
/// The size of a record, in bytes.
const SIZE: usize = 150;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("name an empty folder")?;
    let folder = Path::new(&folder);
    match arguments.next().as_deref() {
        Some("rooms") => rooms(folder),
        Some("log") => log(folder),
        Some("erase") => erase(folder),
        Some("open") => open(folder).map(drop),
        _ => [1, 40, 400]
            .into_iter()
            .try_for_each(|records| commits(&folder.join(records.to_string()), records)),
    }
}

/// Measures commits of `records` records in 50 rooms.
fn commits(folder: &Path, records: usize) -> Outcome<()> {
    let store = Store::open(folder, options())?;
    let mut heads = [0; ROOMS];
    let mut times = Vec::new();
    let (cpu, written) = (cpu()?, written()?);
    let commits = store.usage().commits;
    let count = 200_000 / records.max(40);
    for round in 0..count {
        let begin = Instant::now();
        put(&store, &mut heads, round * records, records)?;
        times.push(begin.elapsed());
        // A short pause, in place of a tick of the server's rooms.
        if records == 1 {
            continue;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let commits = store.usage().commits - commits;
    let (cpu, written) = (self::cpu()? - cpu, self::written()? - written);
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    let all = (count * records) as f64;
    println!(
        "{records} records: p50 {:.2} ms, p99 {:.2} ms, longest {:.2} ms; CPU {:.1} us a record; {:.1} bytes written a byte; {commits} commits",
        at(0.5),
        at(0.99),
        at(1.0),
        cpu.as_secs_f64() * 1e6 / all,
        written as f64 / (all * SIZE as f64)
    );
    Ok(())
}

/// The start with 100,000 rooms.
fn rooms(folder: &Path) -> Outcome<()> {
    let store = Store::open(folder, options())?;
    let (send, receive) = mpsc::channel();
    for room in 0..100_000 {
        let send = send.clone();
        store.append(
            append(&format!("room/{room:06}"), 1, 1),
            Box::new(move |outcome| drop(send.send(outcome))),
        );
        if room % 1000 == 999 {
            receive.iter().take(1000).collect::<Result<(), _>>()?;
        }
    }
    drop(store);
    println!("stored; now run it again with `open`, after dropping the system's cache");
    Ok(())
}

/// The start with a log of 1 GB.
fn log(folder: &Path) -> Outcome<()> {
    let store = Store::open(folder, options())?;
    let mut heads = [0; ROOMS];
    let count = (1 << 30) / (SIZE + 40);
    for round in 0..count / 1000 {
        put(&store, &mut heads, round * 1000, 1000)?;
    }
    println!("stored {count} records");
    Ok(())
}

/// Commits while 40 of 50 rooms of a log of 200 MB are erased.
fn erase(folder: &Path) -> Outcome<()> {
    let store = Store::open(folder, options())?;
    let mut heads = [0; ROOMS];
    for round in 0..(200 << 20) / (SIZE * 1000) {
        put(&store, &mut heads, round * 1000, 1000)?;
    }
    let longest = |until: &dyn Fn() -> bool, heads: &mut [u64; ROOMS]| -> Outcome<Duration> {
        let mut longest = Duration::ZERO;
        while !until() {
            let begin = Instant::now();
            put(&store, heads, 0, 1)?;
            longest = longest.max(begin.elapsed());
        }
        Ok(longest)
    };
    let begin = Instant::now();
    let quiet = longest(&|| begin.elapsed() > Duration::from_secs(5), &mut heads)?;
    for room in ROOMS / 5..ROOMS {
        wait(|done| store.delete(room.to_string(), done))?;
    }
    let erased = Arc::new(AtomicBool::new(false));
    let flag = erased.clone();
    store.erase(Box::new(move |outcome| flag.store(outcome.is_ok(), Ordering::Relaxed)));
    let begin = Instant::now();
    let busy = longest(&|| erased.load(Ordering::Relaxed), &mut heads)?;
    println!(
        "erased in {:.1} s; longest commit {:.1} ms meanwhile, {:.1} ms before",
        begin.elapsed().as_secs_f64(),
        busy.as_secs_f64() * 1e3,
        quiet.as_secs_f64() * 1e3
    );
    Ok(())
}

/// Opens the store and says how long it took, and how much memory it takes.
fn open(folder: &Path) -> Outcome<Store> {
    // What SQLite takes for itself does not count.
    drop(Store::open(folder.join("empty"), options())?);
    let (before, begin) = (memory()?, Instant::now());
    let store = Store::open(folder, options())?;
    let time = begin.elapsed();
    let usage = store.usage();
    let memory = memory()?.saturating_sub(before);
    println!(
        "open: {:.2} s, {} rooms, {} MB live, {:.1} MB of memory, {} bytes a room",
        time.as_secs_f64(),
        usage.rooms,
        usage.live >> 20,
        memory as f64 / 1e6,
        memory / usage.rooms.max(1) as u64
    );
    Ok(store)
}

/// Appends records, one a room in turn, and waits until all are durable.
fn put(store: &Store, heads: &mut [u64; ROOMS], first: usize, records: usize) -> Outcome<()> {
    let (send, receive) = mpsc::channel();
    let rooms = records.min(ROOMS);
    for turn in 0..rooms {
        let room = (first + turn) % ROOMS;
        let count = records / rooms + usize::from(turn < records % rooms);
        let send = send.clone();
        let append = append(&room.to_string(), heads[room] + 1, count);
        heads[room] += count as u64;
        store.append(append, Box::new(move |outcome| drop(send.send(outcome))));
    }
    drop(send);
    Ok(receive.iter().collect::<Result<(), _>>()?)
}

fn append(room: &str, first: u64, count: usize) -> Append {
    let record = |position| Record {
        position,
        channel: 1,
        author: 5,
        recipient: 0,
        counter: position as u32,
        bytes: vec![position as u8; SIZE],
    };
    let records = (first..first + count as u64).map(record).collect();
    Append { room: room.into(), incarnation: 7, records, ..Append::default() }
}

fn options() -> Options {
    Options {
        max_rooms: 1_000_000,
        max_room_bytes: 100 << 30,
        max_bytes: 100 << 30,
        ..Options::default()
    }
}

/// The processor time of this process, from Linux.
fn cpu() -> Outcome<Duration> {
    let text = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<_> = text.rsplit(") ").next().ok_or("no fields")?.split(' ').collect();
    let ticks = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    // Linux counts in hundredths of a second for programs.
    Ok(Duration::from_millis(ticks * 10))
}

fn written() -> Outcome<u64> {
    number("/proc/self/io", "write_bytes: ")
}

fn memory() -> Outcome<u64> {
    Ok(number("/proc/self/status", "VmRSS:")? * 1024)
}

fn number(file: &str, name: &str) -> Outcome<u64> {
    let text = fs::read_to_string(file)?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)).ok_or("not on this system")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
