//! The LZ4 decompressor.

/// Bytes are copied in chunks of this size; the output buffer is that much longer than the
/// original.
pub(super) const CHUNK: usize = 16;

/// Decompresses a block into `out`, which is `CHUNK` bytes longer than the original. Returns false
/// if the block is malformed or its original has another length.
pub(super) fn decompress(block: &[u8], dictionary: &[u8], out: &mut [u8]) -> bool {
    read(block, dictionary, out).is_some()
}

/// [`decompress`], with `None` for a malformed block.
fn read(block: &[u8], dictionary: &[u8], out: &mut [u8]) -> Option<()> {
    let end = out.len().checked_sub(CHUNK)?;
    // Positions in the block and in the original.
    let (mut from, mut at) = (0, 0);
    loop {
        let token = *block.get(from)?;
        from += 1;
        let mut literals = usize::from(token >> 4);
        let source = block.get(from..).and_then(<[u8]>::first_chunk::<CHUNK>);
        match source {
            Some(source) if literals < 15 => *out[at..].first_chunk_mut()? = *source,
            _ => {
                literals = length(literals, block, &mut from)?;
                let source = block.get(from..from.checked_add(literals)?)?;
                out.get_mut(at..at + literals)?.copy_from_slice(source);
            }
        }
        from += literals;
        at += literals;
        if at > end {
            return None;
        }
        let Some(back) = block.get(from..).and_then(<[u8]>::first_chunk) else {
            return (from == block.len() && at == end).then_some(());
        };
        from += 2;
        let back = usize::from(u16::from_le_bytes(*back));
        let length = length(usize::from(token & 15), block, &mut from)?.checked_add(4)?;
        if back == 0 || length > end - at {
            return None;
        }
        repeat(dictionary, out, at, back, length)?;
        at += length;
    }
}

/// Reads the rest of a length after the four bits of the token.
#[inline(always)]
fn length(mut length: usize, block: &[u8], from: &mut usize) -> Option<usize> {
    if length == 15 {
        loop {
            let more = *block.get(*from)?;
            *from += 1;
            length = length.checked_add(usize::from(more))?;
            if more < 255 {
                break;
            }
        }
    }
    Some(length)
}

/// Copies `length` bytes to `at` from `back` bytes before. The source may begin in the dictionary.
#[inline(always)]
fn repeat(dictionary: &[u8], out: &mut [u8], at: usize, back: usize, length: usize) -> Option<()> {
    let Some(source) = at.checked_sub(back) else {
        let mut bytes = dictionary.get(dictionary.len().checked_sub(back - at)?..)?.iter();
        // After the last byte of the dictionary, the source continues with the first byte of the
        // message.
        for to in 0..length {
            out[at + to] = bytes.next().copied().unwrap_or_else(|| out[at + to - back]);
        }
        return Some(());
    };
    if back >= CHUNK {
        return chunks::<CHUNK>(out, source, at, length);
    }
    if back >= CHUNK / 2 {
        return chunks::<{ CHUNK / 2 }>(out, source, at, length);
    }
    // The source and the target overlap within a chunk.
    for to in at..at + length {
        out[to] = out[to - back];
    }
    Some(())
}

/// Copies in chunks of `N` bytes, the last of which may write too much. The source begins at least
/// `N` bytes before the target; the two may overlap.
#[inline(always)]
fn chunks<const N: usize>(out: &mut [u8], source: usize, at: usize, length: usize) -> Option<()> {
    let mut done = 0;
    while done < length {
        let chunk = *out[source + done..].first_chunk::<N>()?;
        *out[at + done..].first_chunk_mut()? = chunk;
        done += N;
    }
    Some(())
}
