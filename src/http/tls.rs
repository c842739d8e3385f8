//! TLS: loads the certificate and key, and reloads them when they are renewed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{Error, ServerConfig};
use tokio_rustls::TlsAcceptor;

/// The TLS configuration and the files it comes from.
#[derive(Debug)]
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    config: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    /// Loads the certificate chain and the private key, both PEM.
    ///
    /// # Errors
    /// Why they cannot be used, in one sentence.
    pub fn open(certificate: PathBuf, key: PathBuf) -> Result<Self, String> {
        let config = RwLock::new(read(&certificate, &key)?);
        Ok(Self { certificate, key, config })
    }

    /// Reloads the files for new connections. If they cannot be used, keeps the current ones.
    ///
    /// # Errors
    /// Why they cannot be used, in one sentence.
    pub fn reload(&self) -> Result<(), String> {
        let config = read(&self.certificate, &self.key)?;
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = config;
        Ok(())
    }

    /// The acceptor, with the files as last loaded.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner)).into()
    }
}

fn read(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, String> {
    let text = |what: &str, path: &Path| {
        fs::read(path).map_err(|error| format!("the {what} {} cannot be read: {error}", path.display()))
    };
    let chain = CertificateDer::pem_slice_iter(&text("TLS certificate", certificate)?).collect::<Result<Vec<_>, _>>();
    let chain = chain.ok().filter(|chain| !chain.is_empty());
    let no_certificate = || format!("the file {} holds no certificate in PEM form", certificate.display());
    let chain = chain.ok_or_else(no_certificate)?;
    let secret = PrivateKeyDer::from_pem_slice(&text("TLS key", key)?).map_err(|error| match error {
        pem::Error::NoItemsFound => format!("the file {} holds no private key in PEM form", key.display()),
        // The error could quote the secret, so it is dropped.
        _ => format!("the private key in {} is damaged", key.display()),
    })?;
    let versions = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be set up: {error}"))?;
    let config = versions.with_no_client_auth().with_single_cert(chain, secret);
    let mut config = config.map_err(|error| match error {
        Error::InconsistentKeys(_) => {
            format!(
                "the private key in {} does not belong to the certificate in {}",
                key.display(),
                certificate.display()
            )
        }
        Error::InvalidCertificate(_) => format!("the certificate in {} is damaged", certificate.display()),
        error => format!("the private key in {} cannot be used: {error}", key.display()),
    })?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
