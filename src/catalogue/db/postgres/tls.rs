//! TLS to PostgreSQL, as the URL's `sslmode`, `sslrootcert`, `sslcert` and `sslkey` mean it to libpq.

use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Whether to encrypt, and what to verify: libpq's `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::db) enum Mode {
    /// Do not encrypt.
    Disable,
    /// Encrypt only where the server demands it. Here this means not to encrypt.
    Allow,
    /// Encrypt if the server can.
    Prefer,
    /// Encrypt, whoever the server is.
    Require,
    /// Verify who has signed the server's certificate.
    VerifyCa,
    /// Verify the name in it too.
    VerifyFull,
}

/// How connections are encrypted. The files are read for each connection, so that they can be replaced.
#[derive(Debug, Clone)]
pub(in crate::db) struct Tls {
    pub(in crate::db) mode: Mode,
    /// Certificates that sign the server's, beside those that the machine trusts.
    pub(in crate::db) roots: Option<PathBuf>,
    /// The certificate of the client, and its key.
    pub(in crate::db) client: Option<(PathBuf, PathBuf)>,
}

impl Tls {
    /// Whether the server must encrypt.
    pub(in crate::db) fn mode(&self) -> SslMode {
        match self.mode {
            Mode::Disable | Mode::Allow => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
        }
    }

    /// Makes what encrypts a connection.
    pub(in crate::db) fn connector(&self) -> Result<MakeRustlsConnect> {
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
        let config = config.map_err(Error::other)?.dangerous();
        let config = config.with_custom_certificate_verifier(Arc::new(self.verifier(provider)?));
        Ok(MakeRustlsConnect::new(match &self.client {
            None => config.with_no_client_auth(),
            Some((certificate, key)) => {
                let key = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(Error::other)?;
                config.with_client_auth_cert(certificates(certificate)?, key).map_err(Error::other)?
            }
        }))
    }

    fn verifier(&self, provider: Arc<CryptoProvider>) -> Result<Verifier> {
        let verifies = matches!(self.mode, Mode::VerifyCa | Mode::VerifyFull);
        let signers = match verifies {
            true => {
                let roots = Arc::new(self.roots()?);
                let signers = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider)).build();
                Some(signers.map_err(Error::other)?)
            }
            false => None,
        };
        Ok(Verifier { provider, signers, checks_name: matches!(self.mode, Mode::VerifyFull) })
    }

    fn roots(&self) -> Result<RootCertStore> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if let Some(file) = &self.roots {
            for certificate in certificates(file)? {
                roots.add(certificate).map_err(Error::other)?;
            }
        }
        Ok(roots)
    }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let text = read(file)?;
    let read = CertificateDer::pem_slice_iter(&text).collect::<std::result::Result<_, _>>();
    read.map_err(|why| Error::new(ErrorKind::InvalidData, format!("{}: {why}", file.display())))
}

fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).map_err(|why| Error::new(why.kind(), format!("{}: {why}", file.display())))
}

/// Verifies the certificate of a server.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// Without it, any certificate will do.
    signers: Option<Arc<WebPkiServerVerifier>>,
    checks_name: bool,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        let Some(signers) = &self.signers else { return Ok(ServerCertVerified::assertion()) };
        match signers.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // The name is checked last, so all else is right.
            Err(rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. }))
                if !self.checks_name =>
            {
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
