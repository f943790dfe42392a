//! Brotli (RFC 7932), with the crate from Dropbox's port of the reference implementation.

use std::cell::Cell;
use std::ops::{Index, IndexMut};
use std::rc::Rc;

use brotli::enc::BrotliEncoderMaxCompressedSize;
use brotli::enc::combined_alloc::BrotliAlloc;
use brotli::enc::encode::{
    BrotliEncoderOperation, BrotliEncoderParameter, BrotliEncoderStateStruct,
};
use brotli::{
    Allocator, BrotliDecompressStream, BrotliResult, BrotliState, SliceWrapper, SliceWrapperMut,
};

use super::framed::Codec;
use crate::messages::technique::{Failure, State};

/// The quality that servers use for answers that they make on the fly.
const QUALITY: u32 = 5;

/// Windows of 256 KB, the least for which this crate has hash tables of the right size: with 64 KB
/// it is slower, larger and takes 33 MB. Its default, 4 MB, is of no use to small messages.
const WINDOW_BITS: u32 = 18;

type Encoder = BrotliEncoderStateStruct<Counted>;
type Decoder = BrotliState<Counted, Counted, Counted>;

/// Compresses each packet on its own.
pub(super) struct Brotli;

impl Codec for Brotli {
    fn pack(&mut self, plain: &[u8], body: &mut Vec<u8>) -> Result<(), Failure> {
        let mut encoder = encoder(Counted::default());
        let size = u32::try_from(plain.len())?;
        encoder.set_parameter(BrotliEncoderParameter::BROTLI_PARAM_SIZE_HINT, size);
        let finish = BrotliEncoderOperation::BROTLI_OPERATION_FINISH;
        compress(&mut encoder, plain, finish, body)
    }

    fn unpack(&mut self, body: &[u8], plain: &mut Vec<u8>) -> Result<(), Failure> {
        decompress(&mut decoder(&Counted::default()), body, plain)
    }
}

/// Compresses all packets as one stream, which is flushed after each.
pub(super) struct BrotliStream {
    encoder: Encoder,
    decoder: Decoder,
    encoder_memory: Counted,
    decoder_memory: Counted,
}

impl BrotliStream {
    pub(super) fn new() -> Self {
        let (encoder_memory, decoder_memory) = (Counted::default(), Counted::default());
        BrotliStream {
            encoder: encoder(encoder_memory.clone()),
            decoder: decoder(&decoder_memory),
            encoder_memory,
            decoder_memory,
        }
    }
}

impl Codec for BrotliStream {
    fn pack(&mut self, plain: &[u8], body: &mut Vec<u8>) -> Result<(), Failure> {
        let flush = BrotliEncoderOperation::BROTLI_OPERATION_FLUSH;
        compress(&mut self.encoder, plain, flush, body)
    }

    fn unpack(&mut self, body: &[u8], plain: &mut Vec<u8>) -> Result<(), Failure> {
        decompress(&mut self.decoder, body, plain)
    }

    fn state(&mut self) -> State {
        State {
            encoder: Some(self.encoder_memory.bytes() + size_of::<Encoder>()),
            decoder: Some(self.decoder_memory.bytes() + size_of::<Decoder>()),
        }
    }
}

fn encoder(memory: Counted) -> Encoder {
    let mut encoder = Encoder::new(memory);
    encoder.set_parameter(BrotliEncoderParameter::BROTLI_PARAM_QUALITY, QUALITY);
    encoder.set_parameter(BrotliEncoderParameter::BROTLI_PARAM_LGWIN, WINDOW_BITS);
    encoder
}

fn decoder(memory: &Counted) -> Decoder {
    Decoder::new(memory.clone(), memory.clone(), memory.clone())
}

/// Appends all of `plain`, compressed and flushed or finished, to `out`.
fn compress(
    encoder: &mut Encoder,
    plain: &[u8],
    operation: BrotliEncoderOperation,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    let mut end = out.len();
    let (mut available, mut offset) = (plain.len(), 0);
    loop {
        // A flush may add some bytes to the largest result.
        out.resize(end + BrotliEncoderMaxCompressedSize(plain.len()) + 64, 0);
        let mut room = out.len() - end;
        let done = encoder.compress_stream(
            operation,
            &mut available,
            plain,
            &mut offset,
            &mut room,
            out,
            &mut end,
            &mut None,
            &mut |_, _, _, _| (),
        );
        if !done {
            return Err("brotli refused a message".into());
        }
        if available == 0 && !encoder.has_more_output() {
            out.truncate(end);
            return Ok(());
        }
    }
}

/// Appends the decompressed bytes of `packed` to `out`.
fn decompress(decoder: &mut Decoder, packed: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
    let mut end = out.len();
    let (mut available, mut offset, mut total) = (packed.len(), 0, 0);
    loop {
        out.resize(end + 4096.max(4 * packed.len()), 0);
        let mut room = out.len() - end;
        let result = BrotliDecompressStream(
            &mut available,
            &mut offset,
            packed,
            &mut room,
            &mut end,
            out,
            &mut total,
            decoder,
        );
        match result {
            BrotliResult::NeedsMoreOutput => {}
            // The decoder returns this although some of its output had no room.
            BrotliResult::NeedsMoreInput if room == 0 => {}
            BrotliResult::ResultFailure => return Err("brotli cannot read a packet".into()),
            BrotliResult::NeedsMoreInput | BrotliResult::ResultSuccess => {
                out.truncate(end);
                return Ok(());
            }
        }
    }
}

/// An allocator that counts what is allocated through any of its clones and not yet dropped.
#[derive(Clone, Default)]
struct Counted(Rc<Cell<usize>>);

impl Counted {
    fn bytes(&self) -> usize {
        self.0.get()
    }
}

impl<T: Clone + Default> Allocator<T> for Counted {
    type AllocatedMemory = Cells<T>;

    fn alloc_cell(&mut self, length: usize) -> Cells<T> {
        self.0.set(self.0.get() + length * size_of::<T>());
        Cells { cells: vec![T::default(); length].into(), counter: Some(self.0.clone()) }
    }

    fn free_cell(&mut self, _: Cells<T>) {}
}

impl BrotliAlloc for Counted {}

/// Memory that takes itself off the counter when it is dropped: brotli does not hand all of it
/// back.
struct Cells<T> {
    cells: Box<[T]>,
    counter: Option<Rc<Cell<usize>>>,
}

impl<T> Drop for Cells<T> {
    fn drop(&mut self) {
        if let Some(counter) = &self.counter {
            counter.set(counter.get() - size_of_val(&*self.cells));
        }
    }
}

impl<T> Default for Cells<T> {
    fn default() -> Self {
        Cells { cells: Box::default(), counter: None }
    }
}

impl<T> SliceWrapper<T> for Cells<T> {
    fn slice(&self) -> &[T] {
        &self.cells
    }
}

impl<T> SliceWrapperMut<T> for Cells<T> {
    fn slice_mut(&mut self) -> &mut [T] {
        &mut self.cells
    }
}

impl<T> Index<usize> for Cells<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        &self.cells[at]
    }
}

impl<T> IndexMut<usize> for Cells<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.cells[at]
    }
}
