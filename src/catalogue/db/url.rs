//! Says what is wrong with the URL of a database, before anything connects. No message repeats a part of the URL that
//! may be a password.

use super::OpenError;
use super::sqlite::{file_of, is_in_memory};

/// The forms of a URL.
pub(super) const SCHEME: &str = "must be sqlite://FILE or postgres://USER:PASSWORD@HOST/DATABASE";
/// The form of the URL of a file.
pub(super) const SQLITE: &str = "must be sqlite://FILE";
/// The form of the URL of a server, if no [`fault`] is more precise.
pub(super) const POSTGRES: &str = "must be postgres://USER:PASSWORD@HOST/DATABASE; percent-encode the characters of the \
     user and the password that are neither letters nor digits";

/// Returns what is wrong with a URL, as an error.
pub(super) fn check(url: &str) -> Result<(), OpenError> {
    fault(url).map_or(Ok(()), |fault| Err(OpenError::Url(fault)))
}

/// Says what is wrong with a URL, as the rest of a sentence about it. `None` if a database may be there.
pub fn fault(url: &str) -> Option<String> {
    if url.starts_with(['"', '\'', '`']) || url.ends_with(['"', '\'', '`']) {
        return Some("is in quotation marks: remove them".to_owned());
    }
    match url.split_once(':') {
        Some(("sqlite", rest)) => sqlite_fault(url, rest),
        Some(("postgres" | "postgresql", rest)) => match rest.strip_prefix("//") {
            Some(rest) => server_fault(rest),
            None => Some(format!("lacks the // after the colon: it {POSTGRES}")),
        },
        _ => Some(scheme_fault(url)),
    }
}

fn sqlite_fault(url: &str, rest: &str) -> Option<String> {
    let file = rest.strip_prefix("//").unwrap_or(rest);
    if is_in_memory(url) {
        return Some(
            "names a database in memory, which would be lost with its connection: write sqlite://FILE".to_owned(),
        );
    }
    if file.split('?').next().unwrap_or_default().is_empty() {
        return Some(format!("names no file: it {SQLITE}, such as sqlite:///var/lib/rollcall/rollcall.db"));
    }
    file_of(url).is_none().then(|| format!("has a malformed file name or parameter: it {SQLITE}"))
}

/// Says what is wrong with a URL whose scheme is none of ours.
fn scheme_fault(url: &str) -> String {
    let (scheme, rest) = url.split_once(':').unwrap_or(("", url));
    let lower = scheme.to_ascii_lowercase();
    let is_drive = scheme.len() == 1 && rest.starts_with(['\\', '/']);
    let is_path = is_drive || (!url.contains("://") && (url.starts_with(['/', '.', '~']) || is_database_file(url)));
    let (of_server, driver) = lower.split_once('+').unwrap_or((&lower, ""));
    match of_server {
        "file" | "sqlite3" => format!("must begin with sqlite:// instead of {scheme}:"),
        _ if is_path => "is the path of a file: write sqlite:// before it".to_owned(),
        "jdbc" => format!("is one of JDBC: remove jdbc: from its beginning; it {SCHEME}"),
        "postgres" | "postgresql" | "sqlite" if !driver.is_empty() => {
            format!("names a driver of another program after the +: begin it with {of_server}://")
        }
        "postgres" | "postgresql" | "sqlite" => format!("must begin in lower case, with {lower}://"),
        "pgsql" | "psql" | "pg" | "postgis" | "cockroachdb" => "must begin with postgres://".to_owned(),
        "mysql" | "mariadb" | "sqlserver" | "mssql" | "oracle" | "mongodb" | "redis" => {
            format!("names a database that rollcall does not store in: it {SCHEME}")
        }
        _ if url.contains("host=") || url.contains("dbname=") => {
            format!("is in the form KEY=VALUE: it {SCHEME}")
        }
        _ if !url.contains("://") => format!("has no scheme: it {SCHEME}"),
        _ => SCHEME.to_owned(),
    }
}

fn is_database_file(url: &str) -> bool {
    [".db", ".sqlite", ".sqlite3", ".db3"].iter().any(|end| url.to_ascii_lowercase().ends_with(end))
}

/// The characters that end a part of a URL, and how each is written inside of one.
const ENDS: [(char, &str); 3] = [('/', "%2F"), ('?', "%3F"), ('#', "%23")];

