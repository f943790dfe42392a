//! A pointer moves: the bytes of its messages.

use groupwire_gmc::{Config, DecodeError, Decoder, EncodeError, Encoder};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut sender = Encoder::new(Config::default());
    let mut receiver = Decoder::new(Config::default());
    for step in 0..20 {
        let (x, y) = (400 + step * step, 300 - 3 * step);
        let message = format!(
            r#"{{"type":"pointer","user":"ann","ts":{},"x":{x},"y":{y}}}"#,
            17_000 + 33 * step
        );
        let packet = send(&mut sender, &message)?;
        let received = receive(&mut receiver, &packet)?;
        assert_eq!(received, message.as_bytes());
        println!("{message} takes {} bytes", packet.len());
    }
    Ok(())
}

fn send(encoder: &mut Encoder, message: &str) -> Result<Vec<u8>, EncodeError> {
    let mut packet = Vec::new();
    encoder.encode(message.as_bytes(), &mut packet)?;
    Ok(packet)
}

fn receive(decoder: &mut Decoder, packet: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut message = Vec::new();
    decoder.decode(packet, &mut message)?;
    Ok(message)
}
