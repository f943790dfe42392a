//! What a block will take: the sequential and the pipeline model (paper, section 3.2).

/// What is known of the ends and of what lies between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Conditions {
    /// Bytes per second of the network.
    pub(super) bandwidth: f64,
    /// Seconds that the application takes for a byte; 0 if it has always something ready.
    pub(super) generation: f64,
    /// How much of the processor of the training run is left here: 0.5 for half of it.
    pub(super) local: f64,
    /// The same at the other end.
    pub(super) remote: f64,
}

/// One way to send a block: what each stage takes, seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stages {
    pub(super) generation: f64,
    pub(super) packing: f64,
    pub(super) transfer: f64,
    pub(super) unpacking: f64,
}

impl Conditions {
    /// Whether data come faster than the network takes them, so that the stages of blocks overlap.
    pub(super) fn is_pipeline(&self) -> bool {
        self.generation * self.bandwidth < 1.0
    }

    /// A block of `plain` bytes, with `ratio`, and times as in the training run.
    ///
    /// The paper prints the transfer as 32KB / (CR * BW), but defines CR as compressed by uncompressed size (section
    /// 3.1), as here: then it is 32KB * CR / BW.
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

    /// The block as it is.
    pub(super) fn plain(&self, plain: usize) -> Stages {
        self.stages(plain, 1.0, (0.0, 0.0))
    }

    /// What a block takes: by the sequential model the stages after another, by the pipeline model the slowest of them.
    /// Both are times here where the paper's pipeline has rates, which are the block's bytes divided by them.
    pub(super) fn seconds(&self, stages: &Stages) -> f64 {
        match self.is_pipeline() {
            true => stages.slowest(),
            false => stages.sum(),
        }
    }
}

impl Stages {
    /// Without the generation, which no choice changes.
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
    fn data_that_come_faster_than_they_go_are_a_pipeline() {
        let slow = Conditions { bandwidth: 1e6, generation: 2e-6, local: 1.0, remote: 1.0 };
        assert!(!slow.is_pipeline());
        assert!(Conditions { bandwidth: 1e5, ..slow }.is_pipeline());
        assert!(Conditions { generation: 0.0, ..slow }.is_pipeline());
    }

    #[test]
    fn loads_lengthen_the_ends_and_the_ratio_shortens_the_way() {
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
