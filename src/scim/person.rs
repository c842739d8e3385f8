//! What a request says of a user: in a whole resource, or in operations on one.

use sea_orm::{ActiveModelTrait, Set};
use serde_json::{Map, Value, json};

use super::error::{Refusal, ScimType};
use super::patch::{Op, Operation, check_other};
use super::{Error, resource};
use crate::entity::field_rule::FieldRules;
use crate::entity::user::{ActiveModel, Column, Entity, Model, address, email_key};
use crate::entity::{Timestamp, text};

/// What is said of a user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Person {
    user_name: Option<String>,
    external_id: Option<String>,
    /// The whole name, if this request gives it.
    display_name: Option<String>,
    /// The same, as a part of the name.
    formatted: Option<String>,
    given_name: Option<String>,
    family_name: Option<String>,
    email: Option<String>,
    /// Whether the person may sign in, if the request says it.
    pub active: Option<bool>,
}

impl Person {
    /// Reads a whole resource.
    pub fn read(members: &Map<String, Value>) -> Result<Self, Refusal> {
        let value_of = |name: &str| members.get(name).unwrap_or(&Value::Null);
        let mut person = Self {
            user_name: resource::text("userName", value_of("userName"))?,
            external_id: resource::text("externalId", value_of("externalId"))?,
            display_name: resource::text("displayName", value_of("displayName"))?,
            ..Self::default()
        };
        if !value_of("active").is_null() {
            person.active = Some(resource::flag("active", value_of("active"))?);
        }
        person.set_name(value_of("name"))?;
        person.email = chosen(addresses(value_of("emails"))?);
        Ok(person)
    }

    /// A user as it is, before operations change it.
    pub fn from_row(user: &Model) -> Self {
        Self {
            user_name: Some(user.user_name.clone().unwrap_or_else(|| user.email.clone())),
            external_id: user.external_id.clone(),
            display_name: None,
            formatted: None,
            given_name: user.given_name.clone(),
            family_name: user.family_name.clone(),
            email: Some(user.email.clone()),
            active: Some(user.is_active()),
        }
    }

    fn set_name(&mut self, name: &Value) -> Result<(), Refusal> {
        let Value::Object(parts) = name else {
            self.formatted = resource::text("name", name)?.or(self.formatted.take());
            return Ok(());
        };
        for (field, part) in [
            (&mut self.formatted, "formatted"),
            (&mut self.given_name, "givenName"),
            (&mut self.family_name, "familyName"),
        ] {
            if let Some(value) = parts.get(part) {
                *field = resource::text(part, value)?;
            }
        }
        Ok(())
    }

    /// Carries an operation out.
    pub fn apply(&mut self, Operation { op, path, value }: &Operation) -> Result<(), Refusal> {
        let value = if *op == Op::Remove { &Value::Null } else { value };
        let needed = |name: &str| {
            let error = || Refusal::value(format!("A user must have the attribute {name}."));
            if value.is_null() { Err(error()) } else { Ok(value) }
        };
        let attribute = &path.attribute;
        if path.filter.is_some() && attribute.name != "emails" {
            check_other(attribute)?;
            return Ok(());
        }
        match (&*attribute.name, attribute.sub.as_deref()) {
            ("username", None) => self.user_name = resource::text("userName", needed("userName")?)?,
            ("externalid", None) => self.external_id = resource::text("externalId", value)?,
            ("displayname", None) => self.display_name = resource::text("displayName", value)?,
            ("name", None) => match value {
                Value::Null => (self.given_name, self.family_name) = (None, None),
                name => self.set_name(name)?,
            },
            ("name", Some("formatted")) => self.formatted = resource::text("name.formatted", value)?,
            ("name", Some("givenname")) => self.given_name = resource::text("name.givenName", value)?,
            ("name", Some("familyname")) => self.family_name = resource::text("name.familyName", value)?,
            // The other parts of a name, such as a title, are not kept.
            ("name", Some("middlename" | "honorificprefix" | "honorificsuffix")) => {}
            ("active", None) => self.active = Some(resource::flag("active", needed("active")?)?),
            ("emails", _) => self.apply_to_email(*op, path, value)?,
            ("username" | "externalid" | "displayname" | "name" | "active", Some(sub)) => {
                let detail = format!("The attribute {} has no part {sub}.", attribute.name);
                return Err(Refusal::new(ScimType::InvalidPath, detail));
            }
            _ => check_other(attribute)?,
        }
        Ok(())
    }

