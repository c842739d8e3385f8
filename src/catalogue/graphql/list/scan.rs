//! Comparisons that SQL lacks: regular expressions, ranges of versions and jq expressions.
//!
//! They are made here, with the texts of a column. A column is read once, however many predicates compare it. What is
//! kept of a service is which of them it satisfies: a bit for each. Predicates that are joined are then evaluated
//! together, so that they become one list of services.

use std::collections::HashMap;

use sea_orm::sea_query::{Expr, ExprTrait, Func, SelectStatement};

use crate::db::{self, Read, ReadHandle};
use crate::entity::service;
use crate::error::{Error, Result, UserError};
use crate::evaluation;
use crate::graphql::schema::ConnectiveEnum;
use crate::graphql::service::service_filter::MOST;

/// Whether a text matches a comparison.
pub(in crate::graphql) enum Fits {
    /// By a function.
    Text(Box<dyn Fn(&str) -> bool + Send + Sync>),
    /// By a jq expression, whose input is the text. If the texts `are_json`, its input is what they mean.
    Jq { expression: String, are_json: bool },
}

/// The number of different texts that a jq expression is evaluated on.
pub const JQ_TEXTS: usize = 10_000;

/// The length of these texts together, in bytes.
pub const JQ_BYTES: usize = 4 << 20;

impl Fits {
    /// Which of the texts match.
    pub(in crate::graphql) async fn which(&self, db: &dyn ReadHandle, texts: &[&str]) -> Result<Vec<bool>> {
        let (expression, are_json) = match self {
            Self::Text(fits) => {
                let mut which = Vec::with_capacity(texts.len());
                for text in texts {
                    db.pause().await?;
                    which.push(fits(text));
                }
                return Ok(which);
            }
            Self::Jq { expression, are_json } => (expression, *are_json),
        };
        let length: usize = texts.iter().map(|text| text.len() + 1).sum();
        if texts.len() > JQ_TEXTS || length > JQ_BYTES {
            let message = format!(
                "jq expressions are evaluated on at most {JQ_TEXTS} different values, and {} MiB; compare in another way, or \
                 with a filter's other predicates",
                JQ_BYTES >> 20
            );
            return Err(UserError::new("value", message).into());
        }
        db.charge::<()>(2 * length)?;
        let values = match are_json {
            true => format!("[{}]", texts.join(",")),
            false => serde_json::to_string(texts)?,
        };
        let evaluated = evaluation::of_each(values, expression.clone()).await.map_err(Error::internal)?;
        match evaluated.fault {
            Some(fault) => {
                Err(UserError::new("value", format!("the jq expression cannot be evaluated: {fault}")).into())
            }
            None => Ok(evaluated.ones.into_iter().map(|one| one.passed).collect()),
        }
    }
}

const _: () = assert!(MOST <= u64::BITS as usize, "a service has a bit for each predicate of a request");

/// A condition on services, of which a part may still have to be evaluated here.
pub(in crate::graphql) enum Condition {
    /// An SQL condition.
    Sql(Expr),
    /// The service has this bit.
    Bit(u64),
    Not(Box<Condition>),
    Several(ConnectiveEnum, Vec<Condition>),
}

/// The comparisons of a request.
#[derive(Default)]
pub(in crate::graphql) struct Scans {
    /// The comparisons of the same texts, each with its bit.
    columns: Vec<(SelectStatement, Vec<(u64, Fits)>)>,
    bits: u32,
}

/// The bits of the services that have any, in the order of their ids.
pub(in crate::graphql) struct Bits(Vec<(i64, u64)>);

/// The texts of a column, each once, and the services that have them.
#[derive(Default)]
struct Column {
    /// The number of each text.
    texts: HashMap<String, u32>,
    /// Services, each with the number of a text.
    rows: Vec<(i64, u32)>,
}

impl Column {
    /// What a text takes besides its letters, in bytes.
    const TEXT: usize = 64;

    /// Adds a row. Returns the bytes that it takes.
    fn add(&mut self, row: &db::Row<'_>) -> Result<usize, db::Error> {
        let (service, text): (i64, String) = (row.get(0)?, row.get(1)?);
        let (next, length) = (self.texts.len(), text.len());
        let number = *self.texts.entry(text).or_insert(u32::try_from(next).unwrap_or(u32::MAX));
        self.rows.push((service, number));
        let of_text = if self.texts.len() > next { Self::TEXT + length } else { 0 };
        Ok(size_of::<(i64, u32)>() + of_text)
    }
}

impl Scans {
    /// Adds a comparison. `texts` selects the ids of services, each with a text.
    pub(in crate::graphql) fn add(&mut self, texts: SelectStatement, fits: Fits) -> Condition {
        let bit = 1 << self.bits;
        self.bits += 1;
        match self.columns.iter_mut().find(|(known, _)| *known == texts) {
            Some((_, comparisons)) => comparisons.push((bit, fits)),
            None => self.columns.push((texts, vec![(bit, fits)])),
        }
        Condition::Bit(bit)
    }

