//! The TLS settings of the service.

use std::path::PathBuf;

use clap::Args;

use super::trimmed::path;

/// The TLS files: both or none.
#[derive(Debug, Clone, Args)]
pub struct TlsFiles {
    /// Enable TLS with the certificate chain in this PEM file. SIGHUP reloads both files
    #[arg(long, value_name = "FILE", env = "ROLLCALL_TLS_CERTIFICATE", requires = "tls_key", value_parser = path())]
    tls_certificate: Option<PathBuf>,
    /// The PEM file with the certificate's private key
    #[arg(long, value_name = "FILE", env = "ROLLCALL_TLS_KEY", requires = "tls_certificate", value_parser = path())]
    tls_key: Option<PathBuf>,
}

impl TlsFiles {
    /// The certificate file and the key file, if TLS is enabled.
    pub fn both(&self) -> Option<(PathBuf, PathBuf)> {
        self.tls_certificate.clone().zip(self.tls_key.clone())
    }
}
