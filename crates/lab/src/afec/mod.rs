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
