//! How settings are read: blanks around them, what cannot be one, and what the errors name.

use std::fs;

use clap::{Arg, ArgAction};
use rollcall::config::{self, Command};
use rollcall::db;
use rollcall::entity::integration::{self, Kind};
use rollcall::entity::{Timestamp, token};

use crate::harness::deadline::output;
use crate::harness::process::Process;
use crate::harness::program::{Done, Place};

/// A valid value of a setting.
fn example(arg: &Arg) -> String {
    let words = arg.get_possible_values();
    let name = arg.get_long().unwrap_or_else(|| arg.get_id().as_str());
    match (words.first(), name) {
        (Some(word), _) => word.get_name().to_owned(),
        (None, "database-url") => "sqlite://other.db".to_owned(),
        (None, "read-database-url") => "postgres://one/catalogue".to_owned(),
        (None, "listen" | "metrics-listen") => "127.0.0.1:0".to_owned(),
        (None, "listen-mode" | "id" | "trace-sampler-arg") => "1".to_owned(),
        (None, "status") => "running".to_owned(),
        (None, "trusted-proxies") => "10.0.0.1".to_owned(),
        (None, "url") => "https://rollcall.example.com/integrations/deploy/1".to_owned(),
        (None, "app-url" | "base-url" | "cors-origins" | "server" | "oidc-issuer" | "otlp-endpoint") => {
            "https://example.com".to_owned()
        }
        (None, "oidc-domains" | "pull-documents-from" | "send-events-to") => "example.com".to_owned(),
        (None, "mail-from") => "rollcall@example.com".to_owned(),
        (None, "code-issues-overdue-after" | "tokens-expire-after" | "tokens-expire-within") => "400d".to_owned(),
        (None, name) if name.ends_with("-retention") => "400d".to_owned(),
        (None, _) => match arg.get_value_names().and_then(|names| names.first()).map(|name| name.as_str()) {
            Some("DURATION") => "30s".to_owned(),
            Some("GROUP=ROLE") => "dev=user".to_owned(),
            Some("GROUP=TEAM") => "dev=payments".to_owned(),
            Some("REQUESTS" | "BYTES" | "OBJECTS" | "CONNECTIONS" | "NUMBER") => "7".to_owned(),
            _ => "a text".to_owned(),
        },
    }
}

/// The words that come before and after the setting, so that its command accepts it.
fn company(path: &[String], name: &str) -> Vec<String> {
    let mut words = path.to_vec();
    let mut add = |flag: &str, value: &str| {
        if flag != format!("--{name}") {
            words.extend([flag.to_owned(), value.to_owned()]);
        }
    };
    match path.last().map(String::as_str) {
        Some("sign-in-link") => add("--email", "ada@example.com"),
        Some("create") if path[0] == "token" => add("--description", "x"),
        Some("create") => add("--name", "x"),
        Some("deploy") => add("--service", "x"),
        Some("generate") => add("--services", "1"),
        _ => {}
    }
    if name.starts_with("oidc") && !["oidc-name", "oidc-role"].contains(&name) {
        add("--oidc-issuer", "https://login.example.com");
        add("--oidc-client-id", "x");
    }
    match name {
        "tls-certificate" => add("--tls-key", "x"),
        "tls-key" => add("--tls-certificate", "x"),
        "smtp-url" | "smtp-url-file" => add("--mail-from", "rollcall@example.com"),
        _ => {}
    }
    match path.last().map(String::as_str) {
        Some(
            "delete" | "apply" | "backup" | "import" | "release" | "show" | "open" | "search" | "who-owns" | "query"
            | "impact" | "missing" | "failing" | "rotate" | "revert" | "history",
        ) => words.push("1".to_owned()),
        Some("list") if path.len() == 1 => words.push("services".to_owned()),
        _ => {}
    }
    words
}

