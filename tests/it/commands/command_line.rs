//! The program as users run it: flags, output, exit status.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use crate::harness::deadline::{Deadline, output};
use crate::harness::program::{Place, assert_refused};

#[test]
fn a_token_is_printed_alone_and_listed_without_its_secret() {
    let place = Place::with_database();
    let made = place.run(&["token", "create", "--description", "for CI", "--scope", "read", "--expires", "90d"]);
    assert_eq!((made.status, &*made.err), (0, ""));
    let token = made.out.strip_suffix('\n').expect("a line");
    assert!(token.starts_with("rc_") && token.len() == 52, "{token}");

    let listed = place.run(&["token", "list"]);
    let columns: Vec<_> = listed.out.trim_end().split('\t').collect();
    let &[id, scope, made, used, expires, description] = &*columns else { panic!("{columns:?}") };
    assert_eq!((id, scope, used, description), ("1", "read", "-", "for CI"));
    assert!(made < expires, "{made} {expires}");
    assert!(!listed.out.contains(token));

    assert_eq!(place.run(&["token", "delete", "1"]).status, 0);
    assert_eq!(place.run(&["token", "list"]).out, "");
    place.run(&["token", "create", "--description", "by default"]);
    place.run(&["token", "create", "--description", "for users", "--scope", "admin"]);
    let listed = place.run(&["token", "list"]).out;
    let scopes: Vec<_> = listed.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    assert_eq!(scopes, ["write", "admin"]);
    assert_refused(&place.run(&["token", "delete", "1"]), "no token has the id 1");
}

#[test]
fn a_token_needs_a_description_of_one_line() {
    let place = Place::with_database();
    for description in ["", " ", "two\nlines", &"x".repeat(256)] {
        let done = place.run(&["token", "create", "--description", description]);
        assert_eq!((done.status, &*done.out), (2, ""), "{description:?}: {}", done.err);
        assert!(done.err.contains("--description"), "{}", done.err);
    }
}

#[test]
fn a_deploy_endpoint_is_printed_as_its_url() {
    let place = Place::with_database();
    let url = ["--app-url", "https://catalogue.example.com/"];
    let made = place.run(&[&["deploy-endpoint", "create", "--name", "CI"], &url[..]].concat());
    let id = made.out.trim_end().strip_prefix("https://catalogue.example.com/integrations/deploy/").expect("the URL");
    assert_eq!((made.status, id.len()), (0, 36));
    let listed = place.run(&[&["deploy-endpoint", "list"], &url[..]].concat());
    assert_eq!(listed.out, format!("1\t{}\tCI\n", made.out.trim_end()));
    assert_eq!(place.run(&["deploy-endpoint", "delete", "1"]).status, 0);
    assert_refused(&place.run(&["deploy-endpoint", "delete", "1"]), "no deploy endpoint has the id 1");
    let local = place.run(&["deploy-endpoint", "create", "--name", "CI"]);
    assert!(local.out.starts_with("http://127.0.0.1:8080/integrations/deploy/"), "{}", local.out);
}

#[test]
fn flags_may_come_before_the_command_too() {
    let place = Place::new();
    let url = "sqlite://other.db";
    assert!(place.run(&["--database-url", url, "migrate"]).err.starts_with(&place.created("other.db")));
    let made = place.run(&["--database-url", url, "token", "create", "--description", "before", "--expires=1d"]);
    assert_eq!((made.status, &*made.err), (0, ""));
    for arguments in [
        &["--database-url", url, "token", "list"][..],
        &["--database-url=sqlite://other.db", "token", "list"],
        &["token", "list", "--database-url", url],
    ] {
        let listed = place.run(arguments);
        assert!(listed.status == 0 && listed.out.contains("before"), "{arguments:?}: {}", listed.err);
    }
    let app_url = "https://catalogue.example.com";
    let made =
        place.run(&["--app-url", app_url, "--database-url", url, "deploy-endpoint", "create", "--name", "token"]);
    assert!(made.out.starts_with(app_url), "{}", made.err);
    place.write("a.yml", "version: 1\nservice: { name: Cart }\n");
    assert_eq!(place.run(&["--database-url", url, "apply", "--", "a.yml"]).status, 0);
    // Flags of the command itself may also come first, with a value or without.
    let flags = ["--database-url", url, "--description=also", "--scope", "read", "token", "create"];
    assert_eq!(place.run(&flags).status, 0);
    assert_eq!(place.run(&["--replace", "--output", "export", "--database-url", url, "export"]).status, 0);
    assert!(place.path().join("export").exists());
    // A value that equals the name of a command.
    let misused = place.run(&["--account-name", "token", "token", "list"]);
    assert_eq!((misused.status, &*misused.out), (2, ""));
    assert!(misused.err.starts_with("error: unexpected argument '--account-name' found"), "{}", misused.err);
    assert!(!place.path().join("rollcall.db").exists(), "all of them used the one that was named");
}

