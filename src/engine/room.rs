//! Weighs the values of arguments before they are copied.
//!
//! A variable, or the literal of a fragment, is copied for each use. So a short text can ask for copies that need far
//! more memory than it has itself.

use apollo_compiler::{Node, ast};
use async_graphql::{Pos, ServerError, Value};

use super::cost::DocumentLimits;
use super::input::Substitution;
use super::request_error::request_error;
use crate::error::Code;

/// What the arguments of a request may still hold.
#[derive(Debug)]
pub(super) struct Room<'l> {
    limits: &'l DocumentLimits,
    values: usize,
    text: usize,
}

/// A limit that the arguments exceed.
enum Excess {
    Values,
    Text,
}

impl<'l> Room<'l> {
    pub(super) fn new(limits: &'l DocumentLimits) -> Self {
        Self { limits, values: limits.values, text: limits.text }
    }

    /// Makes room for the arguments of a field, which is at `locations`. Returns the bytes of their texts.
    pub(super) fn take(
        &mut self,
        substitution: &Substitution<'_>,
        given: &[Node<ast::Argument>],
        locations: &[Pos],
    ) -> Result<usize, Vec<ServerError>> {
        let before = self.text;
        let taken = given.iter().try_for_each(|argument| self.literal(substitution, &argument.value));
        taken.map(|()| before - self.text).map_err(|excess| {
            let DocumentLimits { values, text, .. } = self.limits;
            let message = match excess {
                Excess::Values => format!("The number of values given to arguments is over the limit of {values}."),
                Excess::Text => format!("The texts given to arguments are longer than {text} bytes together."),
            };
            vec![request_error(message, locations.to_vec(), Code::ValidationFailed)]
        })
    }

    fn literal(&mut self, substitution: &Substitution<'_>, literal: &Node<ast::Value>) -> Result<(), Excess> {
        if let Some(value) = substitution.literals.in_place_of(literal) {
            return self.value(value);
        }
        match &**literal {
            ast::Value::Variable(name) => {
                substitution.variables.get(name.as_str()).map_or(Ok(()), |value| self.value(value))
            }
            ast::Value::String(text) => self.one(text.len()),
            ast::Value::Enum(name) => self.one(name.len()),
            ast::Value::List(items) => {
                self.one(0)?;
                items.iter().try_for_each(|item| self.literal(substitution, item))
            }
            ast::Value::Object(fields) => {
                self.one(0)?;
                fields
                    .iter()
                    .try_for_each(|(name, value)| self.field(name.len(), |room| room.literal(substitution, value)))
            }
            ast::Value::Null | ast::Value::Boolean(_) | ast::Value::Int(_) | ast::Value::Float(_) => self.one(0),
        }
    }

    fn value(&mut self, value: &Value) -> Result<(), Excess> {
        match value {
            Value::String(text) => self.one(text.len()),
            Value::Enum(name) => self.one(name.len()),
            Value::Binary(bytes) => self.one(bytes.len()),
            Value::List(items) => {
                self.one(0)?;
                items.iter().try_for_each(|item| self.value(item))
            }
            Value::Object(fields) => {
                self.one(0)?;
                fields.iter().try_for_each(|(name, value)| self.field(name.len(), |room| room.value(value)))
            }
            Value::Null | Value::Number(_) | Value::Boolean(_) => self.one(0),
        }
    }

    fn field(&mut self, name: usize, value: impl FnOnce(&mut Self) -> Result<(), Excess>) -> Result<(), Excess> {
        self.text = self.text.checked_sub(name).ok_or(Excess::Text)?;
        value(self)
    }

    /// Makes room for one value, with this many bytes of text.
    fn one(&mut self, text: usize) -> Result<(), Excess> {
        self.values = self.values.checked_sub(1).ok_or(Excess::Values)?;
        self.text = self.text.checked_sub(text).ok_or(Excess::Text)?;
        Ok(())
    }
}
