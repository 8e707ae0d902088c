// Declarations that the files of this target share.
#pragma once
#include <tiffio.h>

#include "CTIFF.h"

// The conversion of samples to pixels.
typedef enum { GREY, INVERTED_GREY, RGB, PALETTE, CMYK } color_kind;

struct eidetic_tiff {
    TIFF *file;
    const uint8_t *bytes;
    uint64_t count, position;
    bool reads_past_end;
    size_t memory_limit;
    eidetic_codec_outcome error;  // the last message of the library

    uint32_t width, height;
    uint16_t bits, samples, format, photometric, planes, compression;
    bool is_tiled;
    bool is_direct;      // decoded by this target; otherwise by TIFFRGBAImage
    color_kind kind;
    unsigned colors;     // the number of colour samples
    bool has_alpha;      // the next sample is alpha
    uint8_t palette[256][4];
};

// Decodes rows of one-dimensional fax codes, with set bits for black; returns false if a row is corrupt.
bool tiff_read_fax(
    const uint8_t *bytes, size_t count, bool is_reversed, uint32_t width, uint32_t height, uint8_t *rows,
    size_t bytes_per_row);

// Converts `count` samples to 8 bits, scaled to the full range if `scales` is true. Writes every `step`-th byte.
void tiff_unpack(
    const uint8_t *source, size_t count, unsigned bits, unsigned format, bool scales, uint8_t *samples, size_t step);