#[test]
fn a_command_in_the_wrong_folder_makes_no_database() {
    let place = Place::new();
    place.write("cart.yml", "version: 1\nservice: { name: Cart }\n");
    let sentence = format!(
        "there is no database {}; name the server's database with --database-url, or start the server first",
        place.absolute("rollcall.db")
    );
    for arguments in [
        &["token", "create", "--description", "first"][..],
        &["token", "list"],
        &["token", "delete", "1"],
        &["deploy-endpoint", "create", "--name", "CI"],
        &["deploy-endpoint", "list"],
        &["deploy-endpoint", "delete", "1"],
        &["sign-in-link", "--email", "ada@example.com"],
        &["export"],
        &["release", "cart"],
        &["backup", "copy.db"],
        &["apply", "cart.yml"],
        &["apply", "--dry-run", "cart.yml"],
    ] {
        assert_refused(&place.run(arguments), &sentence);
    }
    assert!(!place.path().join("rollcall.db").exists());
}

#[test]
fn a_command_that_may_be_the_first_says_which_database_it_creates() {
    let (place, generate) = (Place::new(), ["generate", "--services", "3"]);
    let done = place.run(&generate);
    let said = done.err.strip_prefix(&place.created("rollcall.db")).expect("the database that was created");
    assert!(
        done.status == 0 && said.starts_with("generated 3 services in ") && said.ends_with(" a second\n"),
        "{said}"
    );
    assert!(!place.run(&generate).err.contains("created"), "only once");
}

#[test]
fn a_blank_database_url_is_not_the_default() {
    let place = Place::new();
    let output = output(place.command(&["migrate"]).env("DATABASE_URL", " "));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let expected = "rollcall: the database URL is blank: set DATABASE_URL, or remove it to use sqlite://rollcall.db\n";
    assert_eq!((output.status.code(), &*said), (Some(1), expected));
    assert!(!place.path().join("rollcall.db").exists());
}

#[test]
fn the_error_for_an_invalid_value_says_how_to_write_it() {
    let place = Place::new();
    let address = "write it like 127.0.0.1:8080, or 0.0.0.0:8080 for all of this machine's addresses";
    let listen = format!("{address}, or unix:/run/rollcall.sock for a socket");
    let id = "write the id, which is a number: the first column of the list";
    for (arguments, hint) in [
        (&["--listen", "8080"][..], &*listen),
        (&["--listen", "localhost:http"], &*listen),
        (&["--listen", "unix:rollcall.sock"], "write a socket with its absolute path, like unix:/run/rollcall.sock"),
        (&["--listen-mode", "rw"], "write the permissions in octal, such as 660"),
        (&["--metrics-listen", "9464"], address),
        (&["--token-limit", "abc"], "write a whole number, such as 400"),
        (&["--max-rows", "1.5"], "write a whole number, such as 400"),
        (&["token", "delete", "abc"], id),
        (&["deploy-endpoint", "delete", "CI"], id),
    ] {
        let done = place.run(arguments);
        assert_eq!((done.status, &*done.out), (2, ""), "{arguments:?}");
        let first = done.err.lines().next().unwrap_or_default();
        assert!(first.starts_with("error: invalid value ") && first.ends_with(&format!(": {hint}")), "{first}");
    }
    // Fails because there is no server, and not because of its address.
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let done = place.run(&["healthcheck", "--listen", &format!("localhost:{port}")]);
    assert!(done.err.starts_with(&format!("rollcall: no server answers at 127.0.0.1:{port}: ")), "{}", done.err);
    assert!(done.err.contains("nothing listens there") && !done.err.contains("os error"), "{}", done.err);
}

