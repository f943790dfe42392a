//! What participants report of the quality of channels while the inspector is open (wire W84).

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use crate::ids::ChannelNo;
use crate::wire::quality::{self, QualityReport};
use crate::{ChannelQuality, Error};

/// The time between two reports. The inspector shows figures of the last ten seconds.
const EVERY: Duration = Duration::from_secs(2);

/// What a participant reports over one transport.
#[derive(Default)]
pub(in crate::room) struct Quality {
    /// Both ends know these reports (W10).
    agreed: bool,
    /// `None` as long as the participant is not asked to report.
    asked: Option<Asked>,
}

/// What came since the participant was asked to report.
#[derive(Default)]
struct Asked {
    /// Its last report.
    told: Option<Box<QualityReport>>,
}

impl Quality {
    pub(in crate::room) fn new(agreed: bool) -> Self {
        Quality { agreed, ..Quality::default() }
    }

    /// Why the participant has the transport that it has.
    pub(in crate::room) fn reason(&self) -> Option<&str> {
        self.told().map(|told| told.reason.as_str()).filter(|reason| !reason.is_empty())
    }

    pub(in crate::room) fn of(&self, channel: ChannelNo) -> Option<&ChannelQuality> {
        self.told()?.channels.iter().find(|one| one.channel == channel)
    }

    /// Takes in a report of the channels that `receives` names.
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

    /// The end of the request, if one was sent.
    pub(in crate::room) fn end(&mut self) -> Option<Vec<u8>> {
        self.asked.take().map(|_| quality::write_request(None))
    }

    /// The last report.
    fn told(&self) -> Option<&QualityReport> {
        self.asked.as_ref()?.told.as_deref()
    }
}
