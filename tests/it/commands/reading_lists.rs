//! Lists at a terminal and in a pipe, and those of infrastructure.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;

use rollcall::entity::token::Scope;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::harness::app::{TestApp, data};
use crate::harness::deadline::end_of;
use crate::harness::desk::{Desk, ended};

/// The lines that a terminal with so many columns shows of a command.
async fn on_terminal(desk: &Desk, columns: u16, arguments: &[&str], environment: &[(&str, &str)]) -> Vec<String> {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).and_then(|()| unlockpt(&terminal)).expect("its other side");
    let name = ptsname(&terminal, Vec::new()).expect("a name");
    let path = OsStr::from_bytes(name.as_bytes());
    let shown = OpenOptions::new().read(true).write(true).open(path).expect("its other side");
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&shown, size).expect("a size");
    let mut command = desk.bare(arguments);
    command.env("ROLLCALL_SERVER", &desk.url).env("ROLLCALL_TOKEN", &desk.token).env("NO_COLOR", "1");
    command.envs(environment.iter().copied()).stdout(shown).stderr(Stdio::null());
    let status = tokio::task::spawn_blocking(move || end_of(&mut command.spawn().expect("the program runs")));
    assert!(status.await.expect("it ends").success(), "{arguments:?}");
    // Once nobody writes to it any more, what was written is followed by an error.
    let (mut bytes, mut terminal) = (Vec::new(), File::from(terminal));
    let _ = terminal.read_to_end(&mut bytes);
    String::from_utf8(bytes).expect("text").lines().map(str::to_owned).collect()
}