/// Says what is wrong with the rest of a server's URL, after `//`.
fn server_fault(rest: &str) -> Option<String> {
    if rest.is_empty() || rest == "/" {
        return Some(format!("names neither a host nor a database: it {POSTGRES}"));
    }
    if let Some(blank) = rest.chars().find(|letter| letter.is_whitespace() || letter.is_control()) {
        let part = if before_host(rest).contains(blank) { "user or the password" } else { "URL" };
        return Some(format!("has a blank in the {part}: percent-encode it, a space is %20"));
    }
    if let Some(part) = part_with_end(rest) {
        return Some(part);
    }
    let place = rest.split('?').next().unwrap_or_default();
    let authority = place.split('/').next().unwrap_or_default();
    let (user, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    for (part, text) in [("user", name), ("password", password)] {
        if has_lone_percent(text) {
            return Some(format!(
                "has a % in the {part} that two hexadecimal digits do not follow: percent-encode it, % is %25"
            ));
        }
    }
    hosts.split(',').find_map(host_fault)
}

/// The user and the password, however they are written: what is before the last `@` that no parameter holds.
fn before_host(rest: &str) -> &str {
    rest.rsplit_once('@').map_or("", |(before, _)| before)
}

/// Finds a `/`, `?` or `#` in the user or the password, where it ends them. The `@` is then behind that character.
fn part_with_end(rest: &str) -> Option<String> {
    let at = rest.find(['/', '?', '#'])?;
    let (authority, behind) = rest.split_at(at);
    let (letter, encoded) = *ENDS.iter().find(|(letter, _)| behind.starts_with(*letter))?;
    // Where a parameter has an `@` in its value, the `@` comes after an `=`, and the host is before the parameters.
    let path = behind.split(['?', '&']).find(|part| !part.is_empty()).unwrap_or_default();
    let until_value = match letter {
        '?' => path.split('=').next().unwrap_or_default(),
        _ => behind.split(['?']).next().unwrap_or_default(),
    };
    let is_behind = match letter {
        _ if authority.contains('@') => until_value.contains('@') || behind.contains('#') && behind.contains('@'),
        '?' => until_value.contains('@') || (behind.contains('@') && !is_port_or_none(authority)),
        _ => behind.contains('@') && (until_value.contains('@') || !is_port_or_none(authority)),
    };
    if is_behind {
        let part = if authority.contains(':') { "password" } else { "user or the password" };
        return Some(format!("has a {letter} in the {part}: percent-encode it, {letter} is {encoded}"));
    }
    rest.contains('#').then(|| "has a # in it: percent-encode it, # is %23".to_owned())
}

/// Whether an authority without an `@` can be a host: it has no port, or a number.
fn is_port_or_none(authority: &str) -> bool {
    authority.split(',').all(|host| host_fault(host).is_none())
}

/// Says what is wrong with a host and its port.
fn host_fault(host: &str) -> Option<String> {
    let (name, port) = match host.rsplit_once(']') {
        Some((address, port)) => (address, port.strip_prefix(':')),
        None => host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port))),
    };
    match port {
        Some(port) if !port.parse().is_ok_and(|port: u16| port != 0) => Some(
            "has no number from 1 to 65535 after the colon of the host: if a user and a password stand there, write @HOST \
             after them, and percent-encode the characters of the password that are neither letters nor digits"
                .to_owned(),
        ),
        _ if name.contains(['\\', '<', '>', '"', '%']) => Some(format!("has a malformed host: it {POSTGRES}")),
        _ => None,
    }
}

