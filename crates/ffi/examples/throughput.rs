//! How many transactions a second the Rust client carries from one room to another, and the
//! processor time of each: `throughput URL MESSAGES`. `examples/c/throughput.c` and
//! `python/examples/throughput.py` do the same; `scripts/bench-clients.mjs` runs all three.

use std::error::Error;
use std::time::Instant;

use groupwire_client::{Event, Options, Qos, Room, SendOptions, Sent};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("usage: throughput URL MESSAGES")?;
    let count: usize = arguments.next().ok_or("usage: throughput URL MESSAGES")?.parse()?;
    // As in the other languages: one thread for the client, one for the program.
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build()?.block_on(measure(&url, count))
}

async fn measure(url: &str, count: usize) -> Result<(), Box<dyn Error>> {
    let name = format!("throughput {}", std::process::id());
    let (sender, mut own) = Room::connect(url, Options::new(&name))?;
    let (receiver, mut events) = Room::connect(url, Options::new(&name))?;
    let channel = sender.channel("data", Qos::transaction())?;
    receiver.channel("data", Qos::transaction())?;
    sender.joined().await?;
    receiver.joined().await?;
    let (start, cpu) = (Instant::now(), cpu_seconds()?);
    let sending = tokio::spawn(async move {
        for number in 0..count {
            let text = format!("{{\"number\":{number:8},\"text\":\"{:64}\"}}", "a value");
            while channel.send(text.as_str(), SendOptions::default())? == Sent::NotNow {
                while !matches!(own.next().await, Some(Event::Drain) | None) {}
            }
        }
        // Own transactions come back as events, which have to be taken.
        let mut confirmed = sender.pending() == 0;
        while !confirmed && own.next().await.is_some() {
            confirmed = sender.pending() == 0;
        }
        Ok::<Room, groupwire_client::Error>(sender)
    });
    let mut seen = 0;
    while seen < count {
        match events.next().await {
            Some(Event::Message(_)) => seen += 1,
            Some(_) => {}
            None => return Err("the session ended".into()),
        }
    }
    let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds()? - cpu);
    let sender = sending.await??;
    let bytes = sender.stats().bytes_out_after;
    sender.leave().await;
    let messages = count as f64;
    println!(
        "{:.0} messages/s, {:.2} us of processor time and {:.2} bytes each",
        messages / seconds,
        cpu * 1e6 / messages,
        bytes as f64 / messages
    );
    Ok(())
}

/// The processor time of this process in seconds, in hundredths as Linux counts it.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    Ok((ticks(12).ok_or("no utime")? + ticks(13).ok_or("no stime")?) / 100.0)
}