#[test]
fn migrate_prints_what_it_did() {
    let place = Place::new();
    let first = place.run(&["migrate"]);
    assert_eq!((first.status, &*first.out), (0, ""));
    let said = first.err.strip_prefix(&place.created("rollcall.db")).expect("the database that was created");
    assert!(said.starts_with("migrated the database: "), "{said}");
    assert_eq!(place.run(&["migrate"]).err, "the database is already up to date\n");
}

#[test]
fn the_schema_is_printed_byte_for_byte() {
    assert_eq!(Place::new().run(&["schema", "print"]).out, rollcall::graphql::SDL);
}

#[test]
fn schema_diff_fails_when_a_change_breaks_clients() {
    let place = Place::new();
    place.write("old", "type Query { a: Int b: Int }");
    place.write("new", "type Query { a: Int }");
    let broken = place.run(&["schema", "diff", "old", "new"]);
    assert_eq!((broken.status, &*broken.err), (1, ""));
    assert!(broken.out.contains("Query.b"), "{}", broken.out);
    let safe = place.run(&["schema", "diff", "new", "old"]);
    assert_eq!(safe.status, 0);
    assert!(safe.out.contains("Query.b"), "{}", safe.out);
    let missing = place.run(&["schema", "diff", "old", "none"]);
    assert_refused(&missing, "none cannot be read: No such file or directory (os error 2)");
}

#[test]
fn wrong_usage_ends_with_status_2() {
    let place = Place::new();
    for arguments in [
        &["--unknown"][..],
        &["unknown"],
        &["--listen", "nowhere"],
        &["--listen", "unix:rollcall.sock"],
        &["--listen-mode", "888"],
        &["--token-limit", "-1"],
        &["--trusted-proxies", "10.0.0.0/99"],
        &["--app-url", "catalogue.example.com"],
        &["--idle-timeout", "soon"],
        &["--deploy-retention", "400s"],
        &["--audit-retention", "1h"],
        &["--listen", "127.0.0.1:0", "migrate"],
        &["token", "create"],
        &["token", "create", "--description", "x", "--scope", "all"],
        &["migrate", "--database-url", "sqlite://a.db", "--database-url-file", "b"],
        &["--database-url", "sqlite://a.db", "migrate", "--database-url-file", "b"],
        &["--database-url", "sqlite://a.db", "migrate", "--database-url", "sqlite://b.db"],
        &["--database-url", "sqlite://a.db", "schema", "print"],
        &["--database-url"],
        &["--database-url", "sqlite://a.db", "token"],
    ] {
        let done = place.run(arguments);
        assert_eq!((done.status, &*done.out), (2, ""), "{arguments:?}");
        assert!(done.err.starts_with("error: "), "{arguments:?}: {}", done.err);
    }
    assert!(std::fs::read_dir(place.path()).expect("the folder").next().is_none(), "nothing was made");
}

