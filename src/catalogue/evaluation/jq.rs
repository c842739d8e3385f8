//! jq, by jaq. Runs only in the process that evaluates.

use std::collections::HashSet;

use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Exn, Filter, Vars, data};
use jaq_json::{Val, read};

use super::NAMES;
use crate::entity::text::{SHORT, cleaned};

/// The variable that says which service an expression is about.
const CONTEXT: &str = "$ctx";

/// The longest error of an expression that is shown, in characters.
const ERROR: usize = 300;

/// An expression that can be evaluated.
pub(super) struct Expression(Filter<data::JustLut<Val>>);

/// Reads an input.
pub(super) fn input(json: &str) -> Result<Val, String> {
    read::parse_single(json.as_bytes()).map_err(|error| format!("the event cannot be read as JSON: {error}"))
}

/// The elements of an array.
pub(super) fn elements(input: &Val) -> &[Val] {
    match input {
        Val::Arr(elements) => elements,
        _ => &[],
    }
}

/// The value of `$ctx`.
pub(super) fn context(alias: &str, index: usize) -> Val {
    let text = |text: &str| Val::utf8_str(text.to_owned());
    let index = isize::try_from(index).unwrap_or(isize::MAX);
    Val::obj([(text("alias"), text(alias)), (text("index"), Val::from(index))].into_iter().collect())
}

impl Expression {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
        let funs = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
        let arena = Arena::default();
        let modules = Loader::new(defs).load(&arena, File { code: text, path: () });
        let modules = modules.map_err(|errors| not_jq(text, &errors))?;
        let compiler = Compiler::default().with_funs(funs).with_global_vars([CONTEXT]);
        let filter = compiler.compile(modules).map_err(|errors| {
            let names = errors.into_iter().flat_map(|(_, errors)| errors);
            let undefined = names.map(|(name, what)| format!("the {} {name} is not defined", what.as_str())).next();
            undefined.unwrap_or_else(|| "it is not jq".to_owned())
        })?;
        Ok(Self(filter))
    }

    /// The values that the expression gives, or an error.
    fn values(&self, input: &Val, context: Val) -> impl Iterator<Item = Result<Val, String>> {
        let context = Ctx::<data::JustLut<Val>>::new(&self.0.lut, Vars::new([context]));
        let values = self.0.id.run((context, input.clone()));
        values.map(|value| match value.map_err(Exn::get_err) {
            Ok(value) => Ok(value),
            Err(Ok(error)) => Err(match error.into_val() {
                Val::TStr(text) => cleaned(&String::from_utf8_lossy(&text), ERROR),
                other => cleaned(&other.to_string(), ERROR),
            }),
            Err(Err(_)) => Err("it stops the evaluation".to_owned()),
        })
    }

    /// The names that the expression gives: texts, and lists of texts. Each is given once, with the place of the first.
    pub(super) fn names(&self, input: &Val) -> Result<Vec<(usize, String)>, String> {
        let mut names: Vec<(usize, String)> = Vec::new();
        let mut place = 0;
        let mut seen = HashSet::new();
        for value in self.values(input, Val::Null) {
            let value = value?;
            let several = match &value {
                Val::Arr(several) => &several[..],
                one => std::slice::from_ref(one),
            };
            for one in several {
                let name = match one {
                    Val::TStr(name) => cleaned(&String::from_utf8_lossy(name), SHORT),
                    Val::Null => String::new(),
                    other => {
                        let other = cleaned(&other.to_string(), 40);
                        return Err(format!("it must give texts and lists of texts, and gave {other}"));
                    }
                };
                if !name.is_empty() && seen.insert(name.clone()) {
                    names.push((place, name));
                }
                place += 1;
                if names.len() > NAMES {
                    return Err(format!("it names more than {NAMES} services"));
                }
            }
        }
        Ok(names)
    }

    /// Whether the expression gives something, and nothing that is false or null.
    pub(super) fn holds(&self, input: &Val, context: Val) -> Result<bool, String> {
        let mut holds = false;
        for value in self.values(input, context) {
            if matches!(value?, Val::Null | Val::Bool(false)) {
                return Ok(false);
            }
            holds = true;
        }
        Ok(holds)
    }
}

/// Says why a text is not jq, and where.
fn not_jq(text: &str, errors: &load::Errors<&str, ()>) -> String {
    let error = errors.iter().map(|(_, error)| error).next();
    let (expected, rest) = match error {
        Some(load::Error::Lex(errors)) => match errors.first() {
            Some((expected, rest)) => (expected.as_str(), *rest),
            None => ("", ""),
        },
        Some(load::Error::Parse(errors)) => match errors.first() {
            Some((expected, rest)) => (expected.as_str(), *rest),
            None => ("", ""),
        },
        Some(load::Error::Io(_)) => return "modules cannot be included".to_owned(),
        None => return "it is not jq".to_owned(),
    };
    let at = match rest.is_empty() {
        true => "its end".to_owned(),
        false => {
            let before = (rest.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
            let before = before.and_then(|before| text.get(..before)).unwrap_or_default();
            format!("character {}", before.chars().count() + 1)
        }
    };
    format!("it is not jq: {} is expected at {at}", cleaned(expected, 60))
}
