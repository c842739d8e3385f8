//! How checks compare values. A comparison is a predicate of a filter, without the key: what it compares is said by the
//! kind of the check.

use sea_orm::sea_query::ExprTrait;
use serde::{Deserialize, Serialize};

use super::question::Facts;
use crate::db::Backend;
use crate::graphql::filter::predicate::{Meant, Predicate as Compared, Rows};
use crate::graphql::filter::predicate_key::Key;
use crate::graphql::list::scan::Fits;
use crate::graphql::prelude::*;

/// A comparison, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::graphql) struct Comparison {
    /// A value of the SDL's `PredicateTypeEnum`.
    r#type: String,
    value: Option<String>,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Text,
    Number,
}

/// Changes a comparison as an input says. Null removes it.
pub(super) fn given(
    db: &dyn Backend,
    of: Of,
    stored: &mut Option<Comparison>,
    given: &MaybeUndefined<PredicateUpdateInput>,
) -> Result<(), UserError> {
    let PredicateUpdateInput { r#type, value } = match given {
        MaybeUndefined::Undefined => return Ok(()),
        MaybeUndefined::Null => {
            *stored = None;
            return Ok(());
        }
        MaybeUndefined::Value(given) => given,
    };
    let before = stored.take();
    let kind = match r#type {
        MaybeUndefined::Null => return Ok(()),
        MaybeUndefined::Value(kind) => kind.as_str().to_owned(),
        MaybeUndefined::Undefined => match &before {
            Some(before) => before.r#type.clone(),
            None => return Err(UserError::new("type", "type must be given")),
        },
    };
    let value = match value {
        MaybeUndefined::Undefined => before.and_then(|before| before.value),
        MaybeUndefined::Null => None,
        MaybeUndefined::Value(value) => {
            let value = text::at_most("value", value, text::TAG_VALUE)?;
            // Sentences quote it.
            if let Some(fault) = text::short_fault(&value) {
                return Err(UserError::new("value", format!("value {fault}")));
            }
            Some(value)
        }
    };
    let comparison = Comparison { r#type: kind, value };
    match of {
        Of::Text => drop(comparison.text(db, Expr::value(""))?),
        Of::Number => drop(comparison.of_number(Expr::value(0))?),
    }
    *stored = Some(comparison);
    Ok(())
}

