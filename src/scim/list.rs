//! Pages of resources (RFC 7644, section 3.4.2).

use sea_orm::sea_query::Expr;
use sea_orm::{QueryFilter, QueryOrder, QuerySelect};
use serde_json::{Value, json};

use super::resource::Asked;
use super::{Answer, Error, schemas};
use crate::db::{Read, ReadHandle, Table};

/// The most members of groups, or groups of users, that a page shows. A page ends before it shows more, but for those of its
/// first resource.
pub const IN_PAGE: usize = 20_000;

/// The rows of a page, in the order of their ids, and the number of all that match.
pub async fn rows<E: Table>(
    db: &dyn ReadHandle,
    id: E::Column,
    condition: Option<Expr>,
    asked: &Asked,
) -> Result<(Vec<E::Model>, u64), Error> {
    let matching = || match condition.clone() {
        Some(condition) => E::find().filter(condition),
        None => E::find(),
    };
    let total = db.count(matching()).await?;
    if asked.count == 0 || asked.start > total {
        return Ok((Vec::new(), total));
    }
    let page = matching().order_by_asc(id).offset(asked.start - 1).limit(asked.count);
    Ok((db.all(page).await?, total))
}

/// How many of the first resources fit on a page, by what each has.
pub fn fitting(sizes: impl Iterator<Item = usize>) -> usize {
    let mut sum = 0_usize;
    let sums = sizes.map(|size| {
        sum += size;
        sum
    });
    sums.take_while(|sum| *sum <= IN_PAGE).count().max(1)
}

/// The answer with a page.
pub fn answer(asked: &Asked, total: u64, resources: Vec<Value>) -> Answer {
    let body = json!({
        "schemas": [schemas::LIST],
        "totalResults": total,
        "startIndex": asked.start,
        "itemsPerPage": resources.len(),
        "Resources": resources,
    });
    Answer { status: 200, body: Some(body), location: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_before_it_shows_too_much_and_has_one_resource() {
        assert_eq!(fitting([1, 2, 3].into_iter()), 3);
        assert_eq!(fitting([IN_PAGE, 1, 1].into_iter()), 1);
        assert_eq!(fitting([IN_PAGE - 1, 1, 1].into_iter()), 2);
        assert_eq!(fitting([IN_PAGE + 1, 1].into_iter()), 1);
        assert_eq!(fitting([].into_iter()), 1);
    }
}
