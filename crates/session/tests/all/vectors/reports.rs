//! Reports on datagrams: docs/wire/vectors/reports.json and losses.json.

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_afec::loss::LossModel;

use super::{all_sent, check, json, vector};
use crate::grammar::{Fields, From, Value, hex, read_datagram};

/// The lags that reports contain, and the number of all lags.
const TOLD: [usize; 8] = [1, 2, 3, 4, 5, 7, 9, 12];
const LAGS: usize = 12;

/// W88, as docs/wire/reports.md has it.
struct Losses {
    rate: f64,
    again: [f64; LAGS],
    weight: f64,
}

fn read_losses(bytes: [u8; 6]) -> Losses {
    let rate = match bytes[0] {
        0 => 0.0,
        code => 0.0005_f64.powf(f64::from(255 - code) / 254.0),
    };
    let nibbles = bytes[2..].iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let codes: Vec<(u8, f64)> = [(bytes[1], 255.0)]
        .into_iter()
        .chain(nibbles.clone().take(7).map(|code| (code, 15.0)))
        .collect();
    let again_of = |(code, highest): (u8, f64)| match code {
        0 | 1 => {
            let possible = if rate > 0.5 { 2.0 - 1.0 / rate } else { 0.0 };
            (rate * f64::from(code) / 2.0).max(possible)
        }
        code => rate + (1.0 - rate) * (f64::from(code - 2) / (highest - 2.0)).powf(1.5),
    };
    let told: Vec<(usize, f64)> = TOLD.into_iter().zip(codes.into_iter().map(again_of)).collect();
    let mut again = [0.0; LAGS];
    again[0] = told[0].1;
    for pair in told.windows(2) {
        let ((from, start), (to, end)) = (pair[0], pair[1]);
        for lag in from + 1..=to {
            again[lag - 1] = start + (end - start) * (lag - from) as f64 / (to - from) as f64;
        }
    }
    let weight = f64::from(1_u32 << nibbles.last().unwrap());
    Losses { rate, again, weight }
}

/// W88: the formulas of the documents are those of the code, for all codes and some mixtures.
#[test]
fn w88_losses() {
    let mut vectors = Vec::new();
    let mixed = (0..=255u8).flat_map(|code| {
        let other = code.wrapping_mul(37).wrapping_add(11);
        [
            [code, 2, 0x22, 0x22, 0x22, 0x2a],
            [128, code, other, 0x50, code, 0x7c],
            [250, 0, code, other, 1, 0x0f],
        ]
    });
    for bytes in mixed {
        let (here, code) = (read_losses(bytes), LossModel::read(bytes));
        let is_near = |one: f64, two: f64| (one - two).abs() < 1e-9;
        assert!(is_near(here.rate, code.rate) && is_near(here.weight, code.weight), "{bytes:?}");
        assert!((0..LAGS).all(|lag| is_near(here.again[lag], code.again[lag])), "{bytes:?}");
    }
    let models = [
        ("no losses", 0.0, 0.0),
        ("1 %, each by itself", 0.01, 0.01),
        ("20 %, each by itself", 0.2, 0.2),
        ("5 %, in bursts", 0.05, 0.6),
        ("70 %", 0.7, 0.75),
    ];
    for (name, rate, after_a_loss) in models {
        let again =
            std::array::from_fn(|lag| rate + (after_a_loss - rate) * 0.7_f64.powi(lag as i32));
        let bytes = LossModel { rate, again, weight: 512.0 }.write();
        let Losses { rate, again, weight } = read_losses(bytes);
        let share = |share: f64| format!("{share:.6}");
        let again = again.map(share).join(" ");
        vectors.push(
            vector(name, &bytes)
                .with("rate", Value::Text(share(rate)))
                .with("again", Value::Text(again))
                .num("weight", weight as u64),
        );
    }
    check("losses.json", &json(vectors));
}

