// Pixel loops of Windows and OS/2 bitmaps. They are in C because a loop over pixels in Swift is some hundred times
// slower in debug builds, and tests are debug builds. Headers are read, and all sizes checked, in Swift.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Where one channel of a pixel lies: its mask, shifted down by `shift`, has the largest value `maximum`, which becomes
// `highest`. Where it has no bits, `maximum` is 0, and every pixel has `highest`.
typedef struct {
    uint32_t mask;
    uint32_t shift;
    uint32_t maximum;
    uint8_t highest;
} eidetic_bitmap_channel;

// One row of 1, 2, 4 or 8 bits a pixel. The palette has 256 colours of four bytes: red, green, blue, alpha.
void eidetic_bitmap_indexed(
    uint8_t *pixels, const uint8_t *row, size_t width, unsigned bits, const uint8_t *palette);

// One row of 16, 24 or 32 bits a pixel: little-endian numbers of `stride` bytes (2, 3 or 4).
void eidetic_bitmap_fields(
    uint8_t *pixels, const uint8_t *row, size_t width, unsigned stride, const eidetic_bitmap_channel channels[4]);

// Makes pixels transparent whose bit in an icon's mask is set.
void eidetic_bitmap_mask(uint8_t *pixels, const uint8_t *row, size_t width);

// Sets the alpha of a row to 255.
void eidetic_bitmap_opaque(uint8_t *pixels, size_t width);

// Whether no pixel of a row has any alpha.
bool eidetic_bitmap_is_clear(const uint8_t *pixels, size_t width);

typedef struct {
    const uint8_t *bytes;
    size_t count;
    size_t offset;  // of the next code
    size_t x, y;    // of the next pixel; y counts from the first stored row
} eidetic_bitmap_runs;

typedef enum {
    EIDETIC_RUNS_ROW,        // the row is complete
    EIDETIC_RUNS_END,        // the picture's end was coded
    EIDETIC_RUNS_TRUNCATED,  // the codes end before the picture does
} eidetic_bitmap_runs_result;

// Decodes RLE4 or RLE8 codes up to the end of row `runs->y`. `indices` is that row, one byte a pixel; what the codes
// skip stays as it was, and what they write beyond the width is dropped. After the call `runs->y` may be further than
// one row: rows in between were skipped.
eidetic_bitmap_runs_result eidetic_bitmap_run_row(
    eidetic_bitmap_runs *runs, uint8_t *indices, size_t width, unsigned bits);
