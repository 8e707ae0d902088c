#include "CNettle.h"

#include <nettle/hmac.h>
#include <nettle/md5.h>
#include <nettle/sha2.h>
#include <nettle/version.h>

// From version 4 on the functions write the whole digest.
#if NETTLE_VERSION_MAJOR >= 4
#define SIZE(size)
#else
#define SIZE(size) size,
#endif

void eidetic_sha256(const uint8_t *bytes, size_t count, uint8_t *digest) {
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, count, bytes);
    sha256_digest(&context, SIZE(SHA256_DIGEST_SIZE) digest);
}

void eidetic_md5(const uint8_t *bytes, size_t count, uint8_t *digest) {
    struct md5_ctx context;
    md5_init(&context);
    md5_update(&context, count, bytes);
    md5_digest(&context, SIZE(MD5_DIGEST_SIZE) digest);
}

void eidetic_hmac_sha256(const uint8_t *key, size_t key_count, const uint8_t *bytes, size_t count, uint8_t *digest) {
    struct hmac_sha256_ctx context;
    hmac_sha256_set_key(&context, key_count, key);
    hmac_sha256_update(&context, count, bytes);
    hmac_sha256_digest(&context, SIZE(SHA256_DIGEST_SIZE) digest);
}

int eidetic_nettle_version(void) {
    return nettle_version_major() * 100 + nettle_version_minor();
}
