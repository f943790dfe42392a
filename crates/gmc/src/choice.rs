//! Which template a message fits: mostly that of the sender's last message, or of the one before. A
//! template is an earlier message with holes where other messages of its type differ.
//!
//! To "code" is to write in the encoder and to read in the decoder.

use crate::cache::Cache;
use crate::error::DecodeError;
use crate::hash::hash;
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::table::Versioned;
use crate::template::TemplateId;

mod snapshot;

/// The last templates of each combination of channel and sender.
#[derive(Clone)]
pub(crate) struct Choices {
    recents: Cache<Recent>,
}

/// The different templates of the last messages of a channel and sender, the newest first. [`MISS`]
/// stands for messages that fitted no template.
#[derive(Clone, Copy)]
pub(crate) struct Recent {
    numbers: [u8; Recent::COUNT],
    /// A bit for each of the last eight messages, the lowest for the newest. It is set if the
    /// message had the same template as the message before it.
    repeats: u8,
}

/// The number that stands for "no template".
const MISS: u8 = TemplateId::COUNT as u8;

const _: () = assert!(Cache::<Recent>::ENTRY == 16);

impl Recent {
    const COUNT: usize = 4;

    /// The templates, the likeliest first. `None` stands for "no template".
    pub(crate) fn likely(&self) -> [Option<TemplateId>; Self::COUNT] {
        self.numbers.map(template)
    }

    fn note(&mut self, number: u8) {
        self.repeats = self.repeats << 1 | u8::from(self.numbers[0] == number);
        let rank =
            self.numbers.iter().position(|&known| known == number).unwrap_or(Self::COUNT - 1);
        self.numbers.copy_within(..rank, 1);
        self.numbers[0] = number;
    }
}

impl Default for Recent {
    fn default() -> Self {
        Self { numbers: [MISS; Self::COUNT], repeats: 0 }
    }
}

impl Choices {
    pub(crate) fn new(memory: usize) -> Self {
        Self { recents: Cache::new(memory) }
    }

    pub(crate) fn memory(&self) -> usize {
        self.recents.memory()
    }

    /// Passes each table to `visit`, so that the caller can undo the changes of that table (see
    /// [`Versioned`]).
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        self.recents.visit(visit);
    }

    /// The last templates of the channel and sender whose hash is `stream`.
    pub(crate) fn recent(&self, stream: u32) -> Recent {
        self.recents.find(stream).copied().unwrap_or_default()
    }

    /// Codes which template a message fits, or that it fits none.
    pub(crate) fn code<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        stream: u32,
        given: Option<TemplateId>,
    ) -> Result<Option<TemplateId>, DecodeError> {
        let given = given.map_or(MISS, |id| id.index() as u8);
        let at = self.recents.index(stream);
        let recent = at.map(|at| *self.recents.at(at)).unwrap_or_default();
        let context = hash(0xc401ce, u32::from(recent.numbers[0]));
        let general = hash(0xc401ce, 1000 + u32::from(recent.repeats & 7));
        let row = pass.pair(general, hash(context, u32::from(recent.repeats & 3)));
        let mut found = None;
        for (rank, &number) in recent.numbers.iter().enumerate() {
            if recent.numbers[..rank].contains(&number) {
                continue;
            }
            if pass.bit(row, rank, given == number) {
                found = Some(number);
                break;
            }
        }
        let number = match found {
            Some(number) => number,
            None => code_number(pass, given),
        };
        if !pass.is_read_only() {
            self.recents.entry_at(stream, at).note(number);
        }
        Ok(template(number))
    }

    /// Notes that the last message, which fitted no template, was made the new template `id`.
    pub(crate) fn learned(&mut self, read_only: bool, stream: u32, id: TemplateId) {
        if !read_only {
            self.recents.entry(stream).note(id.index() as u8);
        }
    }
}

/// The template with this number, or `None` for [`MISS`].
fn template(number: u8) -> Option<TemplateId> {
    (number != MISS).then(|| TemplateId::at(number.into()))
}

/// Codes the number of a template, or [`MISS`], as two trees of four decisions.
fn code_number<C: Coder + ?Sized>(pass: &mut Pass<'_, C>, given: u8) -> u8 {
    let miss = pass.single(hash(0xc401ce, 2000));
    if pass.bit(miss, 0, given == MISS) {
        return MISS;
    }
    let row = pass.single(hash(0xc401ce, 3000));
    let high = pass.tree(row, 4, given >> 4);
    let row = pass.single(hash(0xc401ce, 3000 + 16 + u32::from(high)));
    high << 4 | pass.tree(row, 4, given & 15)
}
