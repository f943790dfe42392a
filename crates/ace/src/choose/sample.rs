//! The entropy of a sample of a block. It takes about a microsecond and predicts how well the block
//! can be compressed.

/// The sample: 16 pieces of 64 bytes, evenly spread over the block.
const PIECES: usize = 16;
const PIECE: usize = 64;

/// The entropy of the byte frequencies in the sample, in bits per byte: 0 to 8.
pub(super) fn entropy(block: &[u8]) -> f64 {
    let mut counts = [0u16; 256];
    let mut total = 0;
    let apart = (block.len() / PIECES).max(PIECE);
    for piece in block.chunks(apart).take(PIECES) {
        let piece = &piece[..piece.len().min(PIECE)];
        piece.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        total += piece.len();
    }
    if total == 0 {
        return 0.0;
    }
    let bits: f32 = counts.iter().map(|count| BITS[usize::from(*count).min(BITS.len() - 1)]).sum();
    let total = total as f64;
    (libm::log2(total) - f64::from(bits) / total).max(0.0)
}

/// The values of n * log2(n). The table ends at the size of the sample.
static BITS: [f32; 1025] = bits();

const fn bits() -> [f32; 1025] {
    let mut table = [0.0; 1025];
    let mut at = 2;
    while at < table.len() {
        table[at] = (at as f64 * log2(at as f64)) as f32;
        at += 1;
    }
    table
}

/// The binary logarithm by repeated squaring, because `libm` has no constant functions.
const fn log2(number: f64) -> f64 {
    let (mut rest, mut whole) = (number, 0.0);
    while rest >= 2.0 {
        rest /= 2.0;
        whole += 1.0;
    }
    let (mut bit, mut nth) = (0.5, 0);
    while nth < 30 {
        rest *= rest;
        if rest >= 2.0 {
            rest /= 2.0;
            whole += bit;
        }
        bit /= 2.0;
        nth += 1;
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn noise_has_eight_bits_and_text_half_of_that() {
        let noise: Vec<u8> = (0..65_536u32)
            .map(|nth| {
                let mixed = (nth ^ nth >> 7).wrapping_mul(0x9e37_79b9);
                ((mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca6b) >> 24) as u8
            })
            .collect();
        assert!(entropy(&noise) > 7.7, "{}", entropy(&noise));
        let text = include_bytes!("sample.rs");
        assert!((3.5..5.5).contains(&entropy(text)), "{}", entropy(text));
    }

    #[test]
    fn short_and_uniform_blocks_have_an_entropy() {
        assert_eq!(entropy(b""), 0.0);
        assert_eq!(entropy(b"a"), 0.0);
        assert_eq!(entropy(&[7; 100_000]), 0.0);
        assert!((entropy(b"ab") - 1.0).abs() < 1e-6);
    }
}
