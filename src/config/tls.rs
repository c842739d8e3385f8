//! The certificate of the service.

use std::path::PathBuf;

use clap::Args;

/// What connections are encrypted with: both files, or none.
#[derive(Debug, Clone, Args)]
pub struct TlsFiles {
    /// Encrypt connections with the certificate chain in this PEM file. SIGHUP reads both files again
    #[arg(long, value_name = "FILE", env = "ROLLCALL_TLS_CERTIFICATE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The PEM file of the certificate's private key
    #[arg(long, value_name = "FILE", env = "ROLLCALL_TLS_KEY", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
}

impl TlsFiles {
    /// The files of the certificate and of the key, where connections are to be encrypted.
    pub fn both(&self) -> Option<(PathBuf, PathBuf)> {
        self.tls_certificate.clone().zip(self.tls_key.clone())
    }
}
