//! Signatures of messages, by the [Standard Webhooks](https://www.standardwebhooks.com) specification.

use data_encoding::BASE64;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::entity::Timestamp;
use crate::entity::event_receiver::Model as Receiver;
use crate::error::{Error, Result};

/// What every secret begins with.
const PREFIX: &str = "whsec_";

/// The number of random bytes of a secret: what the specification recommends.
const RANDOM: usize = 32;

/// A new secret.
pub fn secret() -> Result<String> {
    let mut random = [0; RANDOM];
    getrandom::fill(&mut random).map_err(Error::internal)?;
    Ok(format!("{PREFIX}{}", BASE64.encode(&random)))
}

/// The value of the header `webhook-signature`: one signature for each secret that is used now.
pub(super) fn header(receiver: &Receiver, id: &str, seconds: i64, body: &str, now: Timestamp) -> String {
    let earlier = receiver.earlier_secret.as_ref().filter(|_| receiver.earlier_until.is_some_and(|end| now < end));
    let secrets = [Some(&receiver.secret), earlier].into_iter().flatten();
    secrets.filter_map(|secret| signed(secret, id, seconds, body)).collect::<Vec<_>>().join(" ")
}

/// The signature by one secret. `None` if that is no secret.
fn signed(secret: &str, id: &str, seconds: i64, body: &str) -> Option<String> {
    let key = BASE64.decode(secret.strip_prefix(PREFIX)?.as_bytes()).ok()?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
    mac.update(format!("{id}.{seconds}.").as_bytes());
    mac.update(body.as_bytes());
    Some(format!("v1,{}", BASE64.encode(&mac.finalize().into_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_signed_as_in_the_specifications_example() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let signed = signed(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signed.as_deref(), Some("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
    }
}
