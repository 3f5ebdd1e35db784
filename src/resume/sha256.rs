//! SHA-256 in hexadecimal of anything that can be written: [`sha256`].

use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// The digest, in lower-case hexadecimal, of what `write` writes.
pub fn sha256(write: impl FnOnce(&mut Hasher) -> io::Result<()>) -> io::Result<String> {
    let mut hasher = Hasher(Sha256::new());
    write(&mut hasher)?;
    Ok(hasher.0.finalize().iter().map(|b| format!("{b:02x}")).collect())
}

/// The writer passed to the closure of [`sha256`].
pub struct Hasher(Sha256);

impl Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_matches_the_standard() {
        // FIPS 180-2, appendix B.1
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let digest = sha256(|to| to.write_all(b"a").and_then(|()| write!(to, "bc")));
        assert_eq!(digest.unwrap(), abc);
        assert!(sha256(|_| Err(io::Error::other("full"))).is_err());
    }
}
