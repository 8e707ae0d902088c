#include "CNettle.h"

#include <nettle/hmac.h>
#include <nettle/md5.h>
#include <nettle/sha2.h>
#include <nettle/version.h>

void eidetic_sha256(const uint8_t *bytes, size_t count, uint8_t *digest) {
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, count, bytes);
#if NETTLE_VERSION_MAJOR >= 4
    sha256_digest(&context, digest);
#else
    sha256_digest(&context, SHA256_DIGEST_SIZE, digest);
#endif
}

void eidetic_md5(const uint8_t *bytes, size_t count, uint8_t *digest) {
    struct md5_ctx context;
    md5_init(&context);
    md5_update(&context, count, bytes);
#if NETTLE_VERSION_MAJOR >= 4
    md5_digest(&context, digest);
#else
    md5_digest(&context, MD5_DIGEST_SIZE, digest);
#endif
}

void eidetic_hmac_sha256(const uint8_t *key, size_t key_count, const uint8_t *bytes, size_t count, uint8_t *digest) {
    struct hmac_sha256_ctx context;
    hmac_sha256_set_key(&context, key_count, key);
    hmac_sha256_update(&context, count, bytes);
#if NETTLE_VERSION_MAJOR >= 4
    hmac_sha256_digest(&context, digest);
#else
    hmac_sha256_digest(&context, SHA256_DIGEST_SIZE, digest);
#endif
}

int eidetic_nettle_version(void) {
    return nettle_version_major() * 100 + nettle_version_minor();
}
