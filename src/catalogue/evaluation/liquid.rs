//! Messages in Liquid. Runs only in the process that evaluates.

use std::io::{self, Write};

use liquid::model::{Value, to_value};
use liquid::{Object, ParserBuilder, Template, object};

use super::MESSAGE;
use crate::entity::text::{cleaned, is_control_of_long};

/// The longest error of a template that is shown, in characters.
const ERROR: usize = 300;

/// Reads a template. There is nothing that it could include.
pub(super) fn read(text: &str) -> Result<Template, String> {
    let parser = ParserBuilder::with_stdlib().build().map_err(|error| said(&error))?;
    parser.parse(text).map_err(|error| said(&error))
}

/// The event, as messages see it.
pub(super) fn data(json: &str) -> Result<Value, String> {
    let data: serde_json::Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    to_value(&data).map_err(|error| said(&error))
}

/// What a template is filled in with, but for the service. `data` is moved: it can be large.
pub(super) fn globals(data: Value) -> Object {
    let mut globals = object!({});
    globals.insert("data".into(), data);
    globals
}

/// Writes the message for a service. A message that is too long is cut.
pub(super) fn write(
    template: &Template,
    globals: &mut Object,
    alias: &str,
    index: usize,
    passed: bool,
) -> Result<String, String> {
    let status = if passed { "passed" } else { "failed" };
    let index = i64::try_from(index).unwrap_or(i64::MAX);
    globals.insert("ctx".into(), Value::Object(object!({ "alias": alias, "index": index })));
    globals.insert("check".into(), Value::Object(object!({ "passed": passed, "status": status })));
    let mut out = Bounded { text: Vec::new(), is_full: false };
    let done = template.render_to(&mut out, globals);
    if let (Err(error), false) = (done, out.is_full) {
        return Err(said(&error));
    }
    let text = String::from_utf8_lossy(&out.text);
    let plain = text.chars().map(|letter| if is_control_of_long(letter) { ' ' } else { letter });
    Ok(plain.take(MESSAGE).collect::<String>().trim().to_owned())
}

/// What is wrong, in one line.
fn said(error: &liquid::Error) -> String {
    cleaned(&error.to_string(), ERROR)
}

/// Takes only the beginning of a text.
struct Bounded {
    text: Vec<u8>,
    is_full: bool,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A character has at most four bytes.
        let room = (MESSAGE * 4).saturating_sub(self.text.len());
        if bytes.len() > room {
            self.text.extend_from_slice(&bytes[..room]);
            self.is_full = true;
            return Err(io::Error::other("the message is long enough"));
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
