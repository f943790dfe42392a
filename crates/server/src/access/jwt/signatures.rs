//! Checks the signatures of tokens with ring, which also does the cryptography of TLS. The backends
//! of `jsonwebtoken` would add some 30 crates and take several times as long for ES256, which
//! matters when thousands of clients join at once after a restart.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error, Verifier};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::hmac;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: no_signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Installs ring as the provider of `jsonwebtoken`, unless the process has installed another one
/// before.
pub(super) fn install() {
    let _ = PROVIDER.install_default();
}

/// The server signs nothing.
fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    Err(ErrorKind::UnsupportedAlgorithm.into())
}

fn verifier(&algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    match (algorithm, key.family()) {
        (Algorithm::EdDSA, AlgorithmFamily::Ed)
        | (Algorithm::ES256, AlgorithmFamily::Ec)
        | (Algorithm::HS256, AlgorithmFamily::Hmac)
        | (Algorithm::RS256, AlgorithmFamily::Rsa) => {
            Ok(Box::new(ByRing { algorithm, key: key.clone() }))
        }
        _ => Err(ErrorKind::UnsupportedAlgorithm.into()),
    }
}

/// Checks signatures of one algorithm by one key of its family.
struct ByRing {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl Verifier<Vec<u8>> for ByRing {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        let by = |algorithm: &'static dyn VerificationAlgorithm, key: &[u8]| {
            UnparsedPublicKey::new(algorithm, key).verify(message, signature)
        };
        let is_right = match (self.algorithm, self.key.kind()) {
            (Algorithm::EdDSA, DecodingKeyKind::SecretOrDer(key)) => by(&ED25519, key),
            // The key is an uncompressed point of the curve (SEC 1, section 2.3.3).
            (Algorithm::ES256, DecodingKeyKind::SecretOrDer(key)) => {
                by(&ECDSA_P256_SHA256_FIXED, key)
            }
            (Algorithm::HS256, DecodingKeyKind::SecretOrDer(key)) => {
                hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, key), message, signature)
            }
            (Algorithm::RS256, DecodingKeyKind::SecretOrDer(key)) => {
                by(&RSA_PKCS1_2048_8192_SHA256, key)
            }
            (Algorithm::RS256, DecodingKeyKind::RsaModulusExponent { n, e }) => {
                // Some issuers write a zero in front of the modulus (RFC 7518, section 6.3.1.1),
                // which ring refuses.
                let n = n.strip_prefix(&[0]).unwrap_or(n);
                RsaPublicKeyComponents { n, e }.verify(
                    &RSA_PKCS1_2048_8192_SHA256,
                    message,
                    signature,
                )
            }
            _ => Err(ring::error::Unspecified),
        };
        is_right.map_err(|_| Error::new())
    }
}

impl JwtVerifier for ByRing {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;

    /// The claims of the examples in RFC 7515.
    const CLAIMS: &str = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    /// The modulus of the key of RFC 7515, appendix A.2.
    const MODULUS: &str = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";

    /// The examples of RFC 7515, appendix A.1 to A.3, and of RFC 8037, appendix A.4: the algorithm,
    /// the key, what is signed, and the signature.
    fn examples() -> [(Algorithm, DecodingKey, String, Vec<u8>); 4] {
        let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        [
            (
                Algorithm::HS256,
                DecodingKey::from_secret(&bytes(
                    "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow",
                )),
                format!("eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.{CLAIMS}"),
                bytes("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            ),
            (
                Algorithm::RS256,
                DecodingKey::from_rsa_components(MODULUS, "AQAB").unwrap(),
                format!("eyJhbGciOiJSUzI1NiJ9.{CLAIMS}"),
                bytes(
                    "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
                ),
            ),
            (
                Algorithm::ES256,
                DecodingKey::from_ec_components(
                    "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
                    "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
                )
                .unwrap(),
                format!("eyJhbGciOiJFUzI1NiJ9.{CLAIMS}"),
                bytes(
                    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
                ),
            ),
            (
                Algorithm::EdDSA,
                DecodingKey::from_ed_components("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
                    .unwrap(),
                "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc".to_owned(),
                bytes(
                    "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
                ),
            ),
        ]
    }

    #[test]
    fn the_examples_of_the_standards_are_taken_and_nothing_that_differs_from_them() {
        for (algorithm, key, signed, signature) in examples() {
            let verifier = verifier(&algorithm, &key).unwrap();
            assert_eq!(verifier.algorithm(), algorithm);
            let is_taken = |signed: &str, signature: &[u8]| {
                verifier.verify(signed.as_bytes(), &signature.to_vec()).is_ok()
            };
            assert!(is_taken(&signed, &signature), "{algorithm:?}");
            assert!(!is_taken(&signed[1..], &signature), "{algorithm:?}");
            for at in 0..signature.len() {
                let mut changed = signature.clone();
                changed[at] ^= 1;
                assert!(!is_taken(&signed, &changed), "{algorithm:?}, byte {at}");
            }
            for wrong in [&signature[1..], &[0; 64], &[0xff; 64], &[0; 256], &[]] {
                assert!(!is_taken(&signed, wrong), "{algorithm:?}");
            }
        }
    }

    #[test]
    fn a_key_is_for_the_algorithm_of_its_kind() {
        for (at, (algorithm, ..)) in examples().iter().enumerate() {
            for (other, (_, key, ..)) in examples().iter().enumerate() {
                assert_eq!(verifier(algorithm, key).is_ok(), at == other);
            }
        }
        assert!(verifier(&Algorithm::HS512, &DecodingKey::from_secret(&[1; 64])).is_err());
    }

    #[test]
    fn a_modulus_may_begin_with_a_zero() {
        let (algorithm, _, signed, signature) = examples().into_iter().nth(1).unwrap();
        let mut modulus = URL_SAFE_NO_PAD.decode(MODULUS).unwrap();
        modulus.insert(0, 0);
        let key = DecodingKey::from_rsa_raw_components(&modulus, &[1, 0, 1]);
        assert!(verifier(&algorithm, &key).unwrap().verify(signed.as_bytes(), &signature).is_ok());
    }

    #[test]
    fn what_is_no_key_takes_no_signature() {
        let no_keys = [
            (Algorithm::ES256, DecodingKey::from_ec_der(&[4; 65])),
            (Algorithm::EdDSA, DecodingKey::from_ed_der(&[])),
            (Algorithm::RS256, DecodingKey::from_rsa_der(b"no key")),
            (Algorithm::RS256, DecodingKey::from_rsa_raw_components(&[], &[3])),
        ];
        for (algorithm, key) in no_keys {
            let verifier = verifier(&algorithm, &key).unwrap();
            for signature in [vec![], vec![0; 64], vec![1; 256]] {
                assert!(verifier.verify(b"text", &signature).is_err(), "{algorithm:?}");
            }
        }
    }
}