/// The headers of datagrams with reports, one for each set of contents.
#[test]
fn w86_reports() {
    let mut found: BTreeMap<(bool, String), (Vec<u8>, Fields)> = BTreeMap::new();
    for sent in all_sent().iter().filter(|sent| sent.is_datagram && sent.bytes[0] >> 6 == 1) {
        let datagram = read_datagram(&sent.bytes).unwrap();
        let Some(Value::Fields(report)) = datagram.find("report") else { continue };
        let mut parts: Vec<&str> = Vec::new();
        parts.extend(["losses", "rate"].into_iter().filter(|name| report.find(name).is_some()));
        if let Some(Value::List(list)) = report.find("parts") {
            let has = |name: &str| list.iter().any(|part| part.find(name).is_some());
            parts.extend(["balance", "first"].into_iter().filter(|name| has(name)));
        }
        let name =
            if parts.is_empty() { "nothing but numbers".to_owned() } else { parts.join(", ") };
        // The header alone, with its fields.
        let end = header_length(&datagram);
        let fields = ["ask", "kind", "number", "sent", "held", "report"];
        let fields =
            fields.into_iter().filter_map(|name| Some((name, datagram.find(name)?.clone())));
        let fields = Fields(fields.collect());
        found.entry((sent.is_up, name)).or_insert_with(|| (sent.bytes[..end].to_vec(), fields));
    }
    for wanted in ["losses", "balance", "nothing"] {
        assert!(found.keys().any(|(_, name)| name.contains(wanted)), "a report with {wanted}");
    }
    let vectors = found.iter().map(|((is_up, name), (bytes, fields))| {
        let from = if *is_up { From::Client } else { From::Server };
        vector(name, bytes)
            .with("from", Value::Text(from.name().into()))
            .with("fields", Value::Fields(fields.clone()))
    });
    check("reports.json", &json(vectors));
}

/// Bytes of a datagram up to the end of its report.
fn header_length(datagram: &Fields) -> usize {
    let mut header = datagram.clone();
    header.0.retain(|(name, _)| !["acknowledgement", "coded", "records"].contains(name));
    crate::grammar::write_datagram(&header).len()
}

/// W86: the numbers are consecutive, `highest` was sent, and `hold` is the time since it arrived.
#[test]
fn w86_what_reports_say_of_datagrams_holds() {
    let mut last: BTreeMap<(u64, bool), u64> = BTreeMap::new();
    let mut all: BTreeMap<(u64, bool), Vec<(u64, Duration)>> = BTreeMap::new();
    for (name, talk) in crate::conversation::stories::all() {
        if !name.starts_with("datagrams") {
            continue;
        }
        last.clear();
        all.clear();
        for sent in talk.sent.iter().filter(|sent| sent.is_datagram && sent.bytes[0] >> 6 == 1) {
            let (datagram, way) = (read_datagram(&sent.bytes).unwrap(), (sent.link, sent.is_up));
            let numbers = all.entry(way).or_default();
            let number = datagram.number("number");
            assert_eq!(number, numbers.len() as u64 & 0xff, "W68: datagrams are numbered");
            assert_eq!(datagram.number("sent"), u64::from(sent.at.as_millis() as u16), "W68");
            numbers.push((number, sent.at));
            let Some(Value::Fields(report)) = datagram.find("report") else { continue };
            let expected = last.get(&way).map_or(1, |before| (before + 1) & 15);
            assert_eq!(
                report.number("number"),
                expected,
                "W86: reports are numbered, {}",
                hex(&sent.bytes)
            );
            last.insert(way, expected);
            let other = &all[&(sent.link, !sent.is_up)];
            let highest =
                other.iter().rfind(|(number, _)| *number == report.number("highest")).unwrap();
            // The datagram was under way for 20 ms.
            let came = highest.1 + Duration::from_millis(20);
            let hold = Duration::from_millis(report.number("hold"));
            assert!(
                (came + hold).abs_diff(sent.at) <= Duration::from_millis(1),
                "W86: {hold:?} at {:?}",
                sent.at
            );
        }
    }
    assert!(!last.is_empty());
}
