//! The compressor of the 2006 paper: messages come back although packets are lost, and a decoder
//! takes any announcements and packets and keeps to its limits.
//!
//! The input is a configuration and steps. One decoder gets everything that the encoder makes, the
//! other one gets damaged and invented bytes.

#![no_main]

use std::time::Duration;

use groupwire_fuzz::{Input, Messages};
use groupwire_papers::gmc2006::{Config, DecodeError, Decoder, EncodeError, Encoder, Profile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let config = config(&mut input);
    let mut session = Session {
        encoder: Encoder::new(config.clone()),
        decoder: Decoder::new(config.clone()),
        victim: Decoder::new(config.clone()),
        config,
        messages: Messages::default(),
        announcements: Vec::new(),
        packet: Vec::new(),
    };
    while !input.is_empty() {
        match input.byte() {
            0..130 => session.send(&mut input),
            130..150 => session.send_several(&mut input),
            150..170 => session.announce_damaged(&mut input),
            170..190 => session.decode_damaged(&mut input),
            190..210 => drop(session.victim.announce(input.piece())),
            210..220 => session.announce_template(&mut input),
            220..230 => drop(session.victim.announce(&session.announcements)),
            _ => session.attack(input.piece()),
        }
    }
});

struct Session {
    config: Config,
    encoder: Encoder,
    decoder: Decoder,
    victim: Decoder,
    messages: Messages,
    /// The announcements made with the last packet.
    announcements: Vec<u8>,
    packet: Vec<u8>,
}

impl Session {
    fn send(&mut self, input: &mut Input<'_>) {
        let message = self.messages.sent(input, 0).bytes;
        self.announcements.clear();
        self.packet.clear();
        let result = self.encoder.encode(&message, &mut self.announcements, &mut self.packet);
        if message.len() > self.config.max_message {
            assert_eq!(result, Err(EncodeError::MessageTooLarge));
            assert!(self.announcements.is_empty() && self.packet.is_empty());
            return;
        }
        result.expect("the message is small enough");
        assert!(self.packet.len() <= message.len() + 1);
        assert!(self.encoder.templates() <= usize::from(self.config.max_templates));
        self.encoder.took(Duration::from_millis(u64::from(input.byte() & 3)));
        self.decoder.announce(&self.announcements).expect("an encoder's announcements");
        let mut decoded = Vec::new();
        self.decoder.decode(&self.packet, &mut decoded).expect("an encoder's packet");
        assert_eq!(decoded, message);
    }

    fn send_several(&mut self, input: &mut Input<'_>) {
        let messages: Vec<_> =
            (0..input.byte() % 8).map(|_| self.messages.sent(input, 0).bytes).collect();
        self.announcements.clear();
        self.packet.clear();
        let slices = messages.iter().map(Vec::as_slice);
        let result = self.encoder.encode_packet(slices, &mut self.announcements, &mut self.packet);
        if messages.iter().any(|message| message.len() > self.config.max_message) {
            assert_eq!(result, Err(EncodeError::MessageTooLarge));
            return;
        }
        result.expect("the messages are small enough");
        self.decoder.announce(&self.announcements).expect("an encoder's announcements");
        let mut decoded = Vec::new();
        self.decoder
            .decode_packet(&self.packet, |message| decoded.push(message.to_vec()))
            .expect("an encoder's packet");
        assert_eq!(decoded, messages);
    }

    fn announce_damaged(&mut self, input: &mut Input<'_>) {
        let mut announcements = self.announcements.clone();
        damage(&mut announcements, input);
        let _ = self.victim.announce(&announcements);
    }

    /// A template, so that what follows may find one.
    fn announce_template(&mut self, input: &mut Input<'_>) {
        let (number, bytes) = (input.byte(), input.piece());
        let length = bytes.len() as u8;
        let template = [&[0, number, 255, 255, 0, length][..], bytes].concat();
        let result = self.victim.announce(&template);
        if bytes.len() > self.config.max_template_bytes {
            assert!(matches!(result, Err(DecodeError::TooManyTemplates | DecodeError::Malformed)));
        }
    }

    fn decode_damaged(&mut self, input: &mut Input<'_>) {
        let mut packet = self.packet.clone();
        damage(&mut packet, input);
        self.attack(&packet);
    }

    fn attack(&mut self, packet: &[u8]) {
        let limit = self.config.max_message;
        let mut out = Vec::new();
        let failed = self.victim.decode(packet, &mut out).is_err();
        assert!(out.len() <= if failed { 0 } else { limit });
        let _ = self.victim.decode_packet(packet, |message| assert!(message.len() <= limit));
    }
}

fn damage(bytes: &mut [u8], input: &mut Input<'_>) {
    let at = input.place(bytes.len());
    if let Some(byte) = bytes.get_mut(at) {
        *byte = input.byte();
    }
}

fn config(input: &mut Input<'_>) -> Config {
    let kind = input.byte();
    Config {
        profile: [Profile::Gmc2006, Profile::Gmc2006Plus][usize::from(kind & 1)],
        max_templates: 1 + u16::from(kind >> 1 & 3),
        max_template_bytes: [8 << 10, 200][usize::from(kind >> 3 & 1)],
        max_message: [5000, 500][usize::from(kind >> 4 & 1)],
        history: usize::from(input.byte() % 20),
        frequencies_after: u32::from(input.byte() % 30),
        deflate_threshold: usize::from(input.byte()),
        ..Config::default()
    }
}