impl Comparison {
    /// The SDL's object.
    pub(super) fn to_sdl(&self) -> Predicate {
        Predicate { r#type: self.kind(), value: self.value.clone() }
    }

    fn kind(&self) -> PredicateTypeEnum {
        // Mutations write only words of the enum, so the fallback is not expected.
        PredicateTypeEnum::from_word(&self.r#type).unwrap_or(PredicateTypeEnum::Exists)
    }

    /// Whether it asks that there is no value.
    pub(super) fn is_absence(&self) -> bool {
        self.kind() == PredicateTypeEnum::DoesNotExist
    }

    /// The predicate of a filter that compares in the same way.
    pub(super) fn predicate(&self, key: Key) -> Compared {
        let kind = TypeEnum::from_word(&self.r#type).unwrap_or(TypeEnum::Exists);
        Compared { key, data: None, kind, value: self.value.clone(), is_case_sensitive: true }
    }

    /// What must not be, if it asks that something is not.
    pub(super) fn refuted(&self) -> Option<Self> {
        let kind = self.r#type.strip_prefix("does_not_")?;
        let kind = match kind {
            "match_regex" => "matches_regex".to_owned(),
            "match" => "matches".to_owned(),
            kind => format!("{kind}s"),
        };
        Some(Self { r#type: kind, value: self.value.clone() })
    }

    fn text(&self, db: &dyn Backend, own: Expr) -> Result<Meant, UserError> {
        self.predicate(Key::Name).plain(db, own)
    }

    /// The condition on the text `own` of a row of `rows`, which `key` identifies.
    pub(super) async fn of_text(&self, facts: &Facts<'_>, rows: &Rows, key: Expr, own: Expr) -> Result<Expr> {
        let (fits, is_meant) = match self.text(facts.db, own.clone())? {
            Meant::Is(condition) => return Ok(condition),
            Meant::IsNot(condition) => return Ok(own.is_null().or(condition.not())),
            Meant::Exists(true) => return Ok(own.is_not_null()),
            Meant::Exists(false) => return Ok(own.is_null()),
            Meant::Fits(fits, is_meant) => (fits, is_meant),
        };
        let mut texts = rows.from.clone();
        texts.expr(key.clone()).expr(own.clone()).and_where(own.clone().is_not_null());
        if let Some(services) = facts.only {
            texts.and_where(db::is_any(facts.db.backend(), rows.owner.clone(), services));
        }
        let fitting = match fits {
            Fits::Text(fits) => {
                let keep = move |fitting: &mut Vec<i64>, row: &db::Row<'_>| {
                    let (key, text): (i64, String) = (row.get(0)?, row.get(1)?);
                    if !fits(&text) {
                        return Ok(0);
                    }
                    fitting.push(key);
                    Ok(size_of::<i64>())
                };
                facts.db.sift(&texts, Vec::new, keep).await?
            }
            Fits::Jq { .. } => {
                let keep = |all: &mut Vec<(i64, String)>, row: &db::Row<'_>| {
                    let (key, text): (i64, String) = (row.get(0)?, row.get(1)?);
                    let size = size_of::<(i64, String)>() + text.len();
                    all.push((key, text));
                    Ok(size)
                };
                let all = facts.db.sift(&texts, Vec::new, keep).await?;
                let texts: Vec<&str> = all.iter().map(|(_, text)| &**text).collect();
                let which = fits.which(facts.db, &texts).await?;
                all.iter().zip(which).filter(|(_, fits)| *fits).map(|((key, _), _)| *key).collect()
            }
        };
        let is_one = db::is_any(facts.db.backend(), key, &fitting);
        Ok(if is_meant { is_one } else { own.is_null().or(is_one.not()) })
    }

    /// The condition on the whole number `own`.
    pub(super) fn of_number(&self, own: Expr) -> Result<Expr, UserError> {
        let number = || {
            let value = self.value.as_deref().map(text::trim).unwrap_or_default();
            value.parse::<i64>().map_err(|_| UserError::new("value", "value must be a whole number"))
        };
        Ok(match self.kind() {
            PredicateTypeEnum::Exists => own.is_not_null(),
            PredicateTypeEnum::DoesNotExist => own.is_null(),
            PredicateTypeEnum::Equals => own.eq(number()?),
            PredicateTypeEnum::DoesNotEqual => own.clone().is_null().or(own.ne(number()?)),
            PredicateTypeEnum::GreaterThanOrEqualTo => own.gte(number()?),
            PredicateTypeEnum::LessThanOrEqualTo => own.lte(number()?),
            _ => return Err(self.predicate(Key::Name).refused()),
        })
    }

    /// The words of the comparison, after the noun of what is compared: `equals "prod"`.
    pub(super) fn words(&self) -> String {
        let verb = match self.kind() {
            PredicateTypeEnum::Exists => return "exists".to_owned(),
            PredicateTypeEnum::DoesNotExist => return "does not exist".to_owned(),
            PredicateTypeEnum::Equals | PredicateTypeEnum::BelongsTo => "equals",
            PredicateTypeEnum::DoesNotEqual => "does not equal",
            PredicateTypeEnum::Contains => "contains",
            PredicateTypeEnum::DoesNotContain => "does not contain",
            PredicateTypeEnum::StartsWith => "starts with",
            PredicateTypeEnum::EndsWith => "ends with",
            PredicateTypeEnum::MatchesRegex => "matches the regular expression",
            PredicateTypeEnum::DoesNotMatchRegex => "does not match the regular expression",
            PredicateTypeEnum::SatisfiesVersionConstraint => "is a version in the range",
            PredicateTypeEnum::GreaterThanOrEqualTo => "is at least",
            PredicateTypeEnum::LessThanOrEqualTo => "is at most",
            PredicateTypeEnum::Matches => "matches",
            PredicateTypeEnum::DoesNotMatch => "does not match",
            PredicateTypeEnum::SatisfiesJqExpression => "satisfies the jq expression",
        };
        format!("{verb} {}", quoted(self.value.as_deref().unwrap_or_default()))
    }
}

/// The condition that the service has a row of `rows` whose text `own` meets the comparison. Without a comparison, any row
/// is enough. If the comparison asks that there is no value, the service must have no such row.
pub(super) async fn has(
    facts: &Facts<'_>,
    rows: &Rows,
    key: Expr,
    own: Expr,
    comparison: Option<&Comparison>,
) -> Result<Expr> {
    Ok(match comparison {
        None => rows.exist_where(None),
        Some(comparison) if comparison.is_absence() => rows.exist_where(Some(own.is_not_null())).not(),
        Some(comparison) => rows.exist_where(Some(comparison.of_text(facts, rows, key, own).await?)),
    })
}
