// libtiff, behind an interface that Swift can call: TIFFGetField has a variable list of arguments, error handlers are C
// functions with one too, and the pixel loops would be some hundred times slower in Swift's debug builds.
#pragma once
#include <CCodec.h>

typedef struct eidetic_tiff eidetic_tiff;

typedef enum {
    EIDETIC_TIFF_OPAQUE,
    EIDETIC_TIFF_STRAIGHT,
    EIDETIC_TIFF_PREMULTIPLIED,
    EIDETIC_TIFF_CMYK,  // four inks, 255 is full; opaque
} eidetic_tiff_pixels;

typedef struct {
    uint32_t width, height;
    unsigned orientation;
    eidetic_tiff_pixels pixels;
    const uint8_t *icc;  // belongs to the picture; NULL without a profile
    size_t icc_count;
} eidetic_tiff_info;

// Opens the first page of a file in memory, which must stay until `eidetic_tiff_close`. No block of memory larger than
// `memory_limit` is taken from now on. With `is_complete` false, the outcome may be NEEDS_MORE. NULL on failure.
eidetic_tiff *eidetic_tiff_open(
    const void *bytes, size_t count, bool is_complete, size_t memory_limit, eidetic_tiff_info *info,
    eidetic_codec_outcome *outcome);

void eidetic_tiff_close(eidetic_tiff *tiff);

// Decodes all pixels, four bytes each, as stored: not turned, not colour-managed. Rows that could not be decoded are left
// as they are; `outcome` is then a failure.
void eidetic_tiff_read(
    eidetic_tiff *tiff, uint8_t *pixels, size_t bytes_per_row, eidetic_codec_watch watch,
    eidetic_codec_outcome *outcome);
