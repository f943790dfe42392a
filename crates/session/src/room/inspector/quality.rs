//! Reports of participants about the quality of their channels, while the inspector is open (wire
//! W84).

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use crate::ids::ChannelNo;
use crate::wire::quality::{self, QualityReport};
use crate::{ChannelQuality, Error};

/// The time between two reports. The inspector shows figures of the last ten seconds.
const EVERY: Duration = Duration::from_secs(2);

/// The reports that a participant sends over one transport.
#[derive(Default)]
pub(in crate::room) struct Quality {
    /// True if both ends support these reports (W10).
    agreed: bool,
    /// `None` while the participant is not asked to report.
    asked: Option<Asked>,
}

/// The state since the participant was asked to report.
#[derive(Default)]
struct Asked {
    /// The participant's last report; `None` before the first.
    told: Option<Box<QualityReport>>,
}

impl Quality {
    pub(in crate::room) fn new(agreed: bool) -> Self {
        Quality { agreed, ..Quality::default() }
    }

    /// Why the participant uses its present transport, in the words of its last report; `None` if
    /// it gives no reason.
    pub(in crate::room) fn reason(&self) -> Option<&str> {
        self.told().map(|told| told.reason.as_str()).filter(|reason| !reason.is_empty())
    }

    pub(in crate::room) fn of(&self, channel: ChannelNo) -> Option<&ChannelQuality> {
        self.told()?.channels.iter().find(|one| one.channel == channel)
    }

    /// Reads a report and keeps its entries for the channels for which `receives` returns true.
    ///
    /// # Errors
    /// A report that was not agreed on, or is malformed.
    pub(in crate::room) fn receive(
        &mut self,
        report: &[u8],
        receives: impl Fn(ChannelNo) -> bool,
    ) -> Result<(), Error> {
        if !self.agreed {
            return Err(Error::malformed("QUALITY: it was not agreed on"));
        }
        let told = quality::read(report, receives)?;
        // A report that comes unasked, or too late, is not kept.
        if let Some(asked) = &mut self.asked {
            asked.told = Some(Box::new(told));
        }
        Ok(())
    }

    /// The request for reports, if none was sent yet.
    pub(in crate::room) fn ask(&mut self) -> Option<Vec<u8>> {
        if !self.agreed || self.asked.is_some() {
            return None;
        }
        self.asked = Some(Asked::default());
        Some(quality::write_request(Some(EVERY)))
    }

    /// The frame content that ends the reports, if they were asked for.
    pub(in crate::room) fn end(&mut self) -> Option<Vec<u8>> {
        self.asked.take().map(|_| quality::write_request(None))
    }

    /// The last report.
    fn told(&self) -> Option<&QualityReport> {
        self.asked.as_ref()?.told.as_deref()
    }
}