fn has_lone_percent(text: &str) -> bool {
    let is_hex = |rest: &str| rest.get(..2).is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    text.split('%').skip(1).any(|rest| !is_hex(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_of_a_password_that_ends_it_is_named_and_the_password_is_not() {
        for (url, said) in [
            ("postgres://ada:se#cret@db.example.com/catalogue", "has a # in the password: percent-encode it, # is %23"),
            ("postgres://ada:#secret@db/catalogue", "has a # in the password"),
            ("postgres://ada:se/cret@db/catalogue", "has a / in the password: percent-encode it, / is %2F"),
            ("postgres://ada:12/secret@db:5432/catalogue", "has a / in the password"),
            ("postgres://ada:se?cret@db/catalogue", "has a ? in the password: percent-encode it, ? is %3F"),
            ("postgres://ada:12?secret@db/catalogue?sslmode=disable", "has a ? in the password"),
            ("postgres://ada:12#secret@db/catalogue", "has a # in the password"),
            ("postgres://ada:p@se/cret@db/catalogue", "has a / in the password"),
            ("postgres://ada:p@se#cret@db/catalogue", "has a # in the password"),
            ("postgres://a/secret@db/catalogue", "has a / in the user or the password"),
            (
                "postgres://ada:secret%@db/catalogue",
                "has a % in the password that two hexadecimal digits do not follow",
            ),
            ("postgres://ada:secret%zz@db/catalogue", "percent-encode it, % is %25"),
            ("postgres://a%xa:secret@db/catalogue", "has a % in the user"),
            ("postgres://ada:se cret@db/catalogue", "has a blank in the user or the password: percent-encode it"),
            ("postgres://ada:secret/catalogue", "write @HOST after them"),
            ("postgres://db/catalogue#secret", "percent-encode it, # is %23"),
        ] {
            let fault = fault(url).unwrap_or_else(|| panic!("{url} is accepted"));
            assert!(fault.contains(said) && !fault.contains("cret"), "{url}: {fault}");
        }
    }

    #[test]
    fn a_url_of_another_form_says_what_to_change() {
        for (url, said) in [
            ("\"postgres://ada@db/catalogue\"", "is in quotation marks: remove them"),
            ("'sqlite://rollcall.db'", "is in quotation marks"),
            ("localhost:5432/catalogue", "has no scheme"),
            ("ada:secret@db/catalogue", "has no scheme"),
            ("postgresql+asyncpg://ada@db/catalogue", "begin it with postgresql://"),
            ("postgresql+psycopg2://ada@db/catalogue", "begin it with postgresql://"),
            ("jdbc:postgresql://db/catalogue", "remove jdbc:"),
            ("Postgres://db/catalogue", "must begin in lower case, with postgres://"),
            ("postgres:ada@db/catalogue", "lacks the //"),
            ("postgres://", "names neither a host nor a database"),
            ("postgresql:///", "names neither a host nor a database"),
            ("pgsql://db/catalogue", "must begin with postgres://"),
            ("mysql://ada:secret@db/catalogue", "does not store in"),
            ("host=db dbname=catalogue password=secret", "is in the form KEY=VALUE"),
            ("rollcall.db", "is the path of a file: write sqlite:// before it"),
            ("/var/lib/rollcall.db", "is the path of a file"),
            ("./data/catalogue", "is the path of a file"),
            (r"C:\data\rollcall.db", "is the path of a file"),
            ("sqlite3://rollcall.db", "must begin with sqlite://"),
            ("file:rollcall.db", "must begin with sqlite:// instead of file:"),
            ("sqlite://", "names no file"),
            ("sqlite::memory:", "names a database in memory"),
            ("sqlite://rollcall.db?mode=nonsense", "malformed file name or parameter"),
            ("nonsense", "has no scheme"),
            ("https://example.com", "must be sqlite://FILE or postgres://"),
        ] {
            let fault = fault(url).unwrap_or_else(|| panic!("{url} is accepted"));
            assert!(fault.contains(said) && !fault.contains("secret"), "{url}: {fault}");
        }
    }

    #[test]
    fn a_url_that_a_server_understands_is_accepted() {
        for url in [
            "postgres://ada:p%23s%2Fw%3F%40%25@db/catalogue",
            "postgres://ada:p@ss:word@db:5433/catalogue",
            "postgres://ada@one:5432,two,[2001:db8::1]:5433/catalogue?target_session_attrs=read-write",
            "postgres://db/catalogue?user=ada@example.com&password=a@b",
            "postgres://db?user=ada@example.com",
            "postgres:///catalogue?host=/var/run/postgresql",
            "postgresql://ada:secret@:5433/catalogue",
            "postgres://ada:secret@/catalogue",
            "postgres://localhost",
            "sqlite:rollcall.db",
            "sqlite://my catalogue.db",
            "sqlite:///srv/a#b.db?mode=rwc",
        ] {
            assert_eq!(fault(url), None, "{url}");
        }
    }
}
