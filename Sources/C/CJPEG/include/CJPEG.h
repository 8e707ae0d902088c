#ifndef EIDETIC_JPEG_H
#define EIDETIC_JPEG_H

#include <stddef.h>
#include <stdint.h>

// libjpeg reports errors by longjmp, which Swift cannot import, and its entry points are macros. Every call into the
// library therefore stays in this target; no Swift frame ever lies between a setjmp and its longjmp.

/// What a call came to.
typedef enum {
    EIDETIC_JPEG_OK = 0,
    EIDETIC_JPEG_FAILED = 1,
    EIDETIC_JPEG_OUT_OF_MEMORY = 2,
    EIDETIC_JPEG_UNSUPPORTED = 3,
    EIDETIC_JPEG_TRUNCATED = 4, // of the lossless process only
} eidetic_jpeg_status;

/// What the four bytes of a decoded pixel are.
typedef enum { EIDETIC_JPEG_RGBA = 0, EIDETIC_JPEG_CMYK = 1, EIDETIC_JPEG_INVERTED_CMYK = 2 } eidetic_jpeg_model;

/// A decoder that reads from memory, which must outlive it.
typedef struct eidetic_jpeg_decoder eidetic_jpeg_decoder;

/// NULL where there is no memory.
eidetic_jpeg_decoder *eidetic_jpeg_decoder_create(const uint8_t *bytes, size_t count);
void eidetic_jpeg_decoder_destroy(eidetic_jpeg_decoder *decoder);

/// Reads up to the first scan. With `scale` (1, 2, 4 or 8) the picture comes at that many eighths of its size, rounded up.
eidetic_jpeg_status eidetic_jpeg_read_header(eidetic_jpeg_decoder *decoder, unsigned scale);

/// Absorbs one more row of blocks of a picture with several scans; sets `done` after the last.
/// A picture with one scan is done at once.
eidetic_jpeg_status eidetic_jpeg_absorb(eidetic_jpeg_decoder *decoder, int *done);

/// Begins to give rows.
eidetic_jpeg_status eidetic_jpeg_start(eidetic_jpeg_decoder *decoder);

/// Decodes up to `count` rows of four bytes a pixel; gives the number of rows in `read`, which is at least 1 on success.
eidetic_jpeg_status eidetic_jpeg_read_rows(
    eidetic_jpeg_decoder *decoder, uint8_t *rows, size_t bytes_per_row, unsigned count, unsigned *read);

/// Facts, valid after the header.
uint32_t eidetic_jpeg_stored_width(const eidetic_jpeg_decoder *decoder);
uint32_t eidetic_jpeg_stored_height(const eidetic_jpeg_decoder *decoder);
uint32_t eidetic_jpeg_output_width(const eidetic_jpeg_decoder *decoder);
uint32_t eidetic_jpeg_output_height(const eidetic_jpeg_decoder *decoder);
eidetic_jpeg_model eidetic_jpeg_output_model(const eidetic_jpeg_decoder *decoder);

/// Whether image data was missing because the bytes ended too early.
int eidetic_jpeg_is_truncated(const eidetic_jpeg_decoder *decoder);
/// Whether image data was damaged and the library went on with a guess.
int eidetic_jpeg_is_damaged(const eidetic_jpeg_decoder *decoder);
/// The number of bytes that were consumed.
size_t eidetic_jpeg_offset(const eidetic_jpeg_decoder *decoder);
/// The library's last error, or its first warning about damage.
const char *eidetic_jpeg_message(const eidetic_jpeg_decoder *decoder);

/// A decoder of a picture whose bytes come little by little: it takes each byte once, and stops where there are no more.
typedef struct eidetic_jpeg_feed eidetic_jpeg_feed;

/// NULL where there is no memory.
eidetic_jpeg_feed *eidetic_jpeg_feed_create(void);
void eidetic_jpeg_feed_destroy(eidetic_jpeg_feed *feed);

/// Lends the bytes from the picture's first on, at least as many as before, until they are taken back.
/// All other calls need them, up to those that ask for facts.
void eidetic_jpeg_feed_give(eidetic_jpeg_feed *feed, const uint8_t *beginning, size_t count);
void eidetic_jpeg_feed_take_back(eidetic_jpeg_feed *feed, size_t count);

/// Reads up to the first scan; `is_done` is 0 where the bytes end before. `scale` as above.
eidetic_jpeg_status eidetic_jpeg_feed_start(eidetic_jpeg_feed *feed, unsigned scale, int *is_done);
/// Absorbs one more row of blocks of a picture with several scans; `is_done` where there is no more now.
eidetic_jpeg_status eidetic_jpeg_feed_absorb(eidetic_jpeg_feed *feed, int *is_done);
/// Begins to give the rows of the best scan there is; goes on with those of the only one.
eidetic_jpeg_status eidetic_jpeg_feed_begin_pass(eidetic_jpeg_feed *feed);
/// Writes up to `count` rows more to their place in `pixels`, which has all rows; none are `read` where there is no more.
eidetic_jpeg_status eidetic_jpeg_feed_read_rows(
    eidetic_jpeg_feed *feed, uint8_t *pixels, size_t bytes_per_row, unsigned count, unsigned *read);

/// Facts, valid after the start.
size_t eidetic_jpeg_feed_consumed(const eidetic_jpeg_feed *feed);
uint32_t eidetic_jpeg_feed_width(const eidetic_jpeg_feed *feed);
uint32_t eidetic_jpeg_feed_height(const eidetic_jpeg_feed *feed);
eidetic_jpeg_model eidetic_jpeg_feed_model(const eidetic_jpeg_feed *feed);
/// The rows from the top that were written in some pass.
unsigned eidetic_jpeg_feed_rows(const eidetic_jpeg_feed *feed);
/// Whether these are all rows at their best.
int eidetic_jpeg_feed_is_complete(eidetic_jpeg_feed *feed);

/// A decoder of the lossless process, grey or RGB, which reads from memory that must outlive it.
typedef struct eidetic_lossless eidetic_lossless;

/// Reads up to the scan.
eidetic_jpeg_status eidetic_lossless_create(const uint8_t *bytes, size_t count, eidetic_lossless **result);
void eidetic_lossless_destroy(eidetic_lossless *decoder);
uint32_t eidetic_lossless_width(const eidetic_lossless *decoder);
uint32_t eidetic_lossless_height(const eidetic_lossless *decoder);

/// Decodes the next `count` rows to R, G, B, A. What is missing or broken ends it: rows from there on are not written.
eidetic_jpeg_status eidetic_lossless_read_rows(
    eidetic_lossless *decoder, uint8_t *rows, size_t bytes_per_row, uint32_t count);

/// Encodes rows of four bytes a pixel (the fourth is ignored) into memory that the caller frees with `free`.
/// `chroma` is 1 for full colour resolution (4:4:4), 2 for half in both directions (4:2:0).
/// On failure the message is written to `message`, of `capacity` bytes.
eidetic_jpeg_status eidetic_jpeg_encode(
    const uint8_t *pixels, size_t bytes_per_row, uint32_t width, uint32_t height, int quality, int chroma,
    uint8_t **encoded, size_t *count, char *message, size_t capacity);

#endif
