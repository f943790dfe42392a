//! The expected time of a block by the sequential and the pipeline model, as in section 3.2 of the
//! paper "Adaptive On-the-Fly Compression". The training run, below, measured the codecs on this
//! machine. A ratio is compressed bytes per plain byte.

/// Forecasts of the network, of the application and of the processors of both ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Conditions {
    /// The bandwidth of the network in bytes per second.
    pub(super) bandwidth: f64,
    /// The time in seconds in which the application generates a byte; 0 if data are always waiting.
    pub(super) generation: f64,
    /// The speed of this end's processor relative to the training run: 0.5 for half as fast.
    pub(super) local: f64,
    /// The speed of the processor of the other end relative to the training run.
    pub(super) remote: f64,
}

/// The time in seconds that a block takes in each stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stages {
    pub(super) generation: f64,
    pub(super) packing: f64,
    pub(super) transfer: f64,
    pub(super) unpacking: f64,
}

impl Conditions {
    /// Whether data are generated faster than the network transmits them. Then several blocks are
    /// in different stages at the same time.
    pub(super) fn is_pipeline(&self) -> bool {
        self.generation * self.bandwidth < 1.0
    }

    /// The times of the stages of a block of `plain` bytes with the compression ratio `ratio`.
    /// `packing` and `unpacking` are the block's compression and decompression times in seconds on
    /// the machine of the training run.
    ///
    /// The paper prints the transfer as 32KB / (CR * BW), but defines CR as compressed by
    /// uncompressed size (section 3.1), as here: then it is 32KB * CR / BW.
    pub(super) fn stages(
        &self,
        plain: usize,
        ratio: f64,
        (packing, unpacking): (f64, f64),
    ) -> Stages {
        Stages {
            generation: self.generation * plain as f64,
            packing: packing / self.local,
            transfer: plain as f64 * ratio / self.bandwidth,
            unpacking: unpacking / self.remote,
        }
    }

    /// The stages of a block without compression.
    pub(super) fn plain(&self, plain: usize) -> Stages {
        self.stages(plain, 1.0, (0.0, 0.0))
    }

    /// The time of a block in seconds: the sum of the stages in the sequential model, the slowest
    /// stage in the pipeline model. For the latter the paper gives rates, which are the bytes of
    /// the block divided by these times.
    pub(super) fn seconds(&self, stages: &Stages) -> f64 {
        match self.is_pipeline() {
            true => stages.slowest(),
            false => stages.sum(),
        }
    }
}

impl Stages {
    /// The sum of the stages in seconds, without the generation time, which is the same for every
    /// codec.
    pub(super) fn sum(&self) -> f64 {
        self.packing + self.transfer + self.unpacking
    }

    fn slowest(&self) -> f64 {
        self.generation.max(self.packing).max(self.transfer).max(self.unpacking)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: usize = 32 << 10;

    #[test]
    fn data_faster_than_the_network_are_a_pipeline() {
        let slow = Conditions { bandwidth: 1e6, generation: 2e-6, local: 1.0, remote: 1.0 };
        assert!(!slow.is_pipeline());
        assert!(Conditions { bandwidth: 1e5, ..slow }.is_pipeline());
        assert!(Conditions { generation: 0.0, ..slow }.is_pipeline());
    }

    #[test]
    fn loads_lengthen_the_processing_and_the_ratio_shortens_the_transfer() {
        let conditions =
            Conditions { bandwidth: 32_768.0, generation: 0.0, local: 0.5, remote: 0.1 };
        let stages = conditions.stages(BLOCK, 0.25, (0.01, 0.002));
        let expected = Stages { generation: 0.0, packing: 0.02, transfer: 0.25, unpacking: 0.02 };
        assert_eq!(stages, expected);
        assert_eq!(conditions.plain(BLOCK).sum(), 1.0);
    }

    #[test]
    fn a_pipeline_is_as_slow_as_its_slowest_stage() {
        let pipeline = Conditions { bandwidth: 1e6, generation: 1e-7, local: 1.0, remote: 1.0 };
        let stages = Stages { generation: 0.003, packing: 0.01, transfer: 0.02, unpacking: 0.005 };
        assert_eq!(pipeline.seconds(&stages), 0.02);
        let sequential = Conditions { generation: 1.0, ..pipeline };
        assert!((sequential.seconds(&stages) - 0.035).abs() < 1e-12);
    }
}
