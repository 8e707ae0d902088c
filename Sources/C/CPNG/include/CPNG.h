#ifndef EIDETIC_PNG_H
#define EIDETIC_PNG_H

#include <stddef.h>
#include <stdint.h>

// libpng reports errors by longjmp, which Swift cannot import. Every call into the library stays in this target; no
// Swift frame ever lies between a setjmp and its longjmp.

/// What a call came to.
typedef enum {
    EIDETIC_PNG_OK = 0,
    EIDETIC_PNG_FAILED = 1,
    EIDETIC_PNG_TRUNCATED = 2,
    EIDETIC_PNG_OUT_OF_MEMORY = 3,
    EIDETIC_PNG_BAD_CHECKSUM = 4, // of a chunk of pixels
} eidetic_png_status;

/// A decoder that reads from memory, which must outlive it. It knows no APNG chunks.
typedef struct eidetic_png_decoder eidetic_png_decoder;

/// NULL where there is no memory.
eidetic_png_decoder *eidetic_png_decoder_create(const uint8_t *bytes, size_t count);
void eidetic_png_decoder_destroy(eidetic_png_decoder *decoder);

/// Reads up to the pixels and asks for rows of 8-bit R, G, B, A; 16-bit samples are rounded, not cut.
/// With `trusts_adler` wrong checksums of chunks do not matter, but the one of the pixels themselves must be right.
eidetic_png_status eidetic_png_start(
    eidetic_png_decoder *decoder, int trusts_adler, uint32_t *width, uint32_t *height, int *passes);

/// Reads the next `count` rows. All rows are read once in each pass, over what the pass before gave.
eidetic_png_status eidetic_png_read_rows(
    eidetic_png_decoder *decoder, uint8_t *rows, size_t bytes_per_row, uint32_t count);

/// Reads what follows the pixels, to the end.
eidetic_png_status eidetic_png_finish(eidetic_png_decoder *decoder);

/// What the last failed call came to.
eidetic_png_status eidetic_png_last_status(const eidetic_png_decoder *decoder);
/// The number of bytes that were consumed.
size_t eidetic_png_offset(const eidetic_png_decoder *decoder);
const char *eidetic_png_message(const eidetic_png_decoder *decoder);

/// A decoder of a picture whose bytes come little by little; it takes each byte once.
typedef struct eidetic_png_feed eidetic_png_feed;

/// Rows of 8-bit R, G, B, A will be written to `pixels`, which must outlive it. NULL where there is no memory.
eidetic_png_feed *eidetic_png_feed_create(uint8_t *pixels, size_t bytes_per_row, uint32_t width, uint32_t height);
void eidetic_png_feed_destroy(eidetic_png_feed *feed);
/// Takes bytes that follow those before, the picture's first ones at first. After a failure there is no way on.
eidetic_png_status eidetic_png_feed_add(eidetic_png_feed *feed, const uint8_t *bytes, size_t count);
/// The rows from the top that were written, if only coarsely.
uint32_t eidetic_png_feed_rows(const eidetic_png_feed *feed);
/// Whether all of it is there.
int eidetic_png_feed_is_complete(const eidetic_png_feed *feed);

/// Encodes rows of R, G, B, A into memory that the caller frees with `free`; without `has_alpha` the fourth byte is
/// left out. `level` is zlib's, 0 to 9. On failure the message is written to `message`, of `capacity` bytes.
eidetic_png_status eidetic_png_encode(
    const uint8_t *pixels, size_t bytes_per_row, uint32_t width, uint32_t height, int has_alpha, int level,
    uint8_t **encoded, size_t *count, char *message, size_t capacity);

#endif
