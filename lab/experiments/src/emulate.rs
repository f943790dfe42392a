//! The command `emulate`: runs any program in an emulated network, which that program changes as it
//! goes on.
//!
//! The program's standard input and output are the wire between the two: a line that begins with
//! `network` is an order, which a line answers; every other line is passed on.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};
use std::str::SplitWhitespace;
use std::time::Duration;

use clap::Args;

use crate::Result;
use crate::emulator::{Emulator, Namespace, Path, PathStats};
use crate::options::Program;
use crate::sim::random::derive;
use crate::sim::{Capacity, LinkConfig, Loss, Queue};

/// The beginning of each order.
const ORDER: &str = "network ";
/// The longest delay, jitter or queue of a link, in ms.
const LONGEST: f64 = 60_000.0;

/// The options of `groupwire-lab emulate`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The clients of the network, each with a path of its own to the server.
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=250))]
    clients: u8,

    /// The seed of losses.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    groupwire: Program,

    /// The program that is run, and its arguments, after `--`.
    #[arg(value_name = "PROGRAM", required = true, last = true)]
    program: Vec<OsString>,
}

/// Runs the program until it ends.
///
/// # Errors
/// No emulated network, a program that cannot be started.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    // Comes first, because it may start this program again in a network namespace.
    let namespace =
        Namespace::enter().map_err(|error| format!("no emulated network here: {error}"))?;
    let clients = usize::from(options.clients);
    let emulator = Emulator::start(&namespace, &vec![Path::default(); clients])?;
    let servers: Vec<_> = (0..clients).map(|n| emulator.client(n).server().to_string()).collect();

    let (name, arguments) = options.program.split_first().ok_or("no program is named")?;
    let mut command = Command::new(name);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.env("GROUPWIRE_BINARY", options.groupwire.path()?);
    command.env("GROUPWIRE_LAB_SERVERS", servers.join(" "));
    let child = command.spawn();
    let mut child =
        child.map_err(|error| format!("cannot run {}: {error}", name.to_string_lossy()))?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (mut input, output) = input.zip(output).ok_or("the program has no input or no output")?;

    let mut orders = 0;
    for line in BufReader::new(output).lines() {
        let line = line?;
        let Some(order) = line.strip_prefix(ORDER) else {
            println!("{line}");
            continue;
        };
        orders += 1;
        let done = Order::parse(order, clients, derive(options.seed, orders))
            .and_then(|order| order.obey(&emulator));
        let answer = match done {
            Ok(None) => "done".to_owned(),
            Ok(Some(PathStats { up, down, .. })) => format!("done {} {}", up.bytes, down.bytes),
            Err(error) => format!("refused: {error}"),
        };
        // Writing fails if the program does not wait for an answer any more.
        let _ = writeln!(input, "{answer}");
    }
    let status = child.wait()?;
    Ok(status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from))
}

/// A change of the network that the program asks for.
#[derive(Debug)]
enum Order {
    /// `path CLIENT DELAY LOSS`: both directions of a client's path have this delay, in ms, and
    /// lose packets as the channel of this name. `jitter=MS` delays each packet by up to this much
    /// more, `kbit=RATE` limits the rate (kbit/s), and `queue=MS` the longest wait for it.
    Path { client: usize, path: Box<Path> },
    /// `count CLIENT`: tells the bytes of a client's path since it was set, from the IP header on,
    /// towards the server and back.
    Count { client: usize },
    /// `move CLIENT`: the client has another address from now on, or its first one again.
    Move { client: usize },
}

