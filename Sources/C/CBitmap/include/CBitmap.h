// Pixel loops of Windows and OS/2 bitmaps. They are in C because a loop over pixels in Swift is about a hundred times
// slower in debug builds, and tests are debug builds. Swift code reads the headers and checks all sizes.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The position of one channel within a pixel. The masked bits, shifted down by `shift`, range from 0 to `maximum` and
// are scaled to 0 to `output_maximum`. A channel without bits has the `maximum` 0 and the value `output_maximum`.
typedef struct {
    uint32_t mask;
    uint32_t shift;
    uint32_t maximum;
    uint8_t output_maximum;
} eidetic_bitmap_channel;

// Expands one row of 1, 2, 4 or 8 bits per pixel. The palette has 256 colours of four bytes: red, green, blue, alpha.
void eidetic_bitmap_expand_indexed(
    uint8_t *pixels, const uint8_t *row, size_t width, unsigned bits, const uint8_t *palette);

// Expands one row of 16, 24 or 32 bits per pixel: little-endian numbers of `stride` bytes (2, 3 or 4).
void eidetic_bitmap_expand_masked(
    uint8_t *pixels, const uint8_t *row, size_t width, unsigned stride, const eidetic_bitmap_channel channels[4]);

// Makes each pixel transparent whose bit in an icon's mask is set.
void eidetic_bitmap_apply_mask(uint8_t *pixels, const uint8_t *row, size_t width);

// Returns true if all pixels of a row are fully transparent.
bool eidetic_bitmap_is_transparent(const uint8_t *pixels, size_t width);

// The position of a run-length decoder.
typedef struct {
    const uint8_t *bytes;
    size_t count;
    size_t offset;  // of the next code
    size_t x, y;    // of the next pixel; y counts from the first stored row
} eidetic_bitmap_runs;

typedef enum {
    EIDETIC_RUNS_ROW,        // the row is complete
    EIDETIC_RUNS_END,        // the end-of-bitmap code was read
    EIDETIC_RUNS_TRUNCATED,  // the codes end before the image does
} eidetic_bitmap_runs_result;

// Decodes RLE4, RLE8 or RLE24 codes up to the end of row `runs->y`. `indices` is that row, one byte per pixel, or three
// (blue, green, red) with 24 bits. Skipped pixels keep their value, and pixels beyond the width are dropped. After the
// call `runs->y` may have advanced by more than one row: the rows in between were skipped.
eidetic_bitmap_runs_result eidetic_bitmap_decode_runs(
    eidetic_bitmap_runs *runs, uint8_t *indices, size_t width, unsigned bits);
