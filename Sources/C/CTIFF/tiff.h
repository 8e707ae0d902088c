// Declarations that the files of this target share.
#pragma once
#include <tiffio.h>

#include "CTIFF.h"

// The conversion of samples to pixels.
typedef enum { GREY, INVERTED_GREY, RGB, PALETTE, CMYK, LAB } color_kind;

// The coding of CIE L*a*b*: the largest lightness, the steps of a unit of a* and b*, and whether these have an offset.
typedef struct {
    double lightness, scale;
    bool has_offset;
} tiff_lab_coding;

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
    uint8_t (*palette)[4];
    tiff_lab_coding lab;
};

// Returns true if a piece is coded with the lossless process of JPEG, which the library does not support.
bool tiff_is_lossless(const eidetic_tiff *tiff, uint32_t index);

// Decodes a piece of lossless JPEG to `rows`, each of `row_samples` samples, as the library lays them out.
bool tiff_read_lossless(
    const eidetic_tiff *tiff, uint32_t index, uint32_t row_samples, uint32_t height, uint8_t *rows,
    size_t bytes_per_row, eidetic_codec_outcome *outcome);

// Converts `count` pixels of CIE L*a*b* relative to D50, each of `step` samples, to sRGB. Alpha stays unchanged.
void tiff_convert_lab(
    const eidetic_tiff *tiff, const uint8_t *source, size_t count, size_t step, uint8_t *pixels);

// Returns an integer sample of any width.
uint64_t tiff_sample(const uint8_t *source, size_t index, unsigned bits);

// Returns a sample of 16, 32 or 64 bits as a number.
double tiff_float_sample(const uint8_t *source, size_t index, unsigned bits);

// Converts `count` samples to 8 bits, scaled to the full range. Writes every `step`-th byte.
void tiff_unpack(
    const uint8_t *source, size_t count, unsigned bits, unsigned format, uint8_t *samples, size_t step);
