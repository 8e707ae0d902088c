#pragma once

#include <stddef.h>
#include <stdint.h>

/// Content codings of HTTP that are decoded piece by piece.
///
/// libcurl would decode all bytes of a read at once, however many they become; here each call has a limit.

/// A content coding.
typedef enum {
    EIDETIC_INFLATE_GZIP = 0,    // RFC 1952
    EIDETIC_INFLATE_DEFLATE = 1, // RFC 1950; many servers send RFC 1951
    EIDETIC_INFLATE_BROTLI = 2,  // RFC 7932
    EIDETIC_INFLATE_ZSTD = 3,    // RFC 8878, 9659
} eidetic_inflate_coding;

/// The outcome of a call.
typedef enum {
    EIDETIC_INFLATE_NEEDS_INPUT = 0, // all input is consumed
    EIDETIC_INFLATE_HAS_OUTPUT = 1,  // the output buffer is full
    EIDETIC_INFLATE_END = 2,         // the end of the coded bytes
    EIDETIC_INFLATE_FAILED = 3,      // the bytes are not coded so
    EIDETIC_INFLATE_OUT_OF_MEMORY = 4,
} eidetic_inflate_status;

/// A decoder of one body.
typedef struct eidetic_inflater eidetic_inflater;

/// Returns 1 if a coding can be decoded.
///
/// Brotli's decoder is loaded on first use; libcurl may be built without it.
int eidetic_inflate_supports(eidetic_inflate_coding coding);

/// Returns NULL if the coding is not supported or memory is exhausted.
eidetic_inflater *eidetic_inflater_create(eidetic_inflate_coding coding);
void eidetic_inflater_destroy(eidetic_inflater *inflater);

/// Decodes up to `capacity` bytes; sets the number of consumed and of written bytes.
eidetic_inflate_status eidetic_inflater_run(eidetic_inflater *inflater, const uint8_t *input, size_t count,
                                            size_t *consumed, uint8_t *output, size_t capacity, size_t *written);

/// Returns 1 if all data have been decoded, though the checksum behind them may be missing.
int eidetic_inflater_has_all_data(const eidetic_inflater *inflater);