#[test]
fn help_shows_every_setting_with_its_variable() {
    // Options that say what this one run does. All others are settings.
    const WITHOUT_VARIABLE: &[&str] = &[
        "delete-missing",
        "deploys",
        "description",
        "dry-run",
        "email",
        "environment",
        "expires",
        "fail",
        "filter",
        "limit",
        "live",
        "name",
        "output",
        "overlap",
        "owner",
        "release-missing",
        "replace",
        "scope",
        "search",
        "service",
        "services",
        "since",
        "status",
        "team",
        "tier",
        "until",
        "variables",
    ];
    let (place, mut settings) = (Place::new(), 0);
    let mut commands = vec![(rollcall::config::program(), vec!["--help".to_owned()])];
    while let Some((command, words)) = commands.pop() {
        let help = place.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((help.status, &*help.err), (0, ""), "{words:?}");
        for argument in command.get_arguments() {
            // The program's own settings are those of `serve`, whose help shows them.
            let Some(flag) = argument.get_long().filter(|_| !argument.is_hide_set()) else { continue };
            assert!(help.out.split_whitespace().any(|word| word == format!("--{flag}")), "{words:?} --{flag}");
            let Some(variable) = argument.get_env() else {
                assert!(WITHOUT_VARIABLE.contains(&flag), "{words:?} --{flag} has no variable");
                continue;
            };
            let shown = ['=', ']'].map(|end| format!("[env: {}{end}", variable.display()));
            // Lines may end between the words.
            let out = help.out.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(shown.iter().any(|text| out.contains(text)), "{words:?} --{flag}");
            settings += 1;
        }
        let (last, before) = words.split_last().expect("--help");
        for inner in command.get_subcommands() {
            let words = [before, &[inner.get_name().to_owned(), last.clone()]].concat();
            commands.push((inner.clone(), words));
        }
    }
    assert!(settings > 60, "{settings}");
}

#[test]
fn the_password_of_the_database_is_not_shown() {
    let place = Place::new();
    let url = "postgres://user:geheim@127.0.0.1:1/none";
    for arguments in [&["--help"][..], &["migrate"]] {
        let output = output(place.command(arguments).env("DATABASE_URL", url));
        let shown = [output.stdout, output.stderr].concat();
        assert!(!String::from_utf8_lossy(&shown).contains("geheim"), "{arguments:?}");
    }
}

#[test]
fn the_database_url_can_come_from_a_file() {
    let place = Place::new();
    place.write("url", "sqlite://other.db\n");
    let mut command = place.command(&["migrate"]);
    assert!(command.env("DATABASE_URL_FILE", "url").status().expect("the program runs").success());
    assert!(place.path().join("other.db").exists() && !place.path().join("rollcall.db").exists());
    let missing = place.run(&["migrate", "--database-url-file", "none"]);
    let sentence = "the database URL cannot be read from none (from DATABASE_URL_FILE or --database-url-file): No such file or \
                    directory (os error 2)";
    assert_refused(&missing, sentence);
}

#[test]
fn an_error_at_the_start_is_one_sentence() {
    let place = Place::new();
    place.write("text.db", "this is not a database, although it is long enough to be looked at".repeat(100));
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    for (arguments, sentence) in [
        (
            &["--listen", &*address][..],
            &*format!("another program already listens on {address}; stop it, or choose another port with --listen"),
        ),
        (
            &["--database-url", "mysql://x"],
            "the database URL (from DATABASE_URL or --database-url) names a database that rollcall does not store in: it must \
             be sqlite://FILE or postgres://USER:PASSWORD@HOST/DATABASE",
        ),
        (
            &["--database-url", "sqlite://none/x.db"],
            &*format!("the database {} cannot be opened: its folder does not exist", place.absolute("none/x.db")),
        ),
        (
            &["--database-url", "sqlite://text.db"],
            &*format!(
                "the file {} is damaged or not a database; restore a backup or name another file",
                place.absolute("text.db")
            ),
        ),
        (&["--listen", "192.0.2.1:0"], "this machine has no address 192.0.2.1"),
        (&["--proxy-protocol"], "--proxy-protocol needs --trusted-proxies, which says whose PROXY headers to believe"),
    ] {
        assert_refused(&place.run(arguments), sentence);
    }
    assert!(place.run(&["--log", "no=such=level"]).err.starts_with("rollcall: the log filter is not valid (--log or "));
}

