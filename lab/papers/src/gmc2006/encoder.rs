//! The sending end: `compressMessage` and `createTemplate` of the paper's Figure 4. A template is
//! an earlier message, with which similar ones are compressed; announcements bring templates and
//! additions to the decoder.

use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use super::announcement::Announcement;
use super::code::{END, MAX_EXPANSION};
use super::config::{Config, MAX_NUMBER, Profile};
use super::error::EncodeError;
use super::history::{History, Past};
use super::overhead::{Announced, Overhead};
use super::packet;
use super::template::{Coded, Template};
use super::tuning::TargetRatio;

/// Compresses messages, for any number of decoders that receive all its announcements.
///
/// See the [module](super) for an example, and for when announcements and packets must reach the
/// decoder.
#[derive(Debug)]
pub struct Encoder {
    config: Config,
    templates: Vec<Template>,
    next_number: u16,
    history: History,
    target: TargetRatio,
    overhead: Overhead,
}

/// Messages that are written together: in the profile Plus several that use one template, otherwise
/// a single one.
struct Run {
    /// The index of the template in [`Encoder`]'s list.
    template: Option<usize>,
    payload: Vec<u8>,
    escaped: usize,
}

/// How one message was compressed.
struct Outcome {
    /// The number of the template with which it was compressed.
    template: Option<u16>,
    /// Bytes of the compressed message without the header.
    size: usize,
    target_met: bool,
}

impl Encoder {
    /// A new encoder. Each value of the configuration that the formats cannot represent is replaced
    /// by the nearest one that they can.
    pub fn new(config: Config) -> Self {
        let config = config.bounded();
        Self {
            templates: Vec::new(),
            next_number: 0,
            history: History::new(config.history),
            target: TargetRatio::new(config.target_ratio, config.time_budget),
            overhead: Overhead::default(),
            config,
        }
    }

    /// Appends the compressed message to `packet`. Appends to `announcements` what the decoder must
    /// have before it, often nothing.
    pub fn encode(
        &mut self,
        message: &[u8],
        announcements: &mut Vec<u8>,
        packet: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        if message.len() > self.config.max_message {
            return Err(EncodeError::MessageTooLarge);
        }
        let (run, outcome) = self.compress(message, announcements);
        let size = self.write(&run, packet);
        self.finish(message, Outcome { size, ..outcome });
        Ok(())
    }

