#include <xxhash.h>

#if defined(__x86_64__)
#define XXH_DISPATCH_DISABLE_REPLACE
#include <xxh_x86dispatch.h>
#endif

/// Returns the 64-bit XXH3 hash, computed with the widest vector registers of the processor.
///
/// On x86 the plain function uses the oldest ones, and takes five times as long for the bytes of an image.
static inline XXH64_hash_t eidetic_checksum(const void *bytes, size_t count) {
#if defined(__x86_64__)
    return XXH3_64bits_dispatch(bytes, count);
#else
    return XXH3_64bits(bytes, count);
#endif
}
