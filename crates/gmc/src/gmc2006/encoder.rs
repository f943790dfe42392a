//! The sending end: `compressMessage` and `createTemplate` of the paper's Figure 4.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use super::announcement::Announcement;
use super::code::END;
use super::config::{Config, MAX_NUMBER, Profile};
use super::error::EncodeError;
use super::huffman::CodeSet;
use super::overhead::{Announced, Overhead};
use super::packet;
use super::template::{Coded, Template};
use super::tuning::TargetRatio;

/// Compresses messages, for any number of decoders that receive all its announcements.
///
/// See the [module](super) for an example and for what must reach the decoder when.
#[derive(Debug)]
pub struct Encoder {
    config: Config,
    templates: Vec<Template>,
    next_number: u16,
    history: VecDeque<Past>,
    target: TargetRatio,
    overhead: Overhead,
}

/// A message of the past, to judge new templates on.
#[derive(Debug)]
struct Past {
    message: Vec<u8>,
    /// The number of the template that it was compressed with.
    template: Option<u16>,
    /// Bytes it was sent in, without the header.
    size: usize,
}

/// Messages that are written together: in Plus those of one template, otherwise a single one.
struct Run {
    /// The place of the template.
    template: Option<usize>,
    payload: Vec<u8>,
    escaped: usize,
}

/// What became of one message.
struct Sent {
    run: Run,
    size: usize,
    target_met: bool,
}

impl Encoder {
    /// A new encoder. Values of the configuration beyond what the formats have room for are taken
    /// as the nearest possible ones.
    pub fn new(config: Config) -> Self {
        let config = config.bounded();
        Self {
            target: TargetRatio::new(config.target_ratio, config.time_budget),
            config,
            templates: Vec::new(),
            next_number: 0,
            history: VecDeque::new(),
            overhead: Overhead::default(),
        }
    }

    /// Appends to `packet` the compressed message, and to `announcements` what the decoder must be
    /// told before it, often nothing.
    pub fn encode(
        &mut self,
        message: &[u8],
        announcements: &mut Vec<u8>,
        packet: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        if message.len() > self.config.max_message {
            return Err(EncodeError::MessageTooLarge);
        }
        let mut sent = self.compress(message, announcements);
        sent.size = self.write(&sent.run, packet);
        self.finish(message, &sent);
        Ok(())
    }

    /// Appends to `packet` several messages (section 6.4, aggregation), to be decoded with
    /// [`Decoder::decode_packet`](super::Decoder::decode_packet).
    ///
    /// In [`Profile::Gmc2006Plus`] neighbours of one template share a header, are filled up to a
    /// whole byte once, and are deflated together where that helps. In [`Profile::Gmc2006`] this
    /// puts the packets of the single messages behind each other, with their lengths.
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
        let mut all_sent = Vec::new();
        for message in messages {
            let mut sent = self.compress(message, announcements);
            let new = mem::replace(
                &mut sent.run,
                Run { template: None, payload: Vec::new(), escaped: 0 },
            );
            sent.run.template = new.template;
            all_sent.push((message, sent));
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
        // Only now: a new template may replace one that this packet needs.
        for (message, sent) in all_sent {
            self.finish(message, &sent);
        }
        Ok(())
    }

    /// The last message took so long to compress. Call it after each for the paper's automatic
    /// mode: the target ratio falls as long as messages take at most
    /// [`Config::time_budget`]. Never called, the target stays at [`Config::target_ratio`].
    pub fn took(&mut self, time: Duration) {
        self.target.took(time);
    }

    /// The target ratio now, in ten-thousandths.
    pub fn target_ratio(&self) -> u32 {
        self.target.current()
    }

    /// How many templates there are now, those not yet announced included.
    pub fn templates(&self) -> usize {
        self.templates.len()
    }

    /// What was announced so far.
    pub fn overhead(&self) -> Overhead {
        self.overhead
    }

    /// About how many bytes of memory the templates and the history take.
    pub fn memory(&self) -> usize {
        self.templates.iter().map(Template::memory).sum::<usize>()
            + self.history.iter().map(|past| past.message.capacity()).sum::<usize>()
    }

