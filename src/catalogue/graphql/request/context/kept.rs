//! What the resolvers of a snapshot keep for each other.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::State;

/// Values that resolvers keep for each other, one of each type.
#[derive(Default)]
pub(super) struct Kept(Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl State {
    /// The value of this type that the resolvers of this snapshot share.
    pub fn kept<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        let mut kept = self.kept.0.lock().unwrap_or_else(PoisonError::into_inner);
        let value = kept.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        Arc::clone(value).downcast().unwrap_or_default()
    }
}