    /// Appends to `packet` several messages (section 6.4, aggregation), to be decoded with
    /// [`Decoder::decode_packet`](super::Decoder::decode_packet).
    ///
    /// In [`Profile::Gmc2006Plus`] neighbours that use one template share a header, are filled up
    /// to a whole byte once, and are deflated together where that helps. In [`Profile::Gmc2006`]
    /// this writes the packet of each message, with its length before it, one after the other.
    pub fn encode_packet<'a>(
        &mut self,
        messages: impl IntoIterator<Item = &'a [u8]> + Clone,
        announcements: &mut Vec<u8>,
        packet: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        if messages.clone().into_iter().any(|message| message.len() > self.config.max_message) {
            return Err(EncodeError::MessageTooLarge);
        }
        let mut run: Option<Run> = None;
        let mut outcomes = Vec::new();
        for message in messages.clone() {
            let (new, outcome) = self.compress(message, announcements);
            outcomes.push(outcome);
            match &mut run {
                Some(run) if self.joins(run, &new) => run.append(new),
                _ => {
                    if let Some(full) = run.replace(new) {
                        self.write_with_length(&full, packet);
                    }
                }
            }
        }
        if let Some(run) = run {
            self.write_with_length(&run, packet);
        }
        // New templates are made only now, since one may replace a template that the packet needs.
        let mut is_new = false;
        for (message, mut outcome) in messages.into_iter().zip(outcomes) {
            if is_new && !outcome.target_met {
                // The new template may be good enough for this message, too.
                let (_, coded) = self.best(message);
                outcome.target_met = self.target.is_met(coded.size, message.len());
            }
            is_new |= self.finish(message, outcome);
        }
        Ok(())
    }

    /// Reports the time that the last message took to compress. Call this after each message for
    /// the paper's automatic mode: the target ratio falls as long as messages take at most
    /// [`Config::time_budget`]. If it is never called, the target stays at
    /// [`Config::target_ratio`].
    pub fn took(&mut self, time: Duration) {
        self.target.took(time);
    }

    /// The present target ratio, compressed to original size, in ten-thousandths.
    pub fn target_ratio(&self) -> u32 {
        self.target.current()
    }

    /// The number of templates, including those not announced yet.
    pub fn templates(&self) -> usize {
        self.templates.len()
    }

    /// Counts of the announcements made so far.
    pub fn overhead(&self) -> Overhead {
        self.overhead
    }

    /// The approximate memory of the templates and the history, in bytes.
    pub fn memory(&self) -> usize {
        self.templates.iter().map(Template::memory).sum::<usize>() + self.history.memory()
    }

    /// Compresses a message with the template that gives the best result, and makes the
    /// announcements for it.
    fn compress(&mut self, message: &[u8], announcements: &mut Vec<u8>) -> (Run, Outcome) {
        let (best, coded) = self.best(message);
        let target_met = best.is_some() && self.target.is_met(coded.size, message.len());
        let size = self.size(&coded.bytes, coded.size, coded.escaped);
        let plain_size = self.size(message, message.len(), message.len());
        // With a template the header is one byte longer.
        let Some(place) = best.filter(|_| size + 1 < plain_size) else {
            let run = Run { template: None, payload: message.to_vec(), escaped: message.len() };
            return (run, Outcome { template: None, size: plain_size, target_met });
        };
        self.announce(place, &coded, message.len(), announcements);
        let template = Some(self.templates[place].number);
        let run = Run { template: Some(place), escaped: coded.escaped, payload: coded.bytes };
        (run, Outcome { template, size, target_met })
    }

    /// The message in the codes of the template that makes it smallest, and the index of that
    /// template, if there is one.
    fn best(&self, message: &[u8]) -> (Option<usize>, Coded) {
        let (mut best, mut coded, mut trial) = (None, Coded::default(), Coded::default());
        if message.len() > self.config.max_template_bytes {
            return (best, coded);
        }
        for (place, template) in self.templates.iter().enumerate() {
            template.compress(message, &mut trial);
            if best.is_none() || trial.size < coded.size {
                mem::swap(&mut coded, &mut trial);
                best = Some(place);
            }
        }
        (best, coded)
    }

    /// The bytes that a payload takes when sent: `size`, or fewer if deflate is tried and makes it
    /// smaller.
    fn size(&self, payload: &[u8], size: usize, escaped: usize) -> usize {
        match escaped > self.config.deflate_threshold {
            true => size.min(packet::deflated(payload).len()),
            false => size,
        }
    }

    /// Makes the announcements for a message, and learns from the message.
    fn announce(&mut self, place: usize, coded: &Coded, message: usize, out: &mut Vec<u8>) {
        let Self { templates, overhead, config, .. } = self;
        let template = &mut templates[place];
        let number = template.number;
        if !template.announced {
            // A template is announced at its first use, by the second message of its type.
            template.announced = true;
            let replaces = template.replaces.take();
            let announcement = Announcement::Template { number, replaces, bytes: &template.bytes };
            overhead.templates.add(&announcement, out);
        }
        for (&part, &key) in &coded.additions {
            overhead.dictionary_additions.add(&Announcement::Addition { number, key, part }, out);
        }
        template.add(&coded.additions);
        if let Some((key, composite, parts)) = template.learn_structure(coded, message) {
            let shape = composite.shape;
            let announcement = Announcement::Composite { number, key, shape, parts: &parts };
            overhead.composite_templates.add(&announcement, out);
        }
        if let Some(frequencies) = template.count(&coded.bytes, config.frequencies_after) {
            overhead.frequency_lists.add(&Announcement::Frequencies { number, frequencies }, out);
        }
    }

    /// Makes a template of the message if none was good enough, and remembers the message. Returns
    /// whether there is a new template.
    fn finish(&mut self, message: &[u8], outcome: Outcome) -> bool {
        if message.is_empty() || message.len() > self.config.max_template_bytes {
            return false;
        }
        let Outcome { template, size, target_met } = outcome;
        let is_new = !target_met && self.create_template(message);
        self.history.push(Past { message: message.to_vec(), template, size });
        is_new
    }

    /// Makes a template of `message`, if the previous messages would have been smaller with that
    /// template.
    fn create_template(&mut self, message: &[u8]) -> bool {
        let full = self.templates.len() >= usize::from(self.config.max_templates);
        let replaced = if full { self.least_efficient() } else { None };
        let number = replaced.map(|place| self.templates[place].number);
        let mut template = Template::new(self.free_number(), None, message, self.config.profile);
        if !self.history.is_better_with(&template, number) {
            return false;
        }
        match replaced {
            None => self.templates.push(template),
            Some(place) => {
                let old = &self.templates[place];
                template.replaces = if old.announced { Some(old.number) } else { old.replaces };
                self.templates[place] = template;
            }
        }
        true
    }

    /// The index of the template that saved the fewest bytes on the previous messages.
    fn least_efficient(&self) -> Option<usize> {
        let saved = |place: &usize| self.history.saved_by(self.templates[*place].number);
        (0..self.templates.len()).min_by_key(saved)
    }

    /// The unused number that was in use longest ago, so that packets still on their way are not
    /// decoded with a newer template of the same number.
    fn free_number(&mut self) -> u16 {
        loop {
            let number = self.next_number;
            self.next_number = (number + 1) & MAX_NUMBER;
            let taken = |template: &Template| {
                template.number == number || template.replaces == Some(number)
            };
            if !self.templates.iter().any(taken) {
                return number;
            }
        }
    }

    fn joins(&self, run: &Run, next: &Run) -> bool {
        // The decoder accepts a payload of at most this length.
        let limit = self.config.max_message * MAX_EXPANSION;
        self.config.profile == Profile::Gmc2006Plus
            && run.template.is_some()
            && run.template == next.template
            && run.payload.len() + 1 + next.payload.len() <= limit
    }

    fn write(&self, run: &Run, packet: &mut Vec<u8>) -> usize {
        let template = run.template.map(|place| &self.templates[place]);
        let template = template.map(|template| (template.number, template.codes.as_ref()));
        let deflate = run.escaped > self.config.deflate_threshold;
        packet::write(template, &run.payload, deflate, packet)
    }

    fn write_with_length(&self, run: &Run, packet: &mut Vec<u8>) {
        let mut inner = Vec::new();
        self.write(run, &mut inner);
        packet::write_length(inner.len(), packet);
        packet.extend_from_slice(&inner);
    }
}

impl Run {
    fn append(&mut self, next: Run) {
        self.payload.push(END);
        self.payload.extend_from_slice(&next.payload);
        self.escaped += next.escaped;
    }
}

impl Announced {
    fn add(&mut self, announcement: &Announcement, out: &mut Vec<u8>) {
        let start = out.len();
        announcement.write(out);
        self.count += 1;
        self.bytes += (out.len() - start) as u64;
    }
}
