//! The cost of numbers with fractions: bytes per message for many ways to compute and print them.
//!
//! ```text
//! cargo run --release -p groupwire-gmc --example floats [MEMORY]
//! ```
//!
//! A pointer moves in whole pixels. Each set maps and prints its two coordinates in another way.
//! The bare pixels show the cost of the movement itself.

use std::error::Error;

use groupwire_gmc::{Config, Decoder, Encoder};

type Print = Box<dyn FnMut(usize, i32, i32) -> [String; 2]>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut config = Config::default();
    if let Some(memory) = std::env::args().nth(1) {
        config.memory = memory.parse()?;
    }
    for (name, mut print) in sets() {
        let mut random = Random(7);
        let (mut x, mut y, mut dx, mut dy) = (500, 400, 3, 2);
        let (mut encoder, mut decoder) =
            (Encoder::new(config.clone()), Decoder::new(config.clone()));
        let mut total = 0;
        for index in 0..COUNT {
            // A hand speeds up, slows down and turns, and stays on the screen.
            dx = (dx + random.below(9) as i32 - 4).clamp(-40, 40) - (x - 900) / 300;
            dy = (dy + random.below(9) as i32 - 4).clamp(-40, 40) - (y - 500) / 200;
            (x, y) = (x + dx, y + dy);
            let [a, b] = print(index, x, y);
            let message = format!(r#"{{"type":"pointer","user":"ann","x":{a},"y":{b}}}"#);
            let (mut packet, mut decoded) = (Vec::new(), Vec::new());
            encoder.encode(message.as_bytes(), &mut packet)?;
            decoder.decode(&packet, &mut decoded)?;
            if decoded != message.as_bytes() {
                return Err(format!("{message} is decoded wrongly").into());
            }
            total += packet.len();
        }
        println!("{:6.3} B/message: {name}", total as f64 / COUNT as f64);
    }
    Ok(())
}

const COUNT: usize = 5000;

/// All sets: their names, and how they make the coordinates of a message.
fn sets() -> Vec<(&'static str, Print)> {
    let affine = |scale: f64, offset: f64, print: fn(f64) -> String| -> Print {
        Box::new(move |_, x, y| [x, y].map(|pixel| print(f64::from(pixel) * scale + offset)))
    };
    let shortest: fn(f64) -> String = |number| format!("{number}");
    let mut random = Random(11);
    let mut sum = [50.0, 40.0];
    let mut before = [500, 400];
    vec![
        ("bare pixels", affine(1.0, 0.0, shortest)),
        ("pixels, with .0", affine(1.0, 0.0, |number| format!("{number:?}"))),
        ("half pixels", affine(0.5, 0.25, shortest)),
        ("zoom 0.75", affine(1.0 / 0.75, -311.0, shortest)),
        (
            "zoom 0.9 by division",
            Box::new(|_, x, y| [x, y].map(|pixel| format!("{}", f64::from(pixel) / 0.9 + 213.5))),
        ),
        (
            "(pixel - pan) / zoom, both odd",
            Box::new(|_, x, y| {
                [x, y].map(|pixel| format!("{}", (f64::from(pixel) - 117.3828125) / 0.735_112_9))
            }),
        ),
        (
            "zoom changes every 500 messages",
            Box::new(|index, x, y| {
                let zoom = 1.1f64.powi((index / 500 % 7) as i32 - 3);
                [x, y].map(|pixel| format!("{}", f64::from(pixel) / zoom + 77.5))
            }),
        ),
        (
            "pan changes every 100 messages",
            Box::new(|index, x, y| {
                let pan = (index / 100) as f64 * 13.37;
                [x, y].map(|pixel| format!("{}", (f64::from(pixel) - pan) / 0.8))
            }),
        ),
        (
            "share of the window, 0 to 1",
            Box::new(|_, x, y| {
                [(x, 1920.0), (y, 1080.0)]
                    .map(|(pixel, size)| format!("{}", f64::from(pixel) / size))
            }),
        ),
        (
            "share of the window, 7 decimals",
            Box::new(|_, x, y| {
                [(x, 1920.0), (y, 1080.0)]
                    .map(|(pixel, size)| format!("{:.7}", f64::from(pixel) / size))
            }),
        ),
        ("toFixed(1) of scaled pixels", affine(1.3603, 33.1, |number| format!("{number:.1}"))),
        ("toFixed(2) of scaled pixels", affine(1.3603, 33.1, |number| format!("{number:.2}"))),
        ("toFixed(3) of scaled pixels", affine(1.3603, 33.1, |number| format!("{number:.3}"))),
        ("%.10f of scaled pixels", affine(0.666_666_7, 0.0, |number| format!("{number:.10}"))),
        (
            "rounded to 3 decimals, zeros cut",
            affine(1.3603, 33.1, |number| format!("{}", (number * 1000.0).round() / 1000.0)),
        ),
        (
            "single precision, shortest",
            Box::new(|_, x, y| [x, y].map(|pixel| format!("{}", pixel as f32 * 1.3603 + 33.1))),
        ),
        (
            "single precision as double",
            Box::new(|_, x, y| {
                [x, y].map(|pixel| shortest_even(f64::from(pixel as f32 * 1.3603 + 33.1)))
            }),
        ),
        (
            "latitude and longitude, 7 decimals",
            Box::new(move |_, x, y| {
                [(x, 51.5), (y, -0.12)].map(|(pixel, origin)| {
                    let noise = random.below(1000) as f64 / 1000.0;
                    format!("{:.7}", origin + (f64::from(pixel) + noise) * 1e-5)
                })
            }),
        ),
        (
            "sums of tenths, with their noise",
            Box::new(move |_, x, y| {
                let steps = [x - before[0], y - before[1]];
                before = [x, y];
                for axis in 0..2 {
                    for _ in 0..steps[axis].abs() {
                        sum[axis] += 0.1 * f64::from(steps[axis].signum());
                    }
                }
                sum.map(|sum| format!("{sum}"))
            }),
        ),
        ("doubles on no grid", {
            let mut random = Random(12);
            Box::new(move |_, x, y| {
                [x, y].map(|pixel| {
                    format!(
                        "{}",
                        f64::from(pixel) + random.below(1 << 40) as f64 / (1u64 << 40) as f64
                    )
                })
            })
        }),
        ("3 decimals on no grid", {
            let mut random = Random(13);
            Box::new(move |_, x, y| {
                [x, y].map(|pixel| format!("{pixel}.{:03}", random.below(1000)))
            })
        }),
        (
            "exponents",
            Box::new(|_, x, y| [x, y].map(|pixel| format!("{:e}", f64::from(pixel) * 1e-9))),
        ),
        (
            "ISO 8601 and a pixel",
            Box::new(|index, x, _| {
                let ms = index * 33;
                let (second, minute) = (ms / 1000 % 60, ms / 60_000);
                [
                    format!("\"2026-11-21T07:{minute:02}:{second:02}.{:03}Z\"", ms % 1000),
                    format!("{x}"),
                ]
            }),
        ),
    ]
}

/// The shortest decimal, and of two equally near ones the even one, as browsers print it.
fn shortest_even(number: f64) -> String {
    let exact = (0..17).map(|decimals| format!("{number:.decimals$}"));
    exact.into_iter().find(|text| text.parse() == Ok(number)).unwrap_or_default()
}

/// A seeded generator, so that every run measures the same (Knuth's MMIX constants).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 20) % end
    }
}
