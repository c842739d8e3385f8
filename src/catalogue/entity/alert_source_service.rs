//! The services that alert sources monitor.

use super::prelude::*;
use super::service;

super::table! {
    "alert_source_service", Alone("AlertSourceService"), |row| Owner::Row(RowOf::new::<service::Entity>(row.service_id));

    /// The alert source.
    pub alert_source_id: i64,
    /// The service; at most once per alert source.
    pub service_id: i64,
}

super::called!(noun "link between an alert source and a service");