/// Every flag with a value, of every command.
fn flags(command: &clap::Command, path: &[String], found: &mut Vec<(Vec<String>, Arg)>) {
    for arg in command.get_arguments().filter(|arg| arg.get_long().is_some() && arg.get_action().takes_values()) {
        // The names of files to find are no setting.
        if arg.get_env().is_some()
            || ["email", "name", "description", "expires", "scope"].contains(&arg.get_id().as_str())
        {
            found.push((path.to_vec(), arg.clone()));
        }
    }
    for inner in command.get_subcommands() {
        flags(inner, &[path, &[inner.get_name().to_owned()]].concat(), found);
    }
}

#[test]
fn every_setting_is_read_without_the_blanks_around_it() {
    let mut found = Vec::new();
    flags(&config::program(), &[], &mut found);
    assert!(found.len() > 100, "the test looks at nothing: {}", found.len());
    for (path, arg) in found {
        let name = arg.get_long().expect("a flag");
        if path == ["apply"] && name == "name" {
            continue;
        }
        let (value, company) = (example(&arg), company(&path, name));
        let read = |value: &str| {
            let words = [&["rollcall".to_owned()], &*company, &[format!("--{name}"), value.to_owned()]].concat();
            config::parse(words).map(|command| format!("{command:?}")).map_err(|error| error.to_string())
        };
        let plain = read(&value).unwrap_or_else(|error| panic!("{path:?} --{name} {value}: {error}"));
        for around in ["VALUE\n", " VALUE ", "VALUE\r\n", "\u{feff}VALUE", "\tVALUE\u{a0}", "\u{200b}VALUE\u{2028}"] {
            let given = around.replace("VALUE", &value);
            assert_eq!(read(&given).as_ref(), Ok(&plain), "{path:?} --{name} {given:?}");
        }
        // What a deploy says is sent as it is: the server takes it.
        let is_sent = path == ["deploy"] && !["status", "url", "url-file", "deadline"].contains(&name);
        if matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) && !is_sent {
            for inside in ["VAL\nUE", "VAL\u{1b}[31mUE", "VAL\u{202e}UE"] {
                let given = inside.replace("VAL", &value).replace("UE", &value);
                let error = read(&given).expect_err("a control character inside of a setting");
                assert!(error.contains(&format!("--{name}")), "{path:?} {error}");
                assert!(error.contains("must not contain the character U+"), "{path:?} --{name}: {error}");
            }
        }
    }
}

