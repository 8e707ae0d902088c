#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// libjpeg reports errors by longjmp, which Swift cannot import, and its entry points are macros. Therefore only this
// target calls the library. No Swift frame may lie between a setjmp and its longjmp.

/// The outcome of a call.
typedef enum {
    EIDETIC_JPEG_OK = 0,
    EIDETIC_JPEG_FAILED = 1,
    EIDETIC_JPEG_OUT_OF_MEMORY = 2,
    EIDETIC_JPEG_UNSUPPORTED = 3,
    EIDETIC_JPEG_TOO_MANY_SCANS = 4,
} eidetic_jpeg_status;

// The maximum number of scans, as in Skia. Each scan takes time for all pixels, though it may have a few bytes only.
enum { EIDETIC_JPEG_MAXIMUM_SCANS = 100 };

/// The meaning of the four bytes of a decoded pixel. 255 is no ink, with and without Adobe's marker, as in browsers.
typedef enum { EIDETIC_JPEG_RGBA = 0, EIDETIC_JPEG_CMYK = 1 } eidetic_jpeg_model;

/// The sizes of the stored image and of the decoded one, in pixels, and the form of the latter.
typedef struct {
    uint32_t stored_width, stored_height, width, height;
    eidetic_jpeg_model model;
} eidetic_jpeg_info;

/// A decoder that reads from memory, which must outlive it.
typedef struct eidetic_jpeg_decoder eidetic_jpeg_decoder;

/// Returns NULL if memory is exhausted.
eidetic_jpeg_decoder *eidetic_jpeg_decoder_create(const uint8_t *bytes, size_t count);
void eidetic_jpeg_decoder_destroy(eidetic_jpeg_decoder *decoder);

/// Reads up to the first scan. The decoded image has `scale` (1, 2, 4 or 8) eighths of the stored size, rounded up.
eidetic_jpeg_status eidetic_jpeg_read_header(eidetic_jpeg_decoder *decoder, unsigned scale);

/// Reads one more row of blocks of an image with several scans; sets `is_done` after the last row.
/// For an image with one scan `is_done` is set at once.
eidetic_jpeg_status eidetic_jpeg_consume_input(eidetic_jpeg_decoder *decoder, int *is_done);

/// Starts the output of rows.
eidetic_jpeg_status eidetic_jpeg_start(eidetic_jpeg_decoder *decoder);

/// Decodes up to `count` rows of four bytes per pixel; sets `read` to the number of rows, which is at least 1 on
/// success.
eidetic_jpeg_status eidetic_jpeg_read_rows(
    eidetic_jpeg_decoder *decoder, uint8_t *rows, size_t bytes_per_row, unsigned count, unsigned *read);

/// Valid after `eidetic_jpeg_read_header`.
eidetic_jpeg_info eidetic_jpeg_decoder_info(const eidetic_jpeg_decoder *decoder);

/// Returns 1 if image data is missing because the file is truncated.
int eidetic_jpeg_is_truncated(const eidetic_jpeg_decoder *decoder);
/// Returns 1 if image data is damaged and the library has guessed some pixels.
int eidetic_jpeg_is_damaged(const eidetic_jpeg_decoder *decoder);
/// The number of bytes read so far.
size_t eidetic_jpeg_offset(const eidetic_jpeg_decoder *decoder);
/// The library's last error message, or its first warning about damage.
const char *eidetic_jpeg_message(const eidetic_jpeg_decoder *decoder);

/// A decoder of an image whose bytes arrive gradually. It reads each byte once and suspends when the input ends.
typedef struct eidetic_jpeg_feed eidetic_jpeg_feed;

/// Returns NULL if memory is exhausted.
eidetic_jpeg_feed *eidetic_jpeg_feed_create(void);
void eidetic_jpeg_feed_destroy(eidetic_jpeg_feed *feed);

/// Sets the input: all bytes from the start of the file, at least as many as before.
/// They must stay valid until `eidetic_jpeg_feed_clear_input`; calls that decode are valid only in between.
void eidetic_jpeg_feed_set_input(eidetic_jpeg_feed *feed, const uint8_t *bytes, size_t count);
void eidetic_jpeg_feed_clear_input(eidetic_jpeg_feed *feed, size_t count);

/// Reads up to the first scan; `is_done` is 0 if the input ends before it. See `eidetic_jpeg_read_header` for `scale`.
eidetic_jpeg_status eidetic_jpeg_feed_start(eidetic_jpeg_feed *feed, unsigned scale, int *is_done);
/// Reads one more row of blocks of an image with several scans; sets `is_done` if the input has no more.
eidetic_jpeg_status eidetic_jpeg_feed_consume_input(eidetic_jpeg_feed *feed, int *is_done);
/// Starts the output of the best available scan, or continues the output of the only scan.
eidetic_jpeg_status eidetic_jpeg_feed_start_pass(eidetic_jpeg_feed *feed);
/// Writes up to `count` more rows to their position in `pixels`, which holds all rows; sets `read` to their number,
/// which is 0 if the input has no more.
eidetic_jpeg_status eidetic_jpeg_feed_read_rows(
    eidetic_jpeg_feed *feed, uint8_t *pixels, size_t bytes_per_row, unsigned count, unsigned *read);

size_t eidetic_jpeg_feed_consumed(const eidetic_jpeg_feed *feed);
/// Valid after `eidetic_jpeg_feed_start`.
eidetic_jpeg_info eidetic_jpeg_feed_info(const eidetic_jpeg_feed *feed);
/// Returns 1 in a later pass than the first; it shows complete scans, so it writes all rows at once, also those that an
/// earlier pass has written.
int eidetic_jpeg_feed_is_later_pass(const eidetic_jpeg_feed *feed);
/// The number of rows from the top that any pass has written.
unsigned eidetic_jpeg_feed_rows(const eidetic_jpeg_feed *feed);
/// Returns 1 if all rows have their final quality.
int eidetic_jpeg_feed_is_complete(eidetic_jpeg_feed *feed);

/// The form of an encoded image: its quality from 1 to 100, also between two whole numbers; `chroma` is 1 for full
/// colour resolution (4:4:4), 2 for half the resolution in both directions (4:2:0).
typedef struct {
    double quality;
    int chroma;
    bool is_progressive;
} eidetic_jpeg_form;

/// Encodes rows of four bytes per pixel (the fourth is ignored) into memory that the caller frees with `free`.
/// On failure the message is written to `message`, of `capacity` bytes.
eidetic_jpeg_status eidetic_jpeg_encode(
    const uint8_t *pixels, size_t bytes_per_row, uint32_t width, uint32_t height, eidetic_jpeg_form form,
    uint8_t **encoded, size_t *count, char *message, size_t capacity);

/// Returns the version of the library's headers: `major` · 1000000 + `minor` · 1000 + `patch`.
///
/// The library itself has no function that tells its version.
unsigned eidetic_jpeg_version(void);
