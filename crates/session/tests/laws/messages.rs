//! The messages of applications: similar and different ones, empty ones and large ones.

use crate::random::Random;

/// The bytes, and whether they are text.
pub(crate) fn message(random: &mut Random, number: usize, largest: usize) -> (Vec<u8>, bool) {
    let (x, y) = (random.below(2000), random.below(1200));
    let text = match random.below(20) {
        0..7 => format!(r#"{{"type":"pointer","id":{number},"x":{x},"y":{y}}}"#),
        7..10 => format!(r#"<move id="{number}"><x>{x}.5</x><y>-{y}</y></move>"#),
        10..13 => {
            format!("{number} {} says {}", random.below(9), "and so on ".repeat(x as usize % 9))
        }
        13 => return (Vec::new(), random.chance(50)),
        14 => "the same as ever".to_owned(),
        15 => format!("é{number}\u{1F600}\0{}", "\u{7f}".repeat(y as usize % 40)),
        16 => {
            // Digits alone, with zeros that must stay.
            format!("{number:09}.{x:04}0")
        }
        17 => {
            let bytes = (0..random.below(300)).map(|_| random.next() as u8);
            let mut bytes: Vec<u8> = bytes.collect();
            bytes.extend(number.to_le_bytes());
            return (bytes, false);
        }
        18 => format!("{number}:{}", "long and dull, ".repeat(random.below(160) as usize)),
        _ => {
            let size = random.below(largest as u64 / 8 + 1) as usize;
            let size = if random.chance(5) { largest } else { size.max(16) };
            let mut bytes = number.to_le_bytes().to_vec();
            bytes.resize_with(size, || (random.next() as u8) & 0x3f);
            return (bytes, false);
        }
    };
    (text.into_bytes(), random.chance(80))
}
