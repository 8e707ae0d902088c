#pragma once

#include <stddef.h>
#include <stdint.h>

/// Computes the SHA-256 digest, 32 bytes, of `count` bytes.
///
/// Nettle's functions have no global state, and their signatures differ between its versions.
void eidetic_sha256(const uint8_t *bytes, size_t count, uint8_t *digest);

/// Computes the MD5 digest, 16 bytes, of `count` bytes.
void eidetic_md5(const uint8_t *bytes, size_t count, uint8_t *digest);

/// Computes the HMAC-SHA-256, 32 bytes, of `count` bytes.
void eidetic_hmac_sha256(const uint8_t *key, size_t key_count, const uint8_t *bytes, size_t count, uint8_t *digest);

/// Returns the library's version: `major` · 100 + `minor`.
int eidetic_nettle_version(void);
