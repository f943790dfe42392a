//! The experiment `afec`: which share of messages misses its deadline, and what holding a target costs, for every scheme
//! on every channel, in simulated time.

mod cell;
mod pair;
pub mod real;
mod row;
mod run;
mod search;

use std::sync::Arc;
use std::time::Duration;

use groupwire_afec::code::Code;
use groupwire_afec::{Afec2012, Notice, Scheme};

pub use row::Row;

use cell::Cell;
use pair::Setup;
use run::{Figures, Log, WINDOW};

/// Messages that are left out of the figures, while schemes that adapt begin to.
fn warm_up(messages: usize) -> usize {
    (messages / 20).min(WINDOW)
}

pub fn probe() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let n: usize = args.first().map_or(21_000, |a| a.parse().unwrap());
    let only: Vec<&str> = args.get(1).map_or(vec![], |a| a.split(',').collect());
    let paths: Vec<&str> =
        args.get(2).map_or(vec!["50/250", "100/250", "250/250", "50/100", "100/100"], |a| {
            a.split(',').collect()
        });
    let target: f64 = args.get(3).map_or(0.05, |a| a.parse().unwrap());
    let price: Option<f64> = args.get(4).map(|a| a.parse().unwrap());
    let input: Arc<[_]> = crate::sim::input::generated(1, n).into();
    let mut ratios = vec![];
    for path in paths {
        let (rtt, deadline) = path.split_once('/').unwrap();
        for channel in crate::sim::Loss::CHANNELS {
            if channel.starts_with("step")
                || (!only.is_empty() && !only.contains(&channel) && only != ["all"])
            {
                continue;
            }
            let cell = cell::Cell {
                loss: channel.parse().unwrap(),
                round_trip: Duration::from_millis(rtt.parse().unwrap()),
                deadline: Duration::from_millis(deadline.parse().unwrap()),
                target,
                link_kbit: None,
                relayed: false,
            };
            let go = |scheme| {
                pair::run(
                    &cell,
                    &pair::Setup { scheme, price, input: &input, seed: 1, timed: false },
                )
            };
            let udp = go(Scheme::Fixed(Code::PLAIN)).figures(warm_up(n));
            let ours = go(Scheme::Adaptive);
            let gw = ours.figures(warm_up(n));
            let over = |f: &Figures| f.bytes_per_message / udp.bytes_per_message - 1.0;
            if std::env::var("SEARCH").is_ok() {
                let best = search::best(&cell, &input, price, 1, 1);
                let b = best.log.figures(warm_up(n));
                println!("BEST {path} {channel} {:.4} {:.2} {:.4} {} {}", b.mer, b.windows_met, over(&b), best.feasible, short(&best.code).replace(' ', ""));
                continue;
            }
            let file = std::fs::read_to_string("/tmp/best.txt").unwrap_or_default();
            let line = file.lines().find(|l| l.starts_with(&format!("BEST {path} {channel} "))).unwrap_or("x x x 1 0 1 false none").to_owned();
            let f: Vec<&str> = line.split(' ').collect();
            let (bm, bw, bo, feas) = (f[3].parse::<f64>().unwrap(), f[4].parse::<f64>().unwrap(), f[5].parse::<f64>().unwrap(), f[6] == "true");
            let ratio = over(&gw).max(0.01) / bo.max(0.01);
            if feas { ratios.push(ratio); }
            println!("{path:8} {channel:8} udp {:.3} | gw {:.4} met {:.2} over {:.3} told {} | best {bm:.4} met {bw:.2} over {bo:.3} {feas} ratio {ratio:.2} {}{}{} | {} | {}", udp.mer, gw.mer, gw.windows_met, over(&gw), ours.notices.len(), if feas && gw.mer > target * 1.1 { "MER! " } else { "" }, if feas && gw.windows_met + 0.02 < bw { "WIN! " } else { "" }, if ratio > 1.25 { "OVER!" } else { "" }, f[7], ours.code);
        }
    }
    let g = (ratios.iter().map(|r: &f64| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
    println!(
        "geo {g:.3} worst {:.2} of {}",
        ratios.iter().cloned().fold(0.0, f64::max),
        ratios.len()
    );
}
fn short(c: &Code) -> String {
    format!(
        "{:?} / {:?} x{:.2} ask{} {}",
        c.repeats.iter().collect::<Vec<_>>(),
        c.other.iter().collect::<Vec<_>>(),
        c.share,
        c.ask,
        c.close
    )
}

pub fn steps() {
    let n: usize = 1350;
    let input: Arc<[_]> = (0..n).map(|i| crate::sim::input::Update { at: crate::sim::input::INTERVAL * i as u32, key: 0, len: 20 }).collect();
    let at = Duration::from_secs(20);
    for path in ["50/250", "100/250", "250/250", "50/100", "100/100"] {
        let (rtt, deadline) = path.split_once('/').unwrap();
        for channel in ["step0-20", "step0-pb5@8", "step20-0", "steppb5@8-0"] {
            let mut bins = [(0u32, 0u32); 50];
            let mut reps = [0.0; 50];
            for seed in 0..200 {
                let loss: crate::sim::Loss = channel.parse().unwrap();
                let loss = loss.with_step_at(at + Duration::from_micros(seed * 1300));
                let cell = cell::Cell { loss, round_trip: Duration::from_millis(rtt.parse().unwrap()), deadline: Duration::from_millis(deadline.parse().unwrap()), target: 0.05, link_kbit: None, relayed: false };
                let log = pair::run(&cell, &pair::Setup { scheme: Scheme::Adaptive, price: None, input: &input, seed: seed + 1000, timed: true });
                for (sent, latency) in &log.messages {
                    if *sent >= at { let b = ((*sent - at).as_millis() / 500) as usize; if b < 50 { bins[b].0 += 1; bins[b].1 += u32::from(log.missed(*latency)); } }
                }
                for (t, bytes) in &log.by_time { if *t >= at { let b = ((*t - at).as_millis() / 500) as usize; if b < 50 { reps[b] += bytes / 200.0; } } }
            }
            let m: Vec<String> = bins.iter().take(24).map(|b| format!("{:.1}", 100.0 * f64::from(b.1) / f64::from(b.0.max(1)))).collect();
            let later = |from: usize| { let s = bins[from..].iter().fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1)); 100.0 * f64::from(s.1) / f64::from(s.0) };
            let r: Vec<String> = reps.iter().take(24).map(|b| format!("{:.0}", b)).collect();
            println!("{path} {channel}: {} | from 2 s {:.2} from 5 s {:.2}", m.join(" "), later(4), later(10));
            println!("     bytes {}", r.join(" "));
        }
    }
}
