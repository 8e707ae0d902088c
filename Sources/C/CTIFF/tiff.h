// What the files of this target share.
#pragma once
#include <tiffio.h>

#include "CTIFF.h"

// How samples become pixels.
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
    bool tiled;
    bool direct;         // read by our own code; else by TIFFRGBAImage
    color_kind kind;
    unsigned colors;     // samples that are colour
    bool has_alpha;      // the next sample is alpha
    uint8_t palette[256][4];
};

// Decodes rows of one-dimensional fax codes, a set bit for black; false where some are wrong.
bool tiff_read_fax(
    const uint8_t *bytes, size_t count, bool is_reversed, uint32_t width, uint32_t height, uint8_t *rows,
    size_t bytes_per_row);

// Brings `count` samples to 8 bits, in full range; with `scaled` false as they are. Writes every `step`-th byte.
void tiff_unpack(
    const uint8_t *source, size_t count, unsigned bits, unsigned format, bool scaled, uint8_t *samples, size_t step);
