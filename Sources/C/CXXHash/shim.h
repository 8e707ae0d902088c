#include <xxhash.h>

#if defined(__x86_64__)
#define XXH_DISPATCH_DISABLE_REPLACE
#include <xxh_x86dispatch.h>
#endif

/// XXH3 with 64 bits, by the widest registers that the processor has: on x86 the plain function uses the oldest, and
/// takes five times as long for a picture's bytes.
static inline XXH64_hash_t eidetic_checksum(const void *bytes, size_t count) {
#if defined(__x86_64__)
    return XXH3_64bits_dispatch(bytes, count);
#else
    return XXH3_64bits(bytes, count);
#endif
}
