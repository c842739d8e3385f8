//! The log: its destination and format, and the request id of each line.
//!
//! Every line logged during a request ends with the request's id, whichever code logs it.

use std::fmt;
use std::future::Future;
use std::io::{self, IsTerminal};
use std::panic;

use tracing::field::Field;
use tracing::{Event, Subscriber, error};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, JsonFields, Writer, debug_fn, format};
use tracing_subscriber::registry::LookupSpan;

use crate::config::{Log, LogFormat};
use crate::entity::text::one_line;
use crate::error::quoted;

tokio::task_local! {
    static REQUEST: Request;
}

/// What is logged of some modules, unless the setting names them. Anyone can have HTTP/2 warn of each of their frames, and
/// fill the disk so. `/mcp` tells of each request, which we log ourselves.
const QUIET: [(&str, &str); 2] = [("h2=", "error"), ("rmcp=", "warn")];

/// Identifies a request in the log.
#[derive(Debug)]
struct Request {
    /// Letters, digits and `-_.:` only, so it never needs escaping.
    id: String,
    trace: Option<String>,
}

/// Runs a future as part of the request `id`, with its trace id if it has one.
pub fn within<F: Future>(id: String, trace: Option<String>, future: F) -> impl Future<Output = F::Output> {
    REQUEST.scope(Request { id, trace }, future)
}

/// Does something, which logs, on behalf of the request `id` after its answer has begun.
pub fn of_request<T>(id: String, does: impl FnOnce() -> T) -> T {
    REQUEST.sync_scope(Request { id, trace: None }, does)
}

/// Starts logging to standard error, including panics.
///
/// # Errors
/// Why it cannot, in one sentence.
pub fn start(log: &Log) -> Result<(), String> {
    let filter =
        filter(&log.log).map_err(|why| format!("the log filter is not valid (--log or ROLLCALL_LOG): {why}"))?;
    let quiet = QUIET.iter().filter(|(module, _)| !log.log.contains(module));
    let quiet = quiet.filter_map(|(module, level)| format!("{module}{level}").parse().ok());
    let filter = quiet.fold(filter, EnvFilter::add_directive);
    let log_to = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    let line = format().with_target(false).with_ansi(io::stderr().is_terminal());
    let started = match log.log_format {
        LogFormat::Text => {
            let log_to = log_to.fmt_fields(debug_fn(text_field).delimited(" "));
            log_to.event_format(Named { line, end: text_end }).try_init()
        }
        LogFormat::Json => {
            let line = line.json().flatten_event(true).with_current_span(false).with_span_list(false);
            log_to.fmt_fields(JsonFields::new()).event_format(Named { line, end: json_end }).try_init()
        }
    };
    started.map_err(|error| error.to_string())?;
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        error!(place, "panic: {}", panic.payload_as_str().unwrap_or("without a message"));
    }));
    Ok(())
}

/// Reads a filter. A word alone must be a level: the reader would take any other for a module of which all is logged.
fn filter(text: &str) -> Result<EnvFilter, String> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let is_module = |part: &str| part.contains(['=', '[', ':']);
    let is_level = |part: &str| LEVELS.iter().any(|level| level.eq_ignore_ascii_case(part));
    let mut parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    if let Some(word) = parts.find(|part| !is_module(part) && !is_level(part)) {
        let levels = LEVELS.join(", ");
        return Err(format!("{} is no level; the levels are {levels}, and module=level is for a module", quoted(word)));
    }
    EnvFilter::try_new(of_all_crates(text)).map_err(|error| error.to_string())
}

/// Adds to what a filter says of `rollcall`, and of its modules, the same of the crates that have them: the program has
/// several, and whoever reads its log knows one.
fn of_all_crates(text: &str) -> String {
    let elsewhere = |part: &str| {
        let rest = part.trim().strip_prefix("rollcall")?;
        match rest.strip_prefix("::") {
            Some(inside) if inside.starts_with("app") => Some(format!(",{inside}")),
            Some(inside) => Some(format!(",catalogue::{inside}")),
            None => rest.starts_with('=').then(|| format!(",app{rest},catalogue{rest}")),
        }
    };
    text.split(',').filter_map(elsewhere).fold(text.to_owned(), |all, part| all + &part)
}

/// Formats log lines with their request id.
struct Named<L> {
    /// Formats the line without it.
    line: L,
    /// Appends the request's fields and the end of the line.
    end: fn(&mut Writer<'_>, line: &str, request: &Request) -> fmt::Result,
}

impl<S, N, L> FormatEvent<S, N> for Named<L>
where
    S: Subscriber + for<'s> LookupSpan<'s>,
    N: for<'w> FormatFields<'w> + 'static,
    L: FormatEvent<S, N>,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut to: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let named = REQUEST.try_with(|request| {
            let mut line = String::with_capacity(256);
            self.line.format_event(context, Writer::new(&mut line), event)?;
            (self.end)(&mut to, line.trim_end_matches('\n'), request)
        });
        named.unwrap_or_else(|_| self.line.format_event(context, to.by_ref(), event))
    }
}

/// Writes a field of an event on one line: what comes from outside must not look like another line, and no terminal may
/// obey it. JSON escapes it anyway.
fn text_field(to: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    let said = format!("{value:?}");
    match field.name() {
        "message" => write!(to, "{}", one_line(&said)),
        name => write!(to, "{name}={}", one_line(&said)),
    }
}

fn text_end(to: &mut Writer<'_>, line: &str, Request { id, trace }: &Request) -> fmt::Result {
    write!(to, "{line} request_id={id}")?;
    if let Some(trace) = trace {
        write!(to, " trace_id={trace}")?;
    }
    writeln!(to)
}

fn json_end(to: &mut Writer<'_>, line: &str, Request { id, trace }: &Request) -> fmt::Result {
    write!(to, "{},\"request_id\":\"{id}\"", line.strip_suffix('}').unwrap_or(line))?;
    if let Some(trace) = trace {
        write!(to, ",\"trace_id\":\"{trace}\"")?;
    }
    writeln!(to, "}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_for_the_program_is_for_all_its_crates() {
        for (given, expected) in [
            ("warn", "warn"),
            ("rollcall=debug", "rollcall=debug,app=debug,catalogue=debug"),
            ("warn, rollcall::db=trace,h2=off", "warn, rollcall::db=trace,h2=off,catalogue::db=trace"),
            ("rollcall::app::openid=info", "rollcall::app::openid=info,app::openid=info"),
            ("rollcallers=debug", "rollcallers=debug"),
        ] {
            assert_eq!(of_all_crates(given), expected);
        }
    }
}
