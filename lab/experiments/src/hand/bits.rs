//! Bits of messages, the highest of a byte first. The last byte is filled up with zeros.

use super::Error;

/// Writes bits or reads them, so that a format is described once for both directions: a writer
/// takes what is in `value`, a reader puts there what it finds.
pub(super) trait Bits {
    /// Codes a value of `width` bits, at most 64.
    ///
    /// # Errors
    /// Writing: the value does not fit. Reading: fewer bits are left.
    fn bits(&mut self, width: u32, value: &mut u64) -> Result<(), Error>;

    /// Codes one bit.
    fn flag(&mut self, value: &mut bool) -> Result<(), Error> {
        let mut bit = u64::from(*value);
        self.bits(1, &mut bit)?;
        *value = bit == 1;
        Ok(())
    }

    /// Codes `count` in unary: `count` ones and a zero.
    fn ones(&mut self, count: &mut u64) -> Result<(), Error> {
        let wanted = *count;
        *count = 0;
        loop {
            let mut more = *count < wanted;
            self.flag(&mut more)?;
            if !more {
                return Ok(());
            }
            *count += 1;
        }
    }
}

/// Appends to a message.
pub(super) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Bits of the last byte that are not used yet.
    free: u32,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, free: 0 }
    }
}

impl Bits for Writer<'_> {
    fn bits(&mut self, width: u32, value: &mut u64) -> Result<(), Error> {
        if width < 64 && *value >> width != 0 {
            return Err(Error::Value { field: "number" });
        }
        let mut left = width;
        while left > 0 {
            if self.free == 0 {
                self.out.push(0);
                self.free = 8;
            }
            let now = left.min(self.free);
            left -= now;
            self.free -= now;
            let part = (*value >> left) as u8 & (0xff >> (8 - now));
            if let Some(last) = self.out.last_mut() {
                *last |= part << self.free;
            }
        }
        Ok(())
    }
}

/// Counts the bits that a message takes.
#[derive(Default)]
pub(super) struct Counter(pub(super) u64);

impl Bits for Counter {
    fn bits(&mut self, width: u32, value: &mut u64) -> Result<(), Error> {
        self.0 += u64::from(width);
        Writer::new(&mut Vec::new()).bits(width, value)
    }
}

/// Reads a message.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    /// The position in the message, in bits.
    position: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Checks that only padding is left.
    pub(super) fn end(mut self) -> Result<(), Error> {
        let left = self.bytes.len() * 8 - self.position;
        let mut padding = 0;
        if left < 8 {
            self.bits(left as u32, &mut padding)?;
        }
        if left < 8 && padding == 0 { Ok(()) } else { Err(Error::Trailing) }
    }
}

impl Bits for Reader<'_> {
    fn bits(&mut self, width: u32, value: &mut u64) -> Result<(), Error> {
        *value = 0;
        let mut left = width;
        while left > 0 {
            let byte = *self.bytes.get(self.position / 8).ok_or(Error::Truncated)?;
            let free = 8 - (self.position % 8) as u32;
            let now = left.min(free);
            let part = (byte >> (free - now)) & (0xff >> (8 - now));
            *value = *value << now | u64::from(part);
            left -= now;
            self.position += now as usize;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_highest_bit_comes_first() {
        let mut out = vec![0xee];
        let mut writer = Writer::new(&mut out);
        writer.bits(3, &mut 0b101).unwrap();
        writer.bits(10, &mut 0b11_0000_0001).unwrap();
        assert_eq!(writer.bits(3, &mut 8), Err(Error::Value { field: "number" }));
        assert_eq!(out, [0xee, 0b1011_1000, 0b0000_1000]);
    }

    #[test]
    fn only_padding_may_follow() {
        let read = |bytes: &[u8]| {
            let mut reader = Reader::new(bytes);
            reader.bits(6, &mut 0)?;
            reader.end()
        };
        assert_eq!(read(&[0b1010_1000]), Ok(()));
        assert_eq!(read(&[0b1010_1010]), Err(Error::Trailing));
        assert_eq!(read(&[0b1010_1000, 0]), Err(Error::Trailing));
        assert_eq!(read(&[]), Err(Error::Truncated));
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(values in prop::collection::vec((0_u32..=64, any::<u64>()), 0..20)) {
            let values: Vec<_> = values.into_iter()
                .map(|(width, value)| (width, value.checked_shr(64 - width).unwrap_or(0)))
                .collect();
            let mut out = Vec::new();
            let mut writer = Writer::new(&mut out);
            for (width, value) in &values {
                writer.bits(*width, &mut value.clone()).unwrap();
                writer.ones(&mut (value % 30)).unwrap();
            }
            let mut reader = Reader::new(&out);
            for (width, value) in &values {
                let (mut found, mut ones) = (0, 0);
                reader.bits(*width, &mut found).unwrap();
                reader.ones(&mut ones).unwrap();
                prop_assert_eq!((found, ones), (*value, value % 30));
            }
            prop_assert_eq!(reader.end(), Ok(()));
        }
    }
}