    /// Compresses with the template that gives the best result, and announces what it takes.
    fn compress(&mut self, message: &[u8], announcements: &mut Vec<u8>) -> Sent {
        let (mut best, mut coded, mut trial) = (None, Coded::default(), Coded::default());
        for (place, template) in self.templates.iter().enumerate() {
            template.compress(message, &mut trial);
            if best.is_none() || trial.size < coded.size {
                mem::swap(&mut coded, &mut trial);
                best = Some(place);
            }
        }
        let target_met = best.is_some() && self.target.is_met(coded.size, message.len());
        let size = self.size(&coded.bytes, coded.size, coded.escaped);
        let plain_size = self.size(message, message.len(), message.len());
        // A template costs one byte more of header.
        let Some(place) = best.filter(|_| size + 1 < plain_size) else {
            let run = Run { template: None, payload: message.to_vec(), escaped: message.len() };
            return Sent { run, size: plain_size, target_met };
        };
        self.announce(place, &coded, message.len(), announcements);
        let run = Run { template: Some(place), escaped: coded.escaped, payload: coded.bytes };
        Sent { run, size, target_met }
    }

    /// Bytes of a payload that takes `size` bytes undeflated.
    fn size(&self, payload: &[u8], size: usize, escaped: usize) -> usize {
        match escaped > self.config.deflate_threshold {
            true => size.min(packet::deflated(payload).len()),
            false => size,
        }
    }

    /// Announces what the decoder lacks for a message, and learns from the message.
    fn announce(&mut self, place: usize, coded: &Coded, message: usize, out: &mut Vec<u8>) {
        let Self { templates, overhead, config, .. } = self;
        let template = &mut templates[place];
        let number = template.number;
        if !template.announced {
            // Announced at its first use, when it is the second message of its kind.
            template.announced = true;
            let replaces = template.replaces.take();
            let announcement = Announcement::Template { number, replaces, bytes: &template.bytes };
            overhead.templates.add(&announcement, out);
        }
        for &part in &coded.additions {
            let key = template.add(part);
            overhead.dictionary_additions.add(&Announcement::Addition { number, key, part }, out);
        }
        if let Some((key, composite, parts)) = template.learn_structure(coded, message) {
            let shape = composite.shape;
            let announcement = Announcement::Composite { number, key, shape, parts: &parts };
            overhead.composite_templates.add(&announcement, out);
        }
        template.uses += 1;
        for &code in &coded.bytes {
            template.frequencies[usize::from(code)] += 1;
        }
        if template.codes.is_none() && template.uses >= config.frequencies_after {
            let frequencies = template.frequencies;
            template.codes = Some(CodeSet::new(&frequencies));
            overhead.frequency_lists.add(&Announcement::Frequencies { number, frequencies }, out);
        }
    }

    /// Makes a template of the message if none was good enough, and remembers the message.
    fn finish(&mut self, message: &[u8], sent: &Sent) {
        if message.is_empty() || message.len() > self.config.max_template_bytes {
            return;
        }
        let template = sent.run.template.map(|place| self.templates[place].number);
        if !sent.target_met {
            self.create_template(message);
        }
        if self.history.len() >= self.config.history.max(1) {
            self.history.pop_front();
        }
        self.history.push_back(Past { message: message.to_vec(), template, size: sent.size });
    }

    /// Makes a template of `message`, if the previous messages would have been smaller with it.
    fn create_template(&mut self, message: &[u8]) {
        let full = self.templates.len() >= usize::from(self.config.max_templates);
        let replaced = if full { self.least_efficient() } else { None };
        let lost = replaced.map(|place| self.templates[place].number);
        let mut template = Template::new(self.free_number(), None, message, self.config.profile);

        let mut coded = Coded::default();
        let (mut before, mut after) = (0, 0);
        for past in &self.history {
            template.compress(&past.message, &mut coded);
            let without = if lost.is_some() && past.template == lost {
                past.message.len()
            } else {
                past.size
            };
            before += past.size;
            after += without.min(coded.size);
        }
        if !self.history.is_empty() && after >= before {
            return;
        }
        match replaced {
            None => self.templates.push(template),
            Some(place) => {
                let old = &self.templates[place];
                template.replaces = if old.announced { Some(old.number) } else { old.replaces };
                self.templates[place] = template;
            }
        }
    }

    /// The place of the template that saved the fewest bytes on the previous messages.
    fn least_efficient(&self) -> Option<usize> {
        let saved = |template: &Template| -> usize {
            let own = self.history.iter().filter(|past| past.template == Some(template.number));
            own.map(|past| past.message.len().saturating_sub(past.size)).sum()
        };
        (0..self.templates.len()).min_by_key(|&place| saved(&self.templates[place]))
    }

    /// A number that no packet on its way can mean another template by: the one least lately used.
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
        self.config.profile == Profile::Gmc2006Plus
            && run.template.is_some()
            && run.template == next.template
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
