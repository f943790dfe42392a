//! Estimates the server's bytes on the wire from the number of segments or datagrams.

use std::process::{Command, Stdio};

/// Headers of IPv4 and TCP with timestamps (RFC 7323), which Linux always has.
const TCP: u64 = 20 + 32;
/// Headers of IPv4 and UDP.
pub(super) const UDP: u64 = 20 + 8;

/// The bytes that the server has sent over all connections until now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Left {
    /// Bytes of payload; for QUIC, of UDP's payload.
    pub(super) bytes: u64,
    /// Bytes with headers, from the IP header on.
    pub(super) wire: u64,
}

impl Left {
    /// The bytes of a server's TCP connections, as the kernel counts them; `ss` of iproute2 asks
    /// it. Segments count as on a link whose packets are as large as loopback's: a batch is rarely
    /// more than one of Ethernet's.
    pub(super) fn over_tcp(port: u16) -> Option<Self> {
        let mut command = Command::new("ss");
        command.args(["-tinH", "state", "established", &format!("sport = :{port}")]);
        let output = command.stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| read(&String::from_utf8_lossy(&output.stdout)))
    }

    /// Bytes on the wire per byte of payload, since an earlier count; `None` if nothing was sent.
    pub(super) fn factor_since(self, earlier: Left) -> Option<f64> {
        let bytes = self.bytes.checked_sub(earlier.bytes).filter(|bytes| *bytes > 0)?;
        Some(self.wire.saturating_sub(earlier.wire) as f64 / bytes as f64)
    }
}

fn read(text: &str) -> Left {
    let sum = |name: &str| -> u64 {
        let values = text.split_whitespace().filter_map(|word| word.strip_prefix(name));
        values.filter_map(|value| value.parse::<u64>().ok()).sum()
    };
    let (bytes, segments) = (sum("bytes_sent:"), sum("segs_out:"));
    Left { bytes, wire: bytes + TCP * segments }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_counted_is_summed() {
        let text = "0 0 127.0.0.1:8080 127.0.0.1:51000\n\t cubic wscale:7,7 bytes_sent:1000 \
                    bytes_acked:1000 bytes_received:90 segs_out:10 segs_in:9 data_segs_out:8\n\
                    0 0 127.0.0.1:8080 127.0.0.1:51001\n\t cubic bytes_sent:500 segs_out:5\n";
        let before = read(text);
        assert_eq!(before, Left { bytes: 1500, wire: 1500 + 15 * 52 });
        assert_eq!(before.factor_since(Left::default()), Some(1.52));
        assert_eq!(before.factor_since(before), None);
        assert_eq!(read("nonsense segs_out:x"), Left::default());
    }
}
