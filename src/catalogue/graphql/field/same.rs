//! Enums of the SDL and of the code below it whose variants have the same names.

/// The variant of another enum that has the same name: `same!(kind, Kind => IntegrationTypeEnum { Deploy Custom })` is
/// `match kind { Kind::Deploy => IntegrationTypeEnum::Deploy, Kind::Custom => IntegrationTypeEnum::Custom }`. A variant that is
/// not in the list does not compile.
macro_rules! same {
    ($value:expr, $from:ty => $to:ty { $($variant:ident)* }) => {
        match $value {
            $(<$from>::$variant => <$to>::$variant,)*
        }
    };
}
pub(in crate::graphql) use same;
