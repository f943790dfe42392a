//! The configuration file of `groupwire serve`, and `groupwire config`.

use std::path::PathBuf;
use std::process::{Command, Output};

/// Writes a configuration file of its own for a test.
fn file(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.toml"));
    std::fs::write(&path, text).unwrap();
    path
}

/// Runs `groupwire` in an environment with these variables.
fn groupwire(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
    command.args(arguments).envs(variables.iter().copied()).output().unwrap()
}

/// What `groupwire config check` says of a file that can be used.
fn checked(path: &str, variables: &[(&str, &str)]) -> String {
    let output = groupwire(&["config", "check", path], variables);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The value and the source that `groupwire config check` reports of an option.
fn in_force(report: &str, option: &str) -> Option<String> {
    let mut lines = report.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.find(|words| words.first() == Some(&option)).map(|words| words[1..].join(" "))
}

/// What `groupwire` says on standard error when it refuses the arguments.
fn refused(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let output = groupwire(arguments, variables);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_variable_goes_before_the_file_and_the_file_before_the_default() {
    let text = "tick = 20\nmax-rooms = 7\norigin = ['https://a.example', 'https://b.example']\n\
        emulate = true\nno-compression = true\ntoken = 'very secret'\n";
    let path = file("layers", text);
    let path = path.to_str().unwrap();
    let variables = [
        ("GROUPWIRE_TICK", "3"),
        ("GROUPWIRE_EMULATE", "false"),
        ("GROUPWIRE_NO_WEBTRANSPORT", "1"),
        ("GROUPWIRE_KEEP_EMPTY", "9"),
    ];
    let report = checked(path, &variables);
    for (option, due) in [
        ("tick", "3 GROUPWIRE_TICK"),
        ("max-rooms", "7 line 2"),
        ("origin", "https://a.example, https://b.example line 3"),
        ("emulate", "false default"),
        ("no-compression", "true line 5"),
        ("token", "(hidden) line 6"),
        ("keep-empty", "9 GROUPWIRE_KEEP_EMPTY"),
        ("max-connections", "20000 default"),
    ] {
        assert_eq!(in_force(&report, option).as_deref(), Some(due), "{report}");
    }
    assert_eq!(in_force(&report, "jwt-keys"), None);
    assert!(!report.contains("very secret"), "{report}");
    let list = checked(path, &[("GROUPWIRE_ORIGIN", "https://c.example,https://d.example")]);
    let due = "https://c.example, https://d.example GROUPWIRE_ORIGIN";
    assert_eq!(in_force(&list, "origin").as_deref(), Some(due));
}

#[test]
fn a_flag_goes_before_a_variable_and_before_the_file() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let path = file("flag", "listen = '127.0.0.1:1'\nlog = 'off'\n");
    let arguments = ["serve", "--config", path.to_str().unwrap(), "--listen", &taken];
    let error = refused(&arguments, &[("GROUPWIRE_LISTEN", "127.0.0.1:2")]);
    assert!(error.contains(&taken), "{error}");
    // The variable names the file, and the file has the address.
    let path = file("by-variable", &format!("listen = '{taken}'\n"));
    let error = refused(&["serve"], &[("GROUPWIRE_CONFIG", path.to_str().unwrap())]);
    assert!(error.contains(&taken), "{error}");
}

#[test]
fn all_that_is_wrong_is_said_at_once_with_its_line() {
    let text = "listen = '0.0.0.0:99999'\ntick = '40'\nlissten = 'a'\njwt-keys = 'keys.json'\n\
        token = 'very secret'\ncodecs = ['lz4', 'foo']\nmax-rooms = -4\nlog = 'lout'\nemulate = 1\n\
        cert = ['a']\ndurable = ['docs/*=local']\nkeep-empty = 4 5\nlisten = 'x'\n[hook]\naddress = 'y'\n";
    let path = file("wrong", text);
    let path = path.to_str().unwrap();
    let wrong = [
        ":1: listen: cannot be \"0.0.0.0:99999\"",
        ":2: tick: is a text, and must be a number",
        ":3: lissten: there is no such option; did you mean listen?",
        ":4: jwt-keys: also needs jwt-issuer and jwt-audience",
        ":5: token: cannot be used with jwt-keys in line 4",
        ":6: codecs: cannot be \"foo\"",
        ":7: max-rooms: cannot be \"-4\"",
        ":8: log: cannot be \"lout\": it must be one of off, error, warn, info, debug",
        ":9: emulate: must be true or false",
        ":10: cert: has one value, not a list",
        ":11: durable: also needs data",
        ":12: ",
        ":13: duplicate key",
        ":14: hook: ",
    ];
    for arguments in [&["config", "check", path][..], &["serve", "--config", path]] {
        let error = refused(arguments, &[]);
        for due in wrong {
            assert!(error.contains(&format!("{path}{due}")), "{due} in {error}");
        }
        assert_eq!(error.lines().count(), 1 + wrong.len(), "{error}");
        assert!(!error.contains("very secret"), "{error}");
    }
}

#[test]
fn rules_between_options_hold_across_the_layers() {
    let path = file("rules", "\ntoken = 'very secret'\n");
    let path = path.to_str().unwrap();
    let jwt = ["--jwt-keys", "keys.json", "--jwt-issuer", "one", "--jwt-audience", "two"];
    let error = refused(&[&["serve", "--config", path][..], &jwt].concat(), &[]);
    assert!(
        error.contains(":2: token: cannot be used with --jwt-keys of the command line"),
        "{error}"
    );
    let error = refused(&["config", "check", path], &[("GROUPWIRE_HOOK", "https://app.example")]);
    assert!(error.contains("cannot be used with the variable GROUPWIRE_HOOK"), "{error}");
    // Options that the file needs may come from elsewhere.
    let path = file("halves", "jwt-keys = '/dev/null'\njwt-issuer = 'one'\n");
    checked(path.to_str().unwrap(), &[("GROUPWIRE_JWT_AUDIENCE", "two")]);
}

#[test]
fn an_option_that_needs_one_of_several_is_told_which() {
    let path = file("acme", "acme = ['example.org']\nplain-listen = '127.0.0.1:0'\n");
    let path = path.to_str().unwrap();
    let error = refused(&["config", "check", path], &[]);
    assert!(error.contains(":1: acme: also needs acme-folder or data"), "{error}");
    assert!(!error.contains(":2:"), "{error}");
    checked(path, &[("GROUPWIRE_ACME_FOLDER", "/var/lib/acme")]);
    checked(path, &[("GROUPWIRE_ACME_FOLDER", "/var/lib/acme"), ("GROUPWIRE_DATA", "/var/lib/x")]);
    let path = file("plain", "plain-listen = '127.0.0.1:0'\nacme-contact = 'a@example.org'\n");
    let error = refused(&["config", "check", path.to_str().unwrap()], &[]);
    assert!(error.contains(":1: plain-listen: also needs cert or acme"), "{error}");
    assert!(error.contains(":2: acme-contact: also needs acme"), "{error}");
    let path =
        file("wrong-acme", "acme = ['*.example.org']\nacme-directory = 'http://a'\ncert = 'x'\n");
    let error = refused(&["config", "check", path.to_str().unwrap()], &[]);
    for due in [":1: acme: ", "needs access to the DNS", ":2: acme-directory: ", "write https://"] {
        assert!(error.contains(due), "{due}: {error}");
    }
    let path =
        file("two-certificates", "acme = ['a.example']\ncert = 'x'\nkey = 'x'\ndata = 'x'\n");
    let error = refused(&["config", "check", path.to_str().unwrap()], &[]);
    assert!(error.contains(":2: cert: cannot be used with acme in line 1"), "{error}");
}

#[test]
fn files_that_are_missing_are_named() {
    let error = refused(&["config", "check", "/nope/groupwire.toml"], &[]);
    assert!(error.contains("/nope/groupwire.toml"), "{error}");
    let path = file("missing", "admin-token-file = '/nope/token'\n");
    let error = refused(&["config", "check", path.to_str().unwrap()], &[]);
    assert!(error.contains(":1: admin-token-file: cannot read /nope/token"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_secret_that_everybody_can_read_is_warned_about() {
    use std::os::unix::fs::PermissionsExt;
    let path = file("readable", "token = 'very secret'\n");
    for (mode, is_warned) in [(0o644, true), (0o600, false)] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let report = checked(path.to_str().unwrap(), &[]);
        assert_eq!(report.contains("chmod 600"), is_warned, "{report}");
    }
}

#[test]
fn the_example_can_be_used_as_it_is() {
    let output = groupwire(&["config", "example"], &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("# listen = \"127.0.0.1:8080\"\n") && text.contains("GROUPWIRE_MAX_ROOMS"),
        "{text}"
    );
    let path = file("example", &text);
    checked(path.to_str().unwrap(), &[]);
}
