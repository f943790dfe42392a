//! Numbers printed in any style come back unchanged, and numbers on a grid take few bytes.

use groupwire_gmc::{Config, Decoder, Encoder};
use proptest::collection::vec;
use proptest::prelude::*;

/// Sizes of the packets of these numbers, each in a message of its own, after a round trip.
fn sizes(memory: usize, numbers: impl IntoIterator<Item = String>) -> Vec<usize> {
    let config = Config { memory, ..Config::default() };
    let (mut encoder, mut decoder) = (Encoder::new(config.clone()), Decoder::new(config));
    let size = |number: String| {
        let message = format!(r#"{{"type":"pointer","x":{number}}}"#);
        let (mut packet, mut decoded) = (Vec::new(), Vec::new());
        encoder.encode(message.as_bytes(), &mut packet).expect("within the limits");
        decoder.decode(&packet, &mut decoded).expect("an encoder made the packet");
        assert_eq!(String::from_utf8_lossy(&decoded), message);
        packet.len()
    };
    numbers.into_iter().map(size).collect()
}

/// Prints a number in one of the styles in use.
fn print(number: f64, style: u8) -> String {
    match style {
        0 | 1 => format!("{number}"),
        2 => format!("{number:?}"),
        3 => format!("{}", number as f32),
        4 => format!("{}", f64::from(number as f32)),
        5 => format!("{number:.1}"),
        6 => format!("{number:.3}"),
        7 => format!("{number:.10}"),
        8 => format!("{}", (number * 1000.0).round() / 1000.0),
        9 => format!("{number:e}"),
        _ => format!("{number:.20}"),
    }
}

fn doubles() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -2000.0..2000.0f64,
        -1.0..1.0f64,
        (-1.0..1.0f64).prop_map(|number| number * 1e-4),
        (-1.0..1.0f64).prop_map(|number| number * 4e9),
        (any::<i32>(), 0u32..40)
            .prop_map(|(number, shift)| f64::from(number) / (1u64 << shift) as f64),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn doubles_in_any_style_come_back(
        numbers in vec((doubles(), 0u8..11), 1..60),
        memory in prop_oneof![Just(4usize << 10), Just(16 << 10), Just(64 << 10)],
    ) {
        sizes(memory, numbers.into_iter().map(|(number, style)| print(number, style)));
    }

    /// Numbers on grids that change, and between them some numbers that are on no grid.
    #[test]
    fn numbers_on_any_grid_come_back(
        grids in vec((doubles(), doubles(), vec(-3000i32..3000, 1..40), 0u8..11), 1..6),
        strays in vec((any::<prop::sample::Index>(), doubles(), 0u8..11), 0..6),
    ) {
        let mut numbers = Vec::new();
        for (scale, offset, indices, style) in grids {
            let on_grid = indices.iter().map(|&index| f64::from(index) * scale + offset);
            numbers.extend(on_grid.map(|number| print(number, style)));
        }
        for (at, stray, style) in strays {
            numbers.insert(at.index(numbers.len()), print(stray, style));
        }
        sizes(64 << 10, numbers);
    }
}

/// A coordinate of a hand that moves to and fro.
fn hand(step: i32) -> i32 {
    600 + (step * 7 % 23) + step / 3 * (if step / 40 % 2 == 0 { 2 } else { -2 })
}

/// The mean size of the packets after the first `learned` ones.
fn mean(numbers: impl IntoIterator<Item = String>, learned: usize) -> f64 {
    let sizes = sizes(64 << 10, numbers);
    let rest = &sizes[learned..];
    rest.iter().sum::<usize>() as f64 / rest.len() as f64
}

#[test]
fn numbers_on_a_grid_take_as_many_bytes_as_their_indices() {
    let plain = mean((0..400).map(|step| hand(step).to_string()), 40);
    for style in [0, 2, 3, 4, 6, 7, 8] {
        for (scale, offset) in [(1.0 / 0.9, 213.5), (0.8, -410.0), (1.3603591348, -512.3)] {
            let scaled = (0..400).map(|step| print(f64::from(hand(step)) * scale + offset, style));
            let scaled = mean(scaled, 40);
            // Single precision numbers near zero are more precise than the numbers from which the
            // grid was learned.
            let more = if style == 3 && offset < -500.0 { 1.3 } else { 0.5 };
            assert!(scaled < plain + more, "style {style}, {scale}: {scaled} for {plain}");
        }
    }
}

#[test]
fn a_new_zoom_is_learned_in_a_few_messages() {
    let numbers = (0..200).map(|step| {
        let zoom = if step < 100 { 0.9 } else { 1.21 };
        format!("{}", f64::from(hand(step)) / zoom + 77.25)
    });
    let sizes = sizes(64 << 10, numbers);
    let large = sizes[100..].iter().filter(|&&size| size > 4).count();
    assert!(large <= 4, "{sizes:?}");
}