/// Runs a command with these variables.
fn run_with(place: &Place, arguments: &[&str], variables: &[(&str, &str)]) -> Done {
    let output = output(place.command(arguments).envs(variables.iter().copied()));
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Done { status: output.status.code().expect("a status"), out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn a_server_tells_commands_how_long_tokens_are_valid() {
    let place = Place::with_database();
    let create = |description: &str, more: &[&str]| {
        place.run(&[&["token", "create", "--description", description], more].concat())
    };
    assert_eq!(create("before", &[]).err, "");
    let flags = ["--tokens-expire-after", "30d", "--tokens-expire-within", "60d"];
    Process::start(place.command(&[&["serve", "--listen", "127.0.0.1:0"], &flags[..]].concat())).stop();
    let made = create("default", &[]);
    assert!(made.status == 0 && made.err.starts_with("the token expires on 20"), "{}", made.err);
    assert!(made.err.ends_with(", as the server is set\n"), "{}", made.err);
    let chosen = create("chosen", &["--expires", "60d"]);
    assert_eq!((chosen.status, &*chosen.err), (0, ""));
    for more in ["never", "61d", "2999-01-31"] {
        let refused = create("refused", &["--expires", more]);
        let sentence = "rollcall: a token of this server is valid for at most 60 days; let it expire earlier\n";
        assert_eq!((refused.status, &*refused.err), (1, sentence), "{more}");
    }
    let past = create("refused", &["--expires", "1999-12-31"]);
    assert_eq!((past.status, &*past.err), (1, "rollcall: a token must expire later than now\n"));
    for (wrong, why) in [("2027-02-30", "it is no date"), ("tomorrow", "as a date like 2027-01-31, or as never")] {
        let refused = create("refused", &["--expires", wrong]);
        assert!(refused.status == 2 && refused.err.contains(why), "{wrong}: {}", refused.err);
    }
    // Without the flags, the next server allows what it did before.
    Process::start(place.command(&["serve", "--listen", "127.0.0.1:0"])).stop();
    assert_eq!(create("after", &["--expires", "2999-01-31"]).status, 0);
    assert!(place.run(&["token", "list"]).out.contains("\t2999-01-31T00:00:00Z\tafter\n"));
    let short = place.run(&["serve", "--tokens-expire-after", "1h"]);
    assert!(short.status == 2 && short.err.contains("write at least 1d"), "{}", short.err);
    let crossed = ["--listen", "127.0.0.1:0", "--tokens-expire-after", "90d", "--tokens-expire-within", "60d"];
    let refused = place.run(&[&["serve"], &crossed[..]].concat());
    let sentence = "rollcall: --tokens-expire-after is longer than --tokens-expire-within: a new token would be valid for longer \
                    than any token may be\n";
    assert_eq!((refused.status, &*refused.out, &*refused.err), (1, "", sentence));
    let told = place.run(&[&["doctor"], &crossed[..]].concat());
    assert!(told.status == 1 && told.out.contains("--tokens-expire-after is longer than"), "{}", told.out);
}

#[test]
fn a_variable_that_ends_in_a_newline_works() {
    let place = Place::new();
    for (variable, value) in [
        ("DATABASE_URL", "sqlite://one.db\n"),
        ("ROLLCALL_OIDC_CLIENT_SECRET", "a secret\n"),
        ("DATABASE_URL", "\u{feff}sqlite://two.db\r\n"),
    ] {
        let done = run_with(&place, &["migrate"], &[(variable, value)]);
        assert_eq!(done.status, 0, "{variable}: {}", done.err);
    }
    assert!(place.path().join("one.db").exists() && place.path().join("two.db").exists());
    let done = run_with(&place, &["healthcheck"], &[("ROLLCALL_LISTEN", "unix:/nowhere/rollcall.sock\n")]);
    assert!(done.err.contains("/nowhere/rollcall.sock") && !done.err.contains("sock\\n"), "{}", done.err);
    let settings = ["rollcall", "serve", "--oidc-issuer", "https://login.example.com\n", "--oidc-client-id", " id\n"];
    let secret = ["--oidc-client-secret", "\ta secret\n", "--proxy-protocol"];
    let Ok(Command::Serve(settings)) = config::parse([&settings[..], &secret].concat()) else { panic!("settings") };
    let provider = settings.openid.provider().expect("settings").expect("a provider");
    assert_eq!((&*provider.issuer, &*provider.client_id), ("https://login.example.com", "id"));
    assert_eq!(provider.client_secret.expect("a secret").reveal(), "a secret");
}

#[test]
fn a_file_with_a_secret_is_read_without_blanks_or_refused_by_its_settings_name() {
    let place = Place::new();
    for (file, bytes) in [
        ("newline", &b"sqlite://rollcall.db\n"[..]),
        ("crlf", b"sqlite://rollcall.db\r\n\r\n"),
        ("mark", b"\xef\xbb\xbfsqlite://rollcall.db"),
        ("blanks", b"  sqlite://rollcall.db \t"),
        ("space", "\u{a0}sqlite://rollcall.db\u{2003}\n".as_bytes()),
    ] {
        place.write(file, bytes);
        let done = place.run(&["migrate", "--database-url-file", file]);
        assert_eq!(done.status, 0, "{file}: {}", done.err);
    }
    let large = vec![b'x'; 70_000];
    for (bytes, why) in [
        (&b"sqlite://a.db\nsqlite://b.db\n"[..], "the file must not contain the character U+000A (a line break)"),
        (b"", "the file is blank"),
        (b" \n\n", "the file is blank"),
        (b"\xff\xfes\0q\0l\0", "the file is UTF-16; save it as UTF-8"),
        (b"secret\xff", "the file is not UTF-8 text"),
        (b"sec\x1bret", "the file must not contain the character U+001B (escape)"),
        (&large, "the file has more than 64 KiB"),
    ] {
        place.write("secret", bytes);
        for (command, setting) in [
            (&["migrate", "--database-url-file", "secret"][..], "DATABASE_URL_FILE or --database-url-file"),
            (
                &["serve", "--listen", "127.0.0.1:0", "--read-database-url-file", "secret"],
                "READ_DATABASE_URL_FILE or --read-database-url-file",
            ),
            (&["deploy", "--service", "x", "--url-file", "secret"], "--url-file or ROLLCALL_DEPLOY_URL_FILE"),
            (
                &["apply", "--server", "http://127.0.0.1:1", "--token-file", "secret", "x.yml"],
                "--token-file or ROLLCALL_TOKEN_FILE",
            ),
            (
                &[
                    "serve",
                    "--listen",
                    "127.0.0.1:0",
                    "--oidc-issuer",
                    "https://login.example.com",
                    "--oidc-client-id",
                    "x",
                    "--oidc-client-secret-file",
                    "secret",
                ],
                "--oidc-client-secret-file or ROLLCALL_OIDC_CLIENT_SECRET_FILE",
            ),
            (
                &[
                    "serve",
                    "--listen",
                    "127.0.0.1:0",
                    "--mail-from",
                    "rollcall@example.com",
                    "--smtp-url-file",
                    "secret",
                ],
                "--smtp-url-file or ROLLCALL_SMTP_URL_FILE",
            ),
        ] {
            let done = place.run(command);
            assert_eq!((done.status, &*done.out), (1, ""), "{command:?}: {}", done.err);
            let ends = format!(" cannot be read from secret (from {setting}): {why}\n");
            let last = done.err.split_inclusive('\n').next_back().unwrap_or_default();
            assert!(last.ends_with(&ends), "{command:?}: {}", done.err);
        }
    }
}

#[test]
fn an_error_about_a_value_names_the_variable_or_the_flag_that_it_comes_from() {
    let place = Place::new();
    for (variable, value, said) in [
        ("ROLLCALL_TOKEN_LIMIT", "many", "invalid value 'many' for 'ROLLCALL_TOKEN_LIMIT': write a whole number"),
        ("ROLLCALL_TOKEN_LIMIT", "99999999999", "for 'ROLLCALL_TOKEN_LIMIT': it is too large"),
        ("ROLLCALL_QUERY_TIMEOUT", "30", "invalid value '30' for 'ROLLCALL_QUERY_TIMEOUT': it has no unit"),
        ("ROLLCALL_QUERY_TIMEOUT", "-5s", "for 'ROLLCALL_QUERY_TIMEOUT': it is negative"),
        ("ROLLCALL_LOG_FORMAT", "xml", "invalid value 'xml' for 'ROLLCALL_LOG_FORMAT'"),
        ("ROLLCALL_PROXY_PROTOCOL", "maybe", "invalid value 'maybe' for 'ROLLCALL_PROXY_PROTOCOL'"),
        ("ROLLCALL_APP_URL", "catalogue.example.com", "invalid value 'catalogue.example.com' for 'ROLLCALL_APP_URL'"),
        ("ROLLCALL_BASE_URL", "https://a b", "for 'ROLLCALL_BASE_URL': write it like https://"),
        ("ROLLCALL_ACCOUNT_NAME", " ", "for 'ROLLCALL_ACCOUNT_NAME': it is blank"),
        ("ROLLCALL_TRUSTED_PROXIES", "10.0.0.1,proxy", "invalid value 'proxy' for 'ROLLCALL_TRUSTED_PROXIES'"),
        ("ROLLCALL_OIDC_CLIENT_ID", "x", "ROLLCALL_OIDC"),
        ("ROLLCALL_OIDC_CLIENT_SECRET", "sec\nret", "--oidc-client-secret or ROLLCALL_OIDC_CLIENT_SECRET: it must not"),
    ] {
        let done = run_with(&place, &["serve"], &[(variable, value)]);
        assert_eq!((done.status, &*done.out), (2, ""), "{variable}: {}", done.err);
        if variable != "ROLLCALL_OIDC_CLIENT_ID" {
            assert!(done.err.contains(said), "{variable}: {}", done.err);
        }
        assert!(!done.err.contains("ret'"), "{}", done.err);
    }
    let done = run_with(&place, &["serve", "--token-limit", "few"], &[("ROLLCALL_TOKEN_LIMIT", "7")]);
    assert!(done.err.contains("invalid value 'few' for '--token-limit <REQUESTS>'"), "{}", done.err);
    let done = run_with(&place, &["migrate", "--database-url-file", "x"], &[("DATABASE_URL", "sqlite://x.db")]);
    assert!(done.err.contains("'DATABASE_URL'") && done.err.contains("cannot be used with"), "{}", done.err);
}

#[test]
fn a_switch_says_which_words_it_takes() {
    let place = Place::new();
    for word in ["ja", "maybe", "2", "wahr", "TRUE!"] {
        for variable in ["ROLLCALL_OIDC_TRUST_EMAIL", "ROLLCALL_PROXY_PROTOCOL", "ROLLCALL_MCP_WRITES"] {
            let done = run_with(&place, &["serve"], &[(variable, word)]);
            let said = format!(
                "invalid value '{word}' for '{variable}': write true or false (or yes or no, on or off, 1 or 0)"
            );
            assert!(done.status == 2 && done.err.contains(&said), "{}", done.err);
        }
    }
    for word in ["true", "Yes", "ON", "1\n", "y"] {
        let done = run_with(&place, &["doctor"], &[("ROLLCALL_PROXY_PROTOCOL", word)]);
        assert!(done.out.contains("--proxy-protocol needs --trusted-proxies"), "{word}: {}{}", done.out, done.err);
    }
}

#[test]
fn a_word_that_is_no_level_of_the_log_is_refused() {
    let place = Place::new();
    for (filter, word) in
        [("loud", "loud"), ("info,verbose", "verbose"), ("on", "on"), (" 7,debug", "7"), ("warning", "warning")]
    {
        let done = run_with(&place, &["serve", "--listen", "127.0.0.1:0"], &[("ROLLCALL_LOG", filter)]);
        let said = format!(
            "(--log or ROLLCALL_LOG): \"{word}\" is no level; the levels are off, error, warn, info, debug, trace"
        );
        assert!(done.status == 1 && done.err.contains(&said), "{filter}: {}", done.err);
    }
    assert!(!place.path().join("rollcall.db").exists());
}

#[test]
fn a_variable_that_is_no_setting_is_advised_of() {
    let place = Place::new();
    for (variable, value, said) in [
        (
            "ROLLCALL_LISTENN",
            "127.0.0.1:1",
            "ROLLCALL_LISTENN is not the variable of any setting; did you mean ROLLCALL_LISTEN?",
        ),
        ("ROLLCALL_APPURL", "x", "; did you mean ROLLCALL_APP_URL?"),
        ("ROLLCALL_OIDC_CLIENT_SECRETT", "geheim", "; did you mean ROLLCALL_OIDC_CLIENT_SECRET?"),
        ("ROLLCALL_COLOUR_OF_THE_SKY", "blue", "ROLLCALL_COLOUR_OF_THE_SKY is not the variable of any setting\n"),
        ("ROLLCALL_PORT", "8080", "ROLLCALL_PORT is not the variable of any setting"),
    ] {
        let done = run_with(&place, &["doctor"], &[(variable, value)]);
        assert!(done.out.contains(said) && !done.out.contains("geheim"), "{variable}: {}{}", done.out, done.err);
        // The server starts with a warning, and ends at the address that it cannot have.
        let done = run_with(&place, &["serve", "--listen", "192.0.2.1:0"], &[(variable, value)]);
        assert!(done.err.contains(said.trim_end()), "{variable}: {}", done.err);
    }
    // Those that Kubernetes sets for a service that is called rollcall.
    for (variable, value) in [
        ("ROLLCALL_PORT", "tcp://10.0.0.1:80"),
        ("ROLLCALL_PORT_80_TCP_ADDR", "10.0.0.1"),
        ("ROLLCALL_SERVICE_HOST", "10.0.0.1"),
        ("ROLLCALL_SERVICE_PORT_HTTP", "80"),
        ("ROLLCALL_LOG", "info"),
        ("ROLLCALL_CONTEXTS", "contexts.json"),
    ] {
        let done = run_with(&place, &["doctor"], &[(variable, value)]);
        assert!(!done.out.contains("is not the variable"), "{variable}: {}", done.out);
    }
}

#[test]
fn a_mistaken_flag_is_told_the_flag_that_is_meant() {
    let place = Place::new();
    for (arguments, meant) in [
        (&["--port", "9"][..], Some("--listen")),
        (&["serve", "--host=0.0.0.0"], Some("--listen")),
        (&["--lisen", "127.0.0.1:9"], Some("--listen")),
        (&["token", "list", "--db", "sqlite://x.db"], Some("--database-url")),
        (&["serve", "--log-level", "debug"], Some("--log")),
        (&["--something"], None),
        (&["token", "list", "--port", "9"], None),
    ] {
        let done = place.run(arguments);
        let tip = meant.map(|meant| format!("a similar argument exists: '{meant}'"));
        let said =
            done.err.lines().find(|line| line.contains("similar")).map(|line| line.trim_start_matches("  tip: "));
        assert_eq!((done.status, said), (2, tip.as_deref()), "{arguments:?}: {}", done.err);
    }
}

#[test]
fn an_application_below_a_path_is_refused_at_the_start() {
    let place = Place::new();
    for (url, path) in [
        ("https://tools.example.com/rollcall", "/rollcall"),
        ("https://tools.example.com/rollcall/", "/rollcall"),
        ("http://10.0.0.5:8080/a/b", "/a/b"),
        ("https://[2001:db8::1]/x", "/x"),
        ("https://tools.example.com//x", "//x"),
        ("https://example.com/index.html\n", "/index.html"),
    ] {
        let said = format!("the application cannot be served below the path {path}, only at the root of a host");
        let done = place.run(&["serve", "--app-url", url]);
        assert!(done.status == 2 && done.err.contains("for '--app-url <URL>'"), "{url}: {}", done.err);
        assert!(done.err.contains(&said) && done.err.contains("give it a host of its own"), "{url}: {}", done.err);
        let done = run_with(&place, &["deploy-endpoint", "list"], &[("ROLLCALL_APP_URL", url)]);
        assert!(done.err.contains("for 'ROLLCALL_APP_URL'") && done.err.contains(&said), "{url}: {}", done.err);
    }
    for (url, said) in [
        ("https://ada:secret@example.com", "it must not hold a user or a password"),
        ("https://example.com?x=1", "without ? and #"),
        ("https://example.com#x", "without ? and #"),
        ("https://example.com:99999", "its port must be a number from 1 to 65535"),
        ("ftp://example.com", "write it like https://"),
        ("https://", "write it like https://"),
    ] {
        let done = place.run(&["serve", "--app-url", url]);
        assert!(done.status == 2 && done.err.contains(said), "{url}: {}", done.err);
    }
    for url in ["https://tools.example.com", "https://tools.example.com/", " http://[::1]:8080// "] {
        assert!(config::parse(["rollcall", "serve", "--app-url", url]).is_ok(), "{url}");
    }
}

#[test]
fn a_database_url_that_cannot_be_one_is_refused_by_its_settings_name_and_without_the_password() {
    let place = Place::new();
    let form = "must be sqlite://FILE or postgres://USER:PASSWORD@HOST/DATABASE";
    for (url, said) in [
        ("postgres://ada:se#cret@db.example.com/catalogue", "has a # in the password: percent-encode it, # is %23"),
        ("postgres://ada:se/cret@db.example.com/catalogue", "has a / in the password: percent-encode it, / is %2F"),
        ("postgres://ada:se?cret@db.example.com/catalogue", "has a ? in the password: percent-encode it, ? is %3F"),
        ("postgres://ada:se%cret@db.example.com/catalogue", "percent-encode it, % is %25"),
        ("postgres://ada:se cret@db.example.com/catalogue", "percent-encode it, a space is %20"),
        ("postgres://", "names neither a host nor a database"),
        ("localhost:5432/catalogue", form),
        ("postgresql+asyncpg://ada:secret@db/catalogue", "begin it with postgresql://"),
        ("\"postgres://ada:secret@db/catalogue\"", "is in quotation marks: remove them"),
        ("jdbc:postgresql://db/catalogue?password=secret", "remove jdbc: from its beginning"),
        (r"C:\data\rollcall.db", "is the path of a file: write sqlite:// before it"),
        ("/var/lib/rollcall/rollcall.db", "is the path of a file: write sqlite:// before it"),
        ("mysql://ada:secret@db/catalogue", form),
    ] {
        let done = place.run(&["migrate", "--database-url", url]);
        let begins = "rollcall: the database URL (from DATABASE_URL or --database-url) ";
        assert_eq!((done.status, &*done.out), (1, ""), "{url}: {}", done.err);
        assert!(done.err.starts_with(begins) && done.err.contains(said), "{url}: {}", done.err);
        assert!(!done.err.contains("cret"), "{url}: {}", done.err);
        place.write("url", url);
        let done = place.run(&["serve", "--listen", "127.0.0.1:0", "--read-database-url-file", "url"]);
        let begins = "rollcall: the replica's URL (from READ_DATABASE_URL_FILE or --read-database-url-file) ";
        assert!(done.err.contains(begins) && done.err.contains(said), "{url}: {}", done.err);
        assert!(!done.err.contains("cret"), "{url}: {}", done.err);
    }
    assert_eq!(fs::read_dir(place.path()).expect("the folder").count(), 1, "nothing was created");
}

#[test]
fn lists_escape_what_a_terminal_would_obey_and_no_name_forges_a_row() {
    let place = Place::with_database();
    let names =
        ["CI\n2\thttps://evil.example\tforged", "\u{1b}]0;title\u{7}", "a\rb", "\u{202e}IC", "a\u{2028}b", "\u{9b}2J"];
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let db = db::connect(&format!("sqlite://{}", place.absolute("rollcall.db"))).await.expect("a database");
        for name in names {
            let made =
                db.write(async |tx| integration::create(tx, Kind::Deploy, name.to_owned(), Timestamp::now()).await);
            made.await.expect("an endpoint of an older version");
        }
        let actor = rollcall::entity::audit::Actor::command_line();
        for name in names {
            let made =
                db.write(async |tx| token::create(tx, &actor, name, token::Scope::Read, None, Timestamp::now()).await);
            made.await.expect_err("a description of one line");
        }
        db.close().await.expect("closed");
    });
    let listed = place.run(&["deploy-endpoint", "list"]);
    assert_eq!(listed.out.lines().count(), names.len(), "{}", listed.out);
    assert!(listed.out.lines().all(|line| line.split('\t').count() == 3), "{}", listed.out);
    let is_raw =
        |letter: char| (letter.is_control() && !"\t\n".contains(letter)) || "\u{202e}\u{2028}".contains(letter);
    assert!(!listed.out.contains(is_raw), "{:?}", listed.out);
    assert!(listed.out.contains(r"CI\n2\thttps://evil.example\tforged"), "{}", listed.out);
    let said = place.run(&["release", "cart"]).err;
    assert_eq!(said.lines().count(), 1, "{said}");
}
