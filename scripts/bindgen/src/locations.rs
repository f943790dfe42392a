//! Clears the places in source files that Rust keeps for panic messages. The functions that would
//! print them have been trimmed (scripts/trim-wasm.mjs), so nothing reads them any more, and zeros
//! are not downloaded.

use walrus::ir::Value;
use walrus::{ConstExpr, DataKind, Module};

/// Bytes of a `core::panic::Location` in 32-bit WebAssembly: a pointer to the path, its length,
/// line and column.
const LOCATION: usize = 16;

/// No path of a source file is longer, in bytes.
const LONGEST: usize = 400;

/// No source file has more lines, and no line more columns.
const MOST: u32 = 100_000;

pub fn clear_panic_locations(module: &mut Module) {
    let segments: Vec<_> = module.data.iter().map(|data| data.id()).collect();
    for id in segments {
        let data = module.data.get_mut(id);
        if let DataKind::Active { offset: ConstExpr::Value(Value::I32(start)), .. } = data.kind {
            clear(&mut data.value, start as u32);
        }
    }
}

/// `start` is the address of the first byte of `data`.
fn clear(data: &mut [u8], start: u32) {
    let word = |data: &[u8], at: usize| {
        data.get(at..at + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_le_bytes)
    };
    let mut paths = Vec::new();
    for at in (0..data.len().saturating_sub(LOCATION - 1)).step_by(4) {
        let [pointer, length, line, column] = [0, 4, 8, 12].map(|field| word(data, at + field));
        let Some(from) = pointer.checked_sub(start).map(|from| from as usize) else { continue };
        let path = from..from.saturating_add(length as usize);
        let is_path = data.get(path.clone()).is_some_and(is_path);
        if is_path && (1..MOST).contains(&line) && (1..MOST).contains(&column) {
            data[at..at + LOCATION].fill(0);
            paths.push(path);
        }
    }
    paths.into_iter().for_each(|path| data[path].fill(0));
}

/// Whether these bytes are the path of a source file: they end in `.rs`, and all are usual in
/// paths.
fn is_path(bytes: &[u8]) -> bool {
    let is_usual = |byte: &u8| byte.is_ascii_alphanumeric() || b"/\\:._-+".contains(byte);
    bytes.len() < LONGEST && bytes.ends_with(b".rs") && bytes.iter().all(is_usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_locations_and_their_paths_are_cleared() {
        let start = 1000u32;
        let mut data = b"src/lib.rs, a text and no path.".to_vec();
        data.resize(32, b'.');
        for word in [start, 10, 7, 3, start + 12, 6, 7, 3, start, 10, 0, 0] {
            data.extend(word.to_le_bytes());
        }
        let mut expected = data.clone();
        expected[..10].fill(0);
        expected[32..48].fill(0);
        clear(&mut data, start);
        assert_eq!(data, expected);
    }
}
