//! The memory of each codec, measured in one process after the other.

use std::error::Error;
use std::process::{Command, ExitCode};

use groupwire_lab::lossless::Contender;
use groupwire_lab::lossless::memory::{self, Memory};

/// Prints the memory of a codec as JSON.
pub(super) fn measure(contender: Contender) -> Result<ExitCode, Box<dyn Error>> {
    let Contender::Fixed(choice) = contender else {
        return Err("auto has the memory of the codecs that it uses: name one of them".into());
    };
    println!("{}", serde_json::to_string(&memory::measure(choice)?)?);
    Ok(ExitCode::SUCCESS)
}

/// Prints the memory of these codecs, or of all.
pub(super) fn show(contenders: &[Contender], json: bool) -> Result<ExitCode, Box<dyn Error>> {
    let all = Contender::all();
    let contenders = if contenders.is_empty() { &all[..] } else { contenders };
    if !json {
        println!(
            "bytes of one end, for messages of 1400 bytes\n\n{:16}{:>12}{:>12}{:>12}{:>12}{:>12}",
            "codec", "compress", "decompress", "taken", "resident", "peak"
        );
    }
    for contender in contenders.iter().filter(|one| matches!(one, Contender::Fixed(_))) {
        let name = contender.to_string();
        let output = Command::new(std::env::current_exe()?)
            .args(["lossless", "--memory-of", &name])
            .output()?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            eprintln!("groupwire-lab: {name} was skipped: {}", why.trim());
            continue;
        }
        let memory: Memory = serde_json::from_slice(&output.stdout)?;
        match json {
            true => {
                let mut row = serde_json::to_value(memory)?;
                row["codec"] = name.into();
                println!("{row}");
            }
            false => println!(
                "{name:16}{:>12}{:>12}{:>12}{:>12}{:>12}",
                memory.compress, memory.decompress, memory.taken, memory.resident, memory.peak
            ),
        }
    }
    Ok(ExitCode::SUCCESS)
}
