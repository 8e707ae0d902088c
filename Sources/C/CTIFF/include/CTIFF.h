// libtiff, behind an interface that Swift can call: TIFFGetField and error handlers have variadic arguments. Pixel
// loops are in C because they are about a hundred times slower in Swift's debug builds.
#pragma once
#include <CCodec.h>

typedef struct eidetic_tiff eidetic_tiff;

typedef enum {
    EIDETIC_TIFF_OPAQUE,
    EIDETIC_TIFF_STRAIGHT,
    EIDETIC_TIFF_PREMULTIPLIED,
    EIDETIC_TIFF_CMYK,  // four inks, 255 is full ink; opaque
} eidetic_tiff_pixels;

typedef struct {
    uint32_t width, height;
    unsigned orientation;
    eidetic_tiff_pixels pixels;
    const uint8_t *icc;  // owned by the decoder; NULL without a profile
    size_t icc_count;
} eidetic_tiff_info;

// Opens the first page of a file in memory, which must stay valid until `eidetic_tiff_close`. `memory_limit` is the
// largest single allocation, in bytes. If `is_complete` is false, the outcome may be NEEDS_MORE. Returns NULL on
// failure.
eidetic_tiff *eidetic_tiff_open(
    const void *bytes, size_t count, bool is_complete, size_t memory_limit, eidetic_tiff_info *info,
    eidetic_codec_outcome *outcome);

void eidetic_tiff_close(eidetic_tiff *tiff);

// Decodes all pixels, four bytes each, as stored: without orientation and colour management. If a row cannot be
// decoded, `outcome` is a failure and the pixels of that row stay unchanged.
void eidetic_tiff_read(
    eidetic_tiff *tiff, uint8_t *pixels, size_t bytes_per_row, eidetic_codec_cancellation cancellation,
    eidetic_codec_outcome *outcome);

// Returns the library's version and copyright notice: "LIBTIFF, Version 4.5.0" is the first line.
const char *eidetic_tiff_version(void);