/// Makes a service whose team and system have long names, one of them in letters that take two columns. Returns both.
async fn long_names(app: &TestApp) -> [String; 2] {
    let names = ["The team of payments and refunds".repeat(3), "決済".repeat(20)];
    let made = r#"mutation($team: String!, $system: String!) {
        teamCreate(input: { name: $team }) { team { id } errors { message } }
        systemCreate(input: { name: $system }) { system { id } errors { message } }
    }"#;
    let made = app.query(made, json!({ "team": names[0], "system": names[1] })).await;
    let (team, system) = (&made["data"]["teamCreate"]["team"]["id"], &made["data"]["systemCreate"]["system"]["id"]);
    let service = r#"mutation($team: ID!, $system: ID!) { serviceCreate(input: {
        name: "Shopping Cart", ownerInput: { id: $team }, parent: { id: $system }
    }) { errors { message } } }"#;
    let made = app.query(service, json!({ "team": team, "system": system })).await;
    assert_eq!(made["data"]["serviceCreate"]["errors"], json!([]), "{made}");
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_fits_the_terminal_that_shows_it_and_nothing_is_cut_elsewhere() {
    let app = TestApp::start().await;
    let desk = Desk::at(&app, Scope::Read).await;
    let names = long_names(&app).await;
    let list = ["list", "services"];
    let is_whole = |text: &str| names.iter().all(|name| text.contains(name.as_str())) && !text.contains('…');
    for (columns, environment) in [(400, &[("COLUMNS", "80")][..]), (80, &[]), (80, &[("COLUMNS", "wide")])] {
        let lines = on_terminal(&desk, columns, &list, environment).await;
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines.iter().all(|line| line.width() <= 80), "{lines:?}");
        assert!(lines[1].starts_with("Shopping Cart  shopping_cart  The"), "{lines:?}");
        assert!(lines[1].contains('決') && !is_whole(&lines[1]), "{lines:?}");
    }
    for (columns, environment) in [(80, &[("COLUMNS", "400")][..]), (400, &[])] {
        let lines = on_terminal(&desk, columns, &list, environment).await;
        assert!(is_whole(&lines[1]), "{lines:?}");
    }
    for form in ["csv", "json"] {
        let lines = on_terminal(&desk, 40, &["list", "services", "-o", form], &[]).await;
        assert!(is_whole(&lines.join("\n")), "{lines:?}");
    }
    let mut piped = desk.bare(&list);
    piped.env("ROLLCALL_SERVER", &desk.url).env("ROLLCALL_TOKEN", &desk.token).env("COLUMNS", "40");
    let piped = ended(piped).await;
    assert!(piped.status == 0 && is_whole(&piped.out), "{}", piped.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn infrastructure_is_listed_by_owner_type_and_name() {
    let app = TestApp::start().await;
    let desk = Desk::at(&app, Scope::Read).await;
    let done = desk.run(&["list", "infrastructure"]).await;
    assert_eq!((done.status, &*done.err), (0, "there are no infrastructure resources yet\n"));
    let made = r#"mutation { teamCreate(input: { name: "Payments" }) { team { id } errors { message } } }"#;
    let team = data(&app, made).await["teamCreate"]["team"]["id"].clone();
    let made = r#"mutation($team: ID!) {
        a: infrastructureResourceCreate(input: { schema: { type: "Database" }, data: { name: "Ledger" }, ownerId: $team,
            providerData: { accountName: "live", providerName: "Cloud" } }) { infrastructureResource { id } errors { message } }
        b: infrastructureResourceCreate(input: { schema: { type: "Queue" }, data: { name: "Mail" } }) {
            infrastructureResource { id } errors { message } }
        c: infrastructureResourceCreate(input: { schema: { type: "Load Balancer" }, data: { name: "Gate" } }) {
            infrastructureResource { id } errors { message } }
    }"#;
    let made = app.query(made, json!({ "team": team })).await["data"].take();
    for resource in ["a", "b", "c"] {
        assert_eq!(made[resource]["errors"], json!([]), "{made}");
    }
    let ledger = &made["a"]["infrastructureResource"]["id"];
    let alias =
        r#"mutation($id: ID!) { aliasCreate(input: { ownerId: $id, alias: "orders-db" }) { errors { message } } }"#;
    let alias = app.query(alias, json!({ "id": ledger })).await;
    assert_eq!(alias["data"]["aliasCreate"]["errors"], json!([]), "{alias}");

    let names = |rows: &Value| -> Vec<String> {
        let rows = rows.as_array().expect("rows").iter();
        rows.map(|row| row["name"].as_str().expect("a name").to_owned()).collect()
    };
    for (arguments, expected) in [
        (&["--owner", "payments"][..], &["Ledger"][..]),
        (&[], &["Ledger", "Mail", "Gate"]),
        (&["--owner", "Payments", "--filter", "type=database"], &["Ledger"]),
        (&["--filter", "owner"], &["Ledger"]),
        (&["--filter", "!owner"], &["Mail", "Gate"]),
        (&["--filter", "owner!=payments"], &["Mail", "Gate"]),
        (&["--filter", "type!=Queue", "--filter", "!owner"], &["Gate"]),
        (&["--filter", "type=load balancer"], &["Gate"]),
        (&["--search", "ORDERS"], &["Ledger"]),
        (&["--search", "GAT"], &["Gate"]),
    ] {
        let rows = desk.json(&[&["list", "infrastructure"], arguments].concat()).await;
        assert_eq!(names(&rows), expected, "{arguments:?}");
    }
    // What the column of aliases holds finds the resource, whether it has an alias or not.
    let rows = desk.json(&["list", "infrastructure"]).await;
    for row in rows.as_array().expect("rows") {
        let (by, name) = (row["namedBy"].as_str().expect("an alias or an id"), row["name"].as_str().expect("a name"));
        let shown = desk.said(&["show", "infrastructure", by]).await;
        assert!(shown.starts_with(&format!("infrastructure {name}")), "{by}: {shown}");
    }
    let separated = desk.said(&["list", "infrastructure", "--owner", "payments", "-o", "csv"]).await;
    assert_eq!(separated, "name,alias,type,owner,provider\nLedger,orders-db,Database,Payments,Cloud\n");
    for (arguments, rows, said) in [
        (&["--limit", "2"][..], 2, "the first 2; --limit shows more\n"),
        (&["--filter", "!owner", "--limit", "1"], 1, "the first 1; --limit shows more\n"),
        (&["--filter", "!owner", "--limit", "2"], 2, ""),
        (&["--filter", "type=cache"], 0, "no infrastructure resource fulfils all conditions\n"),
        (&["--search", "zzzz"], 0, "nothing is called like that\n"),
    ] {
        let done = desk.run(&[&["list", "infrastructure", "-o", "json"], arguments].concat()).await;
        let found: Value = serde_json::from_str(&done.out).expect("JSON");
        assert_eq!((done.status, names(&found).len(), &*done.err), (0, rows, said), "{arguments:?}");
    }
    for (arguments, said) in [
        (&["--filter", "type=databse"][..], "no type of infrastructure is called databse; there are "),
        (&["--filter", "type=databse"], "; the nearest is Database\n"),
        (&["--owner", "nobody"], "no team is called nobody"),
        (
            &["--filter", "tier=1"],
            "--filter of infrastructure takes owner=TEAM, owner!=TEAM, owner, !owner, type=TYPE or",
        ),
        (&["--filter", "type"], ", not type\n"),
        (&["--tier", "1"], "--tier is for services"),
    ] {
        let done = desk.run(&[&["list", "infrastructure"], arguments].concat()).await;
        assert_eq!((done.status, &*done.out), (1, ""), "{arguments:?}: {}", done.err);
        assert!(done.err.contains(said), "{arguments:?}: {}", done.err);
    }
}
