//! Verifies ES256 signatures by ring: `jsonwebtoken`'s own verifier takes several times as long, and
//! thousands of people come at once when a server starts.

use std::sync::LazyLock;

use jsonwebtoken::crypto::rust_crypto::DEFAULT_PROVIDER;
use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier};
use jsonwebtoken::errors::Result;
use jsonwebtoken::signature::{Error, Verifier};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey};
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

static PROVIDER: LazyLock<CryptoProvider> =
    LazyLock::new(|| CryptoProvider { verifier_factory: verifier, ..DEFAULT_PROVIDER.clone() });

/// Lets `jsonwebtoken` use ring in this process, unless the process has chosen something else before.
pub(super) fn install() {
    let _ = LazyLock::force(&PROVIDER).install_default();
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    match (algorithm, key.family(), key.try_get_as_bytes()) {
        (Algorithm::ES256, AlgorithmFamily::Ec, Ok(point)) => {
            let point = point.to_vec();
            Ok(Box::new(Es256(UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point))))
        }
        _ => (DEFAULT_PROVIDER.verifier_factory)(algorithm, key),
    }
}

/// A public key, as an uncompressed point of the curve (SEC 1, section 2.3.3).
struct Es256(UnparsedPublicKey<Vec<u8>>);

impl Verifier<Vec<u8>> for Es256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        self.0.verify(message, signature).map_err(|_| Error::new())
    }
}

impl JwtVerifier for Es256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::ES256
    }
}

#[cfg(test)]
mod tests {
    use jsonwebtoken::EncodingKey;
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};

    use super::*;

    /// Whether this signature of a text is taken, by ring and by what `jsonwebtoken` brings.
    fn is_taken(key: &DecodingKey, text: &[u8], signature: &[u8]) -> [bool; 2] {
        let ours = verifier(&Algorithm::ES256, key);
        let theirs = (DEFAULT_PROVIDER.verifier_factory)(&Algorithm::ES256, key);
        [ours, theirs].map(|verifier| {
            let verifier = verifier.unwrap();
            assert_eq!(verifier.algorithm(), Algorithm::ES256);
            verifier.verify(text, &signature.to_vec()).is_ok()
        })
    }

    #[test]
    fn signatures_are_taken_that_the_library_takes() {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let signer = EncodingKey::from_ec_der(pair.as_ref());
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, pair.as_ref(), &random).unwrap();
        let key = DecodingKey::from_ec_der(pair.public_key().as_ref());
        let signer = (DEFAULT_PROVIDER.signer_factory)(&Algorithm::ES256, &signer).unwrap();
        let signature = jsonwebtoken::signature::Signer::try_sign(&*signer, b"text").unwrap();
        assert_eq!(is_taken(&key, b"text", &signature), [true; 2]);
        assert_eq!(is_taken(&key, b"another", &signature), [false; 2]);
        for at in 0..signature.len() {
            let mut changed = signature.clone();
            changed[at] ^= 1;
            assert_eq!(is_taken(&key, b"text", &changed), [false; 2], "{at}");
        }
        for wrong in [&signature[1..], &[0; 64], &[0xff; 64], &[]] {
            assert_eq!(is_taken(&key, b"text", wrong), [false; 2]);
        }
        let no_point = verifier(&Algorithm::ES256, &DecodingKey::from_ec_der(&[4; 65])).unwrap();
        assert!(no_point.verify(b"text", &signature).is_err());
    }
}