    /// An operation on the address. A user has one, so others are not kept, and it stays when it is removed: a leaver could
    /// otherwise not be deactivated by the same request.
    fn apply_to_email(&mut self, op: Op, path: &super::filter::Path, value: &Value) -> Result<(), Refusal> {
        if let Some(filter) = &path.filter {
            let own = json!({ "type": "work", "primary": true, "value": self.email });
            if !filter.matches(&own) {
                return Ok(());
            }
        }
        let is_beside = op == Op::Add && path.filter.is_none() && self.email.is_some();
        let email = match path.attribute.sub.as_deref() {
            None => {
                let mut given = addresses(value)?;
                // One that is added, and is neither primary nor for work, is another one.
                given.retain(|address| !is_beside || address.is_primary || address.is_work);
                chosen(given)
            }
            Some("value") => resource::text("emails.value", value)?,
            Some("type" | "primary" | "display") => return Ok(()),
            Some(sub) => {
                return Err(Refusal::new(ScimType::InvalidPath, format!("The attribute emails has no part {sub}.")));
            }
        };
        self.email = email.or(self.email.take());
        Ok(())
    }

    /// The address: what the request gives, or the name, which may be one, or what is there. Who is deactivated keeps theirs
    /// rather than stay in for the sake of one that is none.
    fn address(&self, before: Option<&Model>) -> Result<String, Error> {
        let email = self.email.as_deref().or(self.user_name.as_deref());
        let email = email.ok_or_else(|| Refusal::value("A user must have the attribute userName."))?;
        match (address(email), before) {
            (Ok(email), _) => Ok(email),
            (Err(_), Some(user)) if self.email.is_none() || self.active == Some(false) => Ok(user.email.clone()),
            (Err(error), _) => {
                let detail = format!("{}. It is the attribute emails, or else userName.", error.message);
                Err(Refusal::value(detail).into())
            }
        }
    }

    /// The name by which the provider knows the person. `None` if that is the address.
    fn own_name(&self, email: &str) -> Result<Option<String>, Error> {
        let name =
            self.user_name.as_deref().ok_or_else(|| Refusal::value("A user must have the attribute userName."))?;
        let name = text::required("userName", name, text::SHORT)?;
        Ok((email_key(&name) != email_key(email)).then_some(name))
    }

    /// The whole name that is shown: what this request gives, or what is there, or the parts of the name together.
    fn shown_name(&self, before: Option<&Model>, email: &str) -> Result<String, Error> {
        let whole = self.display_name.as_deref().or(self.formatted.as_deref());
        if let Some(name) = whole {
            return Ok(Entity::rule(Column::Name).required_text(name)?);
        }
        let parts = full_name(self.given_name.as_deref(), self.family_name.as_deref());
        let name = match before {
            Some(user) => {
                let earlier = full_name(user.given_name.as_deref(), user.family_name.as_deref());
                // A name that somebody has chosen stays, until there are both parts of another for the first time.
                let follows = match &earlier {
                    Some(earlier) => *earlier == user.name,
                    None => self.given_name.is_some() && self.family_name.is_some(),
                };
                if parts == earlier || !follows {
                    user.name.clone()
                } else {
                    parts.unwrap_or_else(|| user.name.clone())
                }
            }
            None => parts.unwrap_or_else(|| email.split('@').next().unwrap_or_default().to_owned()),
        };
        Ok(Entity::rule(Column::Name).required_text(&name)?)
    }