    /// Makes the comparisons, in one statement for each column.
    pub(in crate::graphql) async fn run(self, db: &dyn ReadHandle) -> Result<Bits> {
        let mut all: Vec<(i64, u64)> = Vec::new();
        for (texts, comparisons) in self.columns {
            let column = db.sift(&texts, Column::default, Column::add).await?;
            let mut bits = vec![0; column.texts.len()];
            let mut texts = vec![""; column.texts.len()];
            for (text, number) in &column.texts {
                texts[*number as usize] = text;
            }
            for (bit, fits) in &comparisons {
                for (bits, fits) in bits.iter_mut().zip(fits.which(db, &texts).await?) {
                    *bits |= if fits { *bit } else { 0 };
                }
            }
            let before = all.len();
            let rows = column.rows.into_iter().map(|(service, number)| (service, bits[number as usize]));
            all.extend(rows.filter(|(_, bits)| *bits != 0));
            db.charge::<()>((all.len() - before) * size_of::<(i64, u64)>())?;
        }
        all.sort_unstable_by_key(|(service, _)| *service);
        all.dedup_by(|(other, more), (service, bits)| {
            let is_same = other == service;
            if is_same {
                *bits |= *more;
            }
            is_same
        });
        Ok(Bits(all))
    }
}

impl Condition {
    /// The condition, or its opposite.
    pub(in crate::graphql) fn unless(self, is_not: bool) -> Self {
        if is_not { Self::Not(Box::new(self)) } else { self }
    }

    /// The SQL condition, with the services that were found.
    pub(in crate::graphql) async fn into_sql(self, db: &dyn ReadHandle, found: &Bits) -> Result<Expr> {
        if self.is_evaluated_here() {
            return self.list(db, found).await;
        }
        match self {
            Self::Sql(condition) => Ok(condition),
            Self::Not(condition) => {
                let condition = Box::pin(condition.into_sql(db, found)).await?;
                // For a null column, the condition can be null. Its negation would be null too.
                Ok(Expr::from(Func::coalesce([condition, Expr::Constant(false.into())])).not())
            }
            Self::Several(connective, conditions) => {
                let (here, other): (Vec<_>, Vec<_>) = conditions.into_iter().partition(Self::is_evaluated_here);
                let mut parts = Vec::with_capacity(other.len() + 1);
                if !here.is_empty() {
                    parts.push(Self::Several(connective, here).list(db, found).await?);
                }
                for condition in other {
                    parts.push(Box::pin(condition.into_sql(db, found)).await?);
                }
                Ok(joined(connective, parts))
            }
            Self::Bit(_) => self.list(db, found).await,
        }
    }

    fn is_evaluated_here(&self) -> bool {
        match self {
            Self::Sql(_) => false,
            Self::Bit(_) => true,
            Self::Not(condition) => condition.is_evaluated_here(),
            Self::Several(_, conditions) => !conditions.is_empty() && conditions.iter().all(Self::is_evaluated_here),
        }
    }

    /// Whether a service with these bits meets the condition, which must be evaluated here.
    fn holds(&self, bits: u64) -> bool {
        match self {
            Self::Sql(_) => false,
            Self::Bit(bit) => bits & bit != 0,
            Self::Not(condition) => !condition.holds(bits),
            Self::Several(ConnectiveEnum::And, conditions) => conditions.iter().all(|one| one.holds(bits)),
            Self::Several(ConnectiveEnum::Or, conditions) => conditions.iter().any(|one| one.holds(bits)),
        }
    }

    /// The condition as a list of services: those that meet it, or those that do not if it holds without any bit.
    async fn list(&self, db: &dyn ReadHandle, Bits(found): &Bits) -> Result<Expr> {
        const STEP: usize = 1_024;
        let otherwise = self.holds(0);
        let mut services = Vec::new();
        for some in found.chunks(STEP) {
            db.pause().await?;
            let before = services.len();
            services
                .extend(some.iter().filter(|(_, bits)| self.holds(*bits) != otherwise).map(|(service, _)| *service));
            db.charge::<()>((services.len() - before) * size_of::<i64>())?;
        }
        if services.is_empty() {
            return Ok(Expr::value(otherwise));
        }
        let is_one = db::any(db, service::Column::Id, &services);
        Ok(if otherwise { is_one.not() } else { is_one })
    }
}

/// Joins conditions. Without any, every service matches.
fn joined(connective: ConnectiveEnum, conditions: Vec<Expr>) -> Expr {
    let joined = conditions.into_iter().reduce(|one, other| match connective {
        ConnectiveEnum::And => one.and(other),
        ConnectiveEnum::Or => one.or(other),
    });
    joined.unwrap_or_else(|| Expr::value(true))
}
