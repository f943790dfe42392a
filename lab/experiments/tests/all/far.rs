//! Two machines, which here are two network namespaces with a cable between them: `groupwire-lab
//! far` in one, experiments in the other.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::{errors_in, rows_in};

const LAB: &str = env!("CARGO_BIN_EXE_groupwire-lab");
const TOKEN: &str = "a token of the tests, 32 bytes..";

/// The agent, and the namespaces of both machines, which end with it.
struct Machines {
    agent: Child,
    /// The shell whose namespace is that of the near machine, and the number of its child, whose
    /// namespace is that of the far one.
    place: Child,
    far: String,
    near: String,
    certificate: String,
    token: PathBuf,
}

impl Drop for Machines {
    fn drop(&mut self) {
        for child in [&mut self.agent, &mut self.place] {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = Command::new("kill").arg(&self.far).status();
    }
}

/// Starts both machines. Returns `None` and prints the reason if the machine permits no namespaces.
fn machines(name: &str) -> Option<Machines> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("far-{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let token = directory.join("token");
    std::fs::write(&token, TOKEN).unwrap();
    // The shell is in the near machine's namespace and makes the far one's, which `sleep` keeps.
    let script = "unshare --net sleep 600 & far=$!\n\
        until [ \"$(readlink /proc/$far/ns/net)\" != \"$(readlink /proc/$$/ns/net)\" ]; do sleep 0.01; done\n\
        ip link add near0 type veth peer name far0 netns $far || exit 1\n\
        ip address add 10.88.0.1/24 dev near0 && ip link set near0 up && ip link set lo up || exit 1\n\
        nsenter --net=/proc/$far/ns/net sh -c 'ip address add 10.88.0.2/24 dev far0 && ip link set far0 up && ip link set lo up' || exit 1\n\
        echo $$ $far; wait $far";
    let place = Command::new("unshare")
        .args(["--net", "--map-root-user", "--kill-child", "--fork", "--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut place) = place else {
        println!("far skipped: unshare is not installed");
        return None;
    };
    let mut line = String::new();
    BufReader::new(place.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let Some((near, far)) = line.trim().split_once(' ') else {
        println!("far skipped: no two network namespaces here");
        let _ = place.kill();
        let _ = place.wait();
        return None;
    };
    let (near, far) = (near.to_owned(), far.to_owned());
    let certificate = directory.join("far.pem");
    let mut agent = inside(&far)
        .args(["far", "--web", "--listen", "10.88.0.2:7000", "--data", "7100", "--token-file"])
        .args([&token, Path::new("--certificate"), &certificate])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(agent.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let certificate = said.trim().rsplit_once(' ').unwrap().1.to_owned();
    assert_eq!(certificate.len(), 64, "{said}");
    Some(Machines { agent, place, far, near, certificate, token })
}

/// A command of the lab in the namespaces of this process.
fn inside(process: &str) -> Command {
    let mut command = Command::new("nsenter");
    command.args(["--user", "--preserve-credentials", "--net", "--target", process, "--", LAB]);
    command
}

impl Machines {
    /// Runs an experiment on the near machine.
    fn run(&self, arguments: &[&str], certificate: &str, token: &Path) -> Output {
        inside(&self.near)
            .args(arguments)
            .args(["--json", "--far", "10.88.0.2:7000", "--far-certificate", certificate])
            .args([Path::new("--far-token-file"), token])
            .output()
            .unwrap()
    }
}

#[test]
fn messages_come_back_from_another_machine() {
    let Some(machines) = machines("afec") else { return };
    let arguments = ["afec", "--quick", "--messages", "100"];
    let output = machines.run(&arguments, &machines.certificate, &machines.token);
    let rows = rows_in(&output);
    let schemes: Vec<_> = rows.iter().map(|row| row["scheme"].as_str().unwrap()).collect();
    assert_eq!(
        schemes,
        ["tcp", "udp", "fec-3", "afec-2012", "groupwire"],
        "{}",
        errors_in(&output)
    );
    for row in &rows {
        assert_eq!((&row["channel"], &row["hops"]), (&"far".into(), &2.into()));
        assert_eq!((&row["never"], &row["verified"]), (&0.0.into(), &true.into()), "{row}");
        assert!(row["latency_mean_ms"].as_f64() > Some(0.0), "{row}");
        // Each message crosses the path twice, in a packet with 28 bytes of headers at least.
        if row["scheme"] != "tcp" {
            assert!(row["bytes_per_message"].as_f64() > Some(2.0 * (28.0 + 15.0)), "{row}");
        }
    }
}

#[test]
fn files_come_to_another_machine() {
    let Some(machines) = machines("ace") else { return };
    let arguments = ["ace", "--quick", "--policy", "never,zstd-3,groupwire"];
    let output = machines.run(&arguments, &machines.certificate, &machines.token);
    let rows = rows_in(&output);
    assert_eq!(rows.len(), 3, "{}", errors_in(&output));
    for row in &rows {
        assert_eq!((&row["scenario"], &row["verified"]), (&"far".into(), &true.into()), "{row}");
        let [before, wire] = ["bytes_in", "bytes_wire"].map(|field| row[field].as_u64().unwrap());
        assert!(wire > 0 && (row["policy"] != "zstd-3" || wire < before), "{row}");
    }
}

#[test]
fn applications_play_over_a_server_of_another_machine() {
    let Some(machines) = machines("web") else { return };
    let arguments = ["web", "--quick", "--part", "paper", "--browser", "native"];
    let output = machines.run(&arguments, &machines.certificate, &machines.token);
    let rows = rows_in(&output);
    // Latency and jitter of both applications.
    assert_eq!(rows.len(), 4, "{}", errors_in(&output));
    for row in &rows {
        assert_eq!((&row["network"], &row["emulator"]), (&"far".into(), &"none".into()), "{row}");
        assert_eq!((&row["participants"], &row["verified"]), (&2.into(), &true.into()), "{row}");
        assert!(row["value"].as_f64() > Some(0.0), "{row}");
    }
}

#[test]
fn strangers_are_refused() {
    let Some(machines) = machines("strangers") else { return };
    let arguments = ["afec", "--quick", "--messages", "100", "--scheme", "udp"];
    let wrong = machines.token.with_file_name("wrong");
    std::fs::write(&wrong, "another token of 32 bytes, wrong").unwrap();
    let output = machines.run(&arguments, &machines.certificate, &wrong);
    assert!(rows_in(&output).is_empty(), "{}", errors_in(&output));
    assert!(errors_in(&output).contains("token"), "{}", errors_in(&output));
    let output = machines.run(&arguments, &"00".repeat(32), &machines.token);
    assert!(rows_in(&output).is_empty(), "{}", errors_in(&output));
    assert!(errors_in(&output).contains("certificate"), "{}", errors_in(&output));
}

#[test]
fn an_agent_without_a_token_does_not_start() {
    crate::is_refused(&["far", "--listen", "127.0.0.1:0"], "--token-file");
    let empty = Path::new(env!("CARGO_TARGET_TMPDIR")).join("far-empty-token");
    std::fs::write(&empty, "\n").unwrap();
    let empty = empty.to_str().unwrap();
    crate::is_refused(&["far", "--listen", "127.0.0.1:0", "--token-file", empty], "16 bytes");
}
