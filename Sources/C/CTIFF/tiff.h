// Declarations that the files of this target share.
#pragma once
#include <tiffio.h>

#include "CTIFF.h"

// The conversion of samples to pixels.
typedef enum { GREY, INVERTED_GREY, RGB, CMYK } color_kind;

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
    bool has_alpha;
    unsigned alpha;      // the index of the alpha sample
};