    /// The row of the user, with the columns that differ from `before` set.
    ///
    /// # Errors
    /// A value is missing, or not what it must be.
    pub fn row(&self, before: Option<&Model>, now: Timestamp) -> Result<ActiveModel, Error> {
        let email = self.address(before)?;
        let user_name = self.own_name(&email)?;
        let name = self.shown_name(before, &email)?;
        let optional = |field, text: &Option<String>| {
            text.as_deref().map_or(Ok(None), |text| text::optional(field, text, text::SHORT))
        };
        let mut row = before.cloned().map(ActiveModel::from).unwrap_or_default();
        row.name.set_ne(name);
        row.email_key.set_ne(email_key(&email));
        row.email.set_ne(email);
        row.user_name_key.set_ne(user_name.as_deref().map(email_key));
        row.user_name.set_ne(user_name);
        row.external_id.set_ne(optional("externalId", &self.external_id)?);
        row.given_name.set_ne(optional("name.givenName", &self.given_name)?);
        row.family_name.set_ne(optional("name.familyName", &self.family_name)?);
        // Without a word, somebody who is deactivated stays so.
        let active = self.active.unwrap_or_else(|| before.is_none_or(Model::is_active));
        if before.is_none_or(|user| user.is_active() != active) {
            row.deactivated_at = Set((!active).then_some(now));
        }
        debug_assert!(before.is_some() || row.is_changed());
        Ok(row)
    }
}

/// The given and the family name as one.
fn full_name(given: Option<&str>, family: Option<&str>) -> Option<String> {
    let parts: Vec<&str> = [given, family].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// An address that a request gives.
struct Address {
    value: String,
    is_primary: bool,
    is_work: bool,
}

/// The address among several that is a user's: the primary one, or that for work, or the first.
fn chosen(addresses: Vec<Address>) -> Option<String> {
    // The first one of those that rank first.
    let first = addresses.into_iter().min_by_key(|address| (!address.is_primary, !address.is_work));
    first.map(|address| address.value)
}

/// The addresses that a request gives.
fn addresses(emails: &Value) -> Result<Vec<Address>, Refusal> {
    let list = match emails {
        Value::Null => return Ok(Vec::new()),
        Value::Array(list) => list.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut found = Vec::with_capacity(list.len().min(10));
    for email in list {
        let value = match email {
            Value::String(_) => email,
            Value::Object(parts) => parts.get("value").unwrap_or(&Value::Null),
            _ => return Err(Refusal::value("emails must be a list of objects with a value.")),
        };
        let Some(value) = resource::text("emails.value", value)? else { continue };
        let is_primary = resource::flag("primary", &email["primary"]).unwrap_or(false);
        let is_work = email["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("work"));
        found.push(Address { value, is_primary, is_work });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: Value) -> Result<Person, Refusal> {
        Person::read(given.as_object().expect("an object"))
    }

    #[test]
    fn the_primary_address_counts_or_that_for_work_or_the_first() {
        let email = |emails| read(json!({ "userName": "a", "emails": emails })).expect("a person").email;
        let home = json!({ "type": "home", "value": "home@example.com" });
        let work = json!({ "type": "Work", "value": "work@example.com" });
        let primary = json!({ "type": "other", "value": "primary@example.com", "primary": "True" });
        assert_eq!(email(json!([home, work, primary])).as_deref(), Some("primary@example.com"));
        assert_eq!(email(json!([home, work])).as_deref(), Some("work@example.com"));
        assert_eq!(email(json!([home])).as_deref(), Some("home@example.com"));
        assert_eq!(email(json!([])), None);
        read(json!({ "userName": "a", "emails": [7] })).expect_err("no address");
    }

    #[test]
    fn a_whole_name_counts_before_its_parts() {
        let now = Timestamp::from_micros(0);
        let name = |given| read(given).expect("a person").row(None, now).expect("a row").name.unwrap();
        let parts = json!({ "givenName": "Ada", "familyName": "Lovelace" });
        assert_eq!(name(json!({ "userName": "a@b.c", "displayName": "A. L.", "name": parts })), "A. L.");
        assert_eq!(name(json!({ "userName": "a@b.c", "name": parts })), "Ada Lovelace");
        assert_eq!(name(json!({ "userName": "a@b.c", "name": { "formatted": "Ada King" } })), "Ada King");
        assert_eq!(name(json!({ "userName": "a@b.c" })), "a");
    }
}
