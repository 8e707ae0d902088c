#pragma once

#include <stddef.h>
#include <stdint.h>

// libpng reports errors by longjmp, which Swift cannot import. Therefore only this target calls the library. No Swift
// frame may lie between a setjmp and its longjmp.

/// The outcome of a call.
typedef enum {
    EIDETIC_PNG_OK = 0,
    EIDETIC_PNG_FAILED = 1,
    EIDETIC_PNG_TRUNCATED = 2,
    EIDETIC_PNG_OUT_OF_MEMORY = 3,
    EIDETIC_PNG_BAD_CHECKSUM = 4, // of an IDAT chunk
} eidetic_png_status;

/// A decoder that reads from memory, which must outlive it. It ignores APNG chunks.
typedef struct eidetic_png_decoder eidetic_png_decoder;

/// Returns NULL if memory is exhausted.
eidetic_png_decoder *eidetic_png_decoder_create(const uint8_t *bytes, size_t count);
void eidetic_png_decoder_destroy(eidetic_png_decoder *decoder);

/// Reads up to the pixels and sets the output format to R, G, B, A of 8 bits, or with `is_deep` to samples of 16 bits
/// in the machine's order of bytes; samples of 16 bits are rounded to 8, not truncated. With `ignores_chunk_checksums`
/// only the Adler-32 checksum of the pixel data is verified. With `accepts_partial` rows are read until a few bytes
/// before the end of the bytes.
eidetic_png_status eidetic_png_start(
    eidetic_png_decoder *decoder, int ignores_chunk_checksums, int accepts_partial, int is_deep, uint32_t *width,
    uint32_t *height, int *passes);

/// Reads the next `count` rows. Each pass reads all rows once, over the result of the pass before.
eidetic_png_status eidetic_png_read_rows(
    eidetic_png_decoder *decoder, uint8_t *rows, size_t bytes_per_row, uint32_t count);

/// Reads the chunks after the pixels, to the end.
eidetic_png_status eidetic_png_finish(eidetic_png_decoder *decoder);

/// The status of the last failed call.
eidetic_png_status eidetic_png_last_status(const eidetic_png_decoder *decoder);
/// The number of bytes read so far.
size_t eidetic_png_offset(const eidetic_png_decoder *decoder);
const char *eidetic_png_message(const eidetic_png_decoder *decoder);

/// A decoder of an image whose bytes arrive gradually. It reads each byte once.
typedef struct eidetic_png_feed eidetic_png_feed;

/// Creates a decoder that writes rows of 8-bit R, G, B, A to `pixels`, which must outlive it. Returns NULL if memory is
/// exhausted.
eidetic_png_feed *eidetic_png_feed_create(uint8_t *pixels, size_t bytes_per_row, uint32_t width, uint32_t height);
void eidetic_png_feed_destroy(eidetic_png_feed *feed);
/// Decodes the next bytes of the file. After a failure the decoder cannot be used again.
eidetic_png_status eidetic_png_feed_add(eidetic_png_feed *feed, const uint8_t *bytes, size_t count);
/// The number of rows from the top that were written, possibly at a low resolution.
uint32_t eidetic_png_feed_rows(const eidetic_png_feed *feed);
/// Returns 1 if the whole image is decoded.
int eidetic_png_feed_is_complete(const eidetic_png_feed *feed);

/// Encodes rows of R, G, B, A into memory that the caller frees with `free`; without `has_alpha` the fourth byte is
/// ignored. At most 256 colours become a palette, and shades of grey one channel, unless `keeps_form` is not 0. `level`
/// is zlib's compression level, 0 to 9. On failure the message is written to `message`, of `capacity` bytes.
eidetic_png_status eidetic_png_encode(
    const uint8_t *pixels, size_t bytes_per_row, uint32_t width, uint32_t height, int has_alpha, int keeps_form,
    int level, uint8_t **encoded, size_t *count, char *message, size_t capacity);

/// Returns the library's version, such as "1.6.39".
const char *eidetic_png_version(void);