impl Order {
    fn parse(text: &str, clients: usize, seed: u64) -> Result<Order> {
        let mut words = text.split_whitespace();
        let kind = words.next().unwrap_or_default();
        let client: usize = next(&mut words, "client")?.parse()?;
        if client >= clients {
            return Err(format!("there are {clients} clients, from 0 on").into());
        }
        let order = match kind {
            "path" => {
                let delay = time(next(&mut words, "delay")?)?;
                let loss: Loss = next(&mut words, "loss")?.parse()?;
                let mut link = LinkConfig { delay, loss, ..LinkConfig::default() };
                for word in words.by_ref() {
                    limit(&mut link, word)?;
                }
                Order::Path { client, path: Box::new(Path { up: link.clone(), down: link, seed }) }
            }
            "move" => Order::Move { client },
            "count" => Order::Count { client },
            _ => return Err(format!("no such order: {kind}").into()),
        };
        match words.next() {
            None => Ok(order),
            Some(word) => Err(format!("what is {word}?").into()),
        }
    }

    /// Returns what was asked for, if anything was.
    fn obey(self, emulator: &Emulator) -> Result<Option<PathStats>> {
        match self {
            Order::Path { client, path } => emulator.change(client, &path),
            Order::Move { client } => emulator.move_client(client)?,
            Order::Count { client } => return Ok(Some(emulator.stats(client))),
        }
        Ok(None)
    }
}

/// Sets what a word such as `kbit=40` says of a link.
fn limit(link: &mut LinkConfig, word: &str) -> Result<()> {
    match word.split_once('=') {
        Some(("jitter", text)) => link.jitter = time(text)?,
        Some(("queue", text)) => link.queue = Queue::Time(time(text)?),
        Some(("kbit", text)) => {
            let rate: f64 = text.parse()?;
            if !(rate > 0.0 && rate.is_finite()) {
                return Err("a rate is above 0 kbit/s".into());
            }
            link.capacity = Capacity::kbit(rate);
        }
        _ => return Err(format!("what is {word}?").into()),
    }
    Ok(())
}

/// A time in ms.
fn time(text: &str) -> Result<Duration> {
    let ms: f64 = text.parse()?;
    if !(0.0..=LONGEST).contains(&ms) {
        return Err(format!("a time is 0 to {LONGEST} ms").into());
    }
    Ok(Duration::from_secs_f64(ms / 1e3))
}

fn next<'a>(words: &mut SplitWhitespace<'a>, what: &str) -> Result<&'a str> {
    Ok(words.next().ok_or_else(|| format!("which {what}?"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read() {
        let order = Order::parse("path 1 12.5 pb10@6", 2, 7);
        let Ok(Order::Path { client: 1, path }) = order else { panic!("{order:?}") };
        assert_eq!((path.up.delay, path.seed), (Duration::from_micros(12_500), 7));
        let loss = Loss::Bursts { start_percent: 6.0, longest: 10 };
        assert_eq!((&path.up.loss, &path.down.loss), (&loss, &loss));
        assert!(matches!(Order::parse("move 0", 1, 7), Ok(Order::Move { client: 0 })));
        assert!(matches!(Order::parse("count 0", 1, 7), Ok(Order::Count { client: 0 })));
        let order = Order::parse("path 0 5 rand0 jitter=25 kbit=40 queue=300", 2, 7);
        let Ok(Order::Path { path, .. }) = order else { panic!("{order:?}") };
        let ms = Duration::from_millis(1);
        assert_eq!((path.up.jitter, path.up.queue), (25 * ms, Queue::Time(300 * ms)));
        assert!(matches!(path.down.capacity, Capacity::BytesPerSecond(5000.0)));
    }

    #[test]
    fn what_is_no_order_is_refused() {
        let wrong = [
            "",
            "move",
            "move 2",
            "move x",
            "move 0 0",
            "stay 0",
            "path 0",
            "path 0 10",
            "path 0 10 lots",
            "path 0 -1 rand0",
            "path 0 NaN rand0",
            "path 0 10 rand0 25",
            "path 0 10 rand0 jitter=lots",
            "path 0 10 rand0 kbit=0",
            "path 0 10 rand0 speed=3",
        ];
        for text in wrong {
            assert!(Order::parse(text, 2, 7).is_err(), "{text}");
        }
    }
}