#[cfg(unix)]
#[test]
fn a_server_with_a_retention_removes_nothing_at_its_start_and_ends_at_sigterm() {
    let place = Place::new();
    let mut service = place.command(&["--listen", "127.0.0.1:0", "--deploy-retention", "400d"]);
    let mut service = service.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("the program runs");
    let _deadline = Deadline::of(&service);
    let lines = BufReader::new(service.stderr.take().expect("standard error")).lines();
    let (mut lines, mut said) = (lines.map(|line| line.expect("text")), Vec::<String>::new());
    while !said.last().is_some_and(|line| line.contains("become the first one")) {
        said.push(lines.next().expect("the last line of a start"));
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    let killed = Command::new("kill").arg(service.id().to_string()).status().expect("kill");
    assert!(killed.success());
    assert!(service.wait().expect("the end").success());
    said.extend(lines);
    assert!(!said.iter().any(|line| line.contains("removed")), "{said:?}");
}

#[cfg(unix)]
#[test]
fn the_server_prints_its_url_and_the_first_steps_and_ends_at_sigterm() {
    let place = Place::new();
    let mut service = place.command(&["--listen", "127.0.0.1:0"]);
    let mut service = service.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program runs");
    let _deadline = Deadline::of(&service);
    let mut lines = BufReader::new(service.stderr.take().expect("standard error")).lines();
    let created = lines.next().expect("a line").expect("text");
    assert_eq!(created + "\n", place.created("rollcall.db"));
    let line = lines.next().expect("a line").expect("text");
    assert!(line.starts_with("rollcall listens on 127.0.0.1:"), "{line}");
    assert!(line.contains("rollcall token create --description"), "{line}");
    let address = line.split([' ', ',', ';']).nth(3).expect("the address");
    assert!(std::net::TcpStream::connect(address).is_ok(), "{address}");
    let killed = Command::new("kill").arg(service.id().to_string()).status().expect("kill");
    assert!(killed.success());
    assert!(service.wait().expect("the end").success());
    let rest: Vec<_> = lines.map(|line| line.expect("text")).collect();
    let [link] = &*rest else { panic!("one line more: {rest:?}") };
    assert!(link.starts_with("there is no administrator yet: become the first one at http://127.0.0.1:"), "{link}");
}

#[cfg(unix)]
#[test]
fn the_server_says_how_to_make_a_token_on_its_database_while_there_is_none() {
    let place = Place::new();
    let first_line = |url: &str| {
        let mut service = place.command(&["--listen", "127.0.0.1:0", "--database-url", url]);
        let mut service = service.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("the program runs");
        let _deadline = Deadline::of(&service);
        let lines = BufReader::new(service.stderr.take().expect("standard error")).lines();
        let line = lines.map(|line| line.expect("text")).find(|line| line.contains("listens on"));
        service.kill().expect("it runs");
        service.wait().expect("it ends");
        line.expect("a line")
    };
    let create = "rollcall token create --description \"my first token\"";
    let line = first_line("sqlite://rollcall.db");
    assert!(line.ends_with(&format!("/graphql); make a first token with: {create}")), "{line}");
    let line = first_line("sqlite://other.db");
    assert!(line.ends_with(&format!("make a first token with: {create} --database-url sqlite://other.db")), "{line}");
    let made = ["token", "create", "--description", "my first token", "--database-url", "sqlite://other.db"];
    assert_eq!(place.run(&made).status, 0);
    let line = first_line("sqlite://other.db");
    assert!(line.ends_with("/graphql)"), "{line}");
}

#[test]
fn manual_pages_are_written_into_a_folder_that_exists() {
    let place = Place::new();
    let folder = place.path().join("man1");
    let refused = place.run(&["manual", &folder.display().to_string()]);
    assert!(refused.status == 1 && refused.err.contains("manual pages cannot be written to"), "{}", refused.err);
    std::fs::create_dir(&folder).expect("a folder");
    let done = place.run(&["manual", &folder.display().to_string()]);
    assert_eq!((done.status, &*done.out, &*done.err), (0, "", ""));
    for (page, expected) in [("rollcall.1", ".SH SUBCOMMANDS"), ("rollcall-show.1", "who owns it")] {
        let page = std::fs::read_to_string(folder.join(page)).expect("a page");
        assert!(page.contains(expected), "{page}");
    }
}
