//! Measures the throughput of a tunnel where compression never pays: random bytes over loopback, directly, through a pair
//! of plain proxies and through the tunnel. With `idle COUNT` it measures the memory of that many connections.
//!
//! ```sh
//! cargo run --release -p groupwire-tunnel --example overhead
//! cargo run --release -p groupwire-tunnel --example overhead -- idle 1000
//! ```

use std::error::Error;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use groupwire_tunnel::{Codecs, Connect, ConnectConfig, Listen, ListenConfig, Options, Trust};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional_with_sizes};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

const HERE: &str = "127.0.0.1:0";
/// Bytes of a transfer.
const LENGTH: usize = 2 << 30;
/// Transfers over each path, in turns; the median is reported.
const ROUNDS: usize = 5;

type Outcome<T> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => overhead().await,
        ["idle", count] => idle(count.parse()?).await,
        _ => Err("nothing, or: idle COUNT".into()),
    }
}

async fn overhead() -> Outcome<()> {
    let target = source().await?;
    let small = proxy(proxy(target, 8 << 10).await?, 8 << 10).await?;
    let large = proxy(proxy(target, 64 << 10).await?, 64 << 10).await?;
    let paths = [
        ("direct", target),
        ("two plain proxies, 8 KiB buffers", small),
        ("two plain proxies, 64 KiB buffers", large),
        ("tunnel without TLS, never", tunnel(target, "never", false).await?),
        ("tunnel without TLS, adaptive", tunnel(target, "adaptive", false).await?),
        ("tunnel, never", tunnel(target, "never", true).await?),
        ("tunnel, adaptive", tunnel(target, "adaptive", true).await?),
    ];
    // Waits for the measurement of the codecs' costs, which runs in the background.
    sleep(Duration::from_secs(1)).await;
    let mut rates = vec![Vec::new(); paths.len()];
    for _ in 0..ROUNDS {
        for ((_, address), rates) in paths.iter().zip(&mut rates) {
            rates.push(fetch(*address).await?);
        }
    }
    for ((name, _), mut rates) in paths.into_iter().zip(rates) {
        rates.sort_by(f64::total_cmp);
        let [least, .., most] = rates[..] else { continue };
        let median = rates[rates.len() / 2];
        println!("{name:<36} {median:>6.2} Gbit/s ({least:.2} to {most:.2})");
    }
    Ok(())
}

/// Gbit/s of one transfer.
async fn fetch(address: SocketAddr) -> Outcome<f64> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"go").await?;
    let (start, mut buffer, mut received) = (Instant::now(), vec![0; 256 << 10], 0);
    while received < LENGTH {
        match stream.read(&mut buffer).await? {
            0 => return Err("it ended too early".into()),
            read => received += read,
        }
    }
    Ok(LENGTH as f64 * 8e-9 / start.elapsed().as_secs_f64())
}

/// Starts a server that sends random bytes to each client.
async fn source() -> Outcome<SocketAddr> {
    let listener = TcpListener::bind(HERE).await?;
    let address = listener.local_addr()?;
    let mut state = 1_u64;
    let noise: Vec<u8> = (0..16 << 20)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect();
    let noise: &'static [u8] = noise.leak();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                stream.read_exact(&mut [0; 2]).await?;
                for _ in 0..LENGTH / noise.len() {
                    stream.write_all(noise).await?;
                }
                stream.shutdown().await?;
                stream.read(&mut [0]).await
            });
        }
    });
    Ok(address)
}

async fn proxy(target: SocketAddr, buffer: usize) -> Outcome<SocketAddr> {
    let listener = TcpListener::bind(HERE).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((mut here, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut there = TcpStream::connect(target).await?;
                here.set_nodelay(true)?;
                there.set_nodelay(true)?;
                copy_bidirectional_with_sizes(&mut here, &mut there, buffer, buffer).await
            });
        }
    });
    Ok(address)
}

/// Starts both ends of a tunnel in this process.
async fn tunnel(target: SocketAddr, codecs: &str, is_secret: bool) -> Outcome<SocketAddr> {
    let identity = format!("groupwire-overhead-{}.pem", std::process::id());
    let identity = std::env::temp_dir().join(identity);
    let mut options = Options::default();
    options.codecs = codecs.parse::<Codecs>()?;
    let listen = Listen::bind(ListenConfig {
        listen: HERE.parse()?,
        routes: vec![format!("default={target}").parse()?],
        token: Vec::new(),
        identity: is_secret.then_some(identity),
        options: options.clone(),
    })?;
    let connect = Connect::bind(ConnectConfig {
        forwards: vec!["0=default".parse()?],
        server: listen.local_addr().to_string(),
        token: Vec::new(),
        trust: listen.fingerprint().map(Trust::Pinned),
        options,
    })?;
    let address = connect.forwards().next().ok_or("it listens nowhere")?.listen;
    tokio::spawn(listen.run(std::future::pending()));
    tokio::spawn(connect.run(std::future::pending()));
    Ok(address)
}

/// Prints the resident memory of this process, which contains both ends and the programs.
async fn idle(count: usize) -> Outcome<()> {
    let target = echo().await?;
    let address = tunnel(target, "adaptive", true).await?;
    sleep(Duration::from_secs(1)).await;
    let before = resident()?;
    let item = |number: u32| format!("<item n=\"{number}\"/>\n").into_bytes();
    let text: Vec<u8> = (0..20_000).flat_map(item).collect();
    let text: &'static [u8] = text.leak();
    let mut programs = Vec::new();
    for _ in 0..count {
        programs.push(TcpStream::connect(address).await?);
    }
    sleep(Duration::from_secs(3)).await;
    println!("{count} connections: {}", per(resident()?, before, count));
    let mut busy = 0;
    for _ in 0..3 {
        let mut tasks = tokio::task::JoinSet::new();
        for program in programs.drain(..) {
            tasks.spawn(exchange(program, text));
        }
        while let Some(program) = tasks.join_next().await {
            busy = busy.max(resident()?);
            programs.push(program??);
        }
    }
    println!("while each echoes {} bytes: {}", text.len(), per(busy, before, count));
    sleep(Duration::from_secs(3)).await;
    println!("idle again: {}", per(resident()?, before, count));
    Ok(())
}

/// Writes the text and reads it back, with a small buffer.
async fn exchange(mut program: TcpStream, text: &'static [u8]) -> std::io::Result<TcpStream> {
    let (mut reader, mut writer) = program.split();
    let (mut received, mut piece) = (0, [0; 4096]);
    let read = async {
        while received < text.len() {
            received += reader.read(&mut piece).await?;
        }
        Ok(())
    };
    tokio::try_join!(writer.write_all(text), read)?;
    Ok(program)
}

fn per(now: usize, before: usize, count: usize) -> String {
    let more = now.saturating_sub(before);
    format!("{} MB more, {} kB each", more / 1_000_000, more / 1000 / count)
}

/// The resident memory of this process, in bytes.
fn resident() -> Outcome<usize> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(1024 * line.trim().trim_end_matches(" kB").parse::<usize>()?)
}

async fn echo() -> Outcome<SocketAddr> {
    let listener = TcpListener::bind(HERE).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut reader, mut writer) = stream.split();
                tokio::io::copy(&mut reader, &mut writer).await
            });
        }
    });
    Ok(address)
}
