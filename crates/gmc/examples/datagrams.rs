//! A pointer moves over a link that loses every fifth packet and delivers the others and the
//! acknowledgements late.

use std::collections::VecDeque;

use groupwire_gmc::{Config, Decoder, Delivery, Encoder};

/// The delay of an acknowledgement, in packets.
const ROUND_TRIP: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = Config { delivery: Delivery::Datagrams, ..Config::default() };
    let mut sender = Encoder::new(config.clone());
    let mut receiver = Decoder::new(config);
    let mut acknowledgements = VecDeque::new();
    for step in 0..40 {
        if acknowledgements.len() > ROUND_TRIP
            && let Some(acknowledgement) = acknowledgements.pop_front()
        {
            let acknowledgement: Vec<u8> = acknowledgement;
            sender.acknowledge(&acknowledgement)?;
        }
        let (x, y) = (400 + step * step, 300 - 3 * step);
        let message = format!(
            r#"{{"type":"pointer","user":"ann","ts":{},"x":{x},"y":{y}}}"#,
            17_000 + 33 * step
        );
        let mut packet = Vec::new();
        sender.encode(message.as_bytes(), &mut packet)?;
        if step % 5 == 4 {
            println!("{message} takes {} bytes and is lost", packet.len());
            continue;
        }
        let mut received = Vec::new();
        receiver.decode(&packet, &mut received)?;
        assert_eq!(received, message.as_bytes());
        println!("{message} takes {} bytes", packet.len());
        let mut acknowledgement = Vec::new();
        receiver.acknowledge(&mut acknowledgement);
        acknowledgements.push_back(acknowledgement);
    }
    Ok(())
}
