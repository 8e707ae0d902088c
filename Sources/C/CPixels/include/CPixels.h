#pragma once

#include <stddef.h>
#include <stdint.h>

#include "PixelAreas.h"
#include "Transforms.h"

// Loops over pixels of four bytes: red, green, blue, alpha. They are in C because the same loops in Swift are hundreds
// of times slower in debug builds, and because C compiles each loop several times, for newer processors.
//
// Source and target are the same memory or do not overlap.

/// Multiplies colours by alpha, rounded to nearest.
void eidetic_pixels_premultiply(eidetic_pixels_source source, eidetic_pixels_target target);

/// Divides colours by alpha, rounded to nearest; all channels become 0 if alpha is 0.
void eidetic_pixels_unpremultiply(eidetic_pixels_source source, eidetic_pixels_target target);

/// Converts C, M, Y, K, where 255 is full ink, to opaque R, G, B: R = (255 - C)(255 - K) / 255.
void eidetic_pixels_cmyk_to_rgb(eidetic_pixels_source source, eidetic_pixels_target target);

enum { EIDETIC_HDR_GAINS = 1024, EIDETIC_LIGHT_STEPS = 16384 };

/// The mapping of a high dynamic range to sRGB.
typedef struct {
    const float *light;      // of each of the 4,096 stored values, 1 is reference white; that of the scene in HLG
    const float *gains;      // at 1 + EIDETIC_HDR_GAINS lights in equal steps from 1 to `peak`
    const uint8_t *encoding; // the sRGB value of the light 0 to 1, in EIDETIC_LIGHT_STEPS steps
    float to_bt2020[9], to_srgb[9]; // between linear lights, row by row
    float peak;              // the light that becomes white
    float scene_scale;       // the display's light of the brightest scene; 0 if `light` is that of the display
} eidetic_hdr;

/// Maps colours of 8 bits, or of 16, to sRGB, and keeps alpha, which colours are not multiplied by.
void eidetic_hdr_map(
    eidetic_pixels_source source, const eidetic_hdr *map, int is_deep, eidetic_pixels_target target);

enum { EIDETIC_SHAPER_WHITE = EIDETIC_LIGHT_STEPS << 6, EIDETIC_SHAPER_COUNT = 256, EIDETIC_SHAPER_DEEP_COUNT = 4097 };

/// The conversion of colours by three curves and a matrix to sRGB.
typedef struct {
    const int32_t *light;  // of each value of red, then of green and blue (for 16 bits of each 16th), for four channels
    const uint8_t *levels; // the sRGB value of the light 0 to EIDETIC_SHAPER_WHITE, in EIDETIC_LIGHT_STEPS steps
} eidetic_shaper;

/// Converts colours of 8 bits, or of 16, to sRGB, and keeps alpha, which colours are not multiplied by.
void eidetic_shaper_convert(
    eidetic_pixels_source source, const eidetic_shaper *map, int is_deep, eidetic_pixels_target target);

/// Replaces each byte v by 255 - v, in place.
void eidetic_pixels_invert(uint8_t *bytes, size_t count);

/// Sets every alpha to 255, in place.
void eidetic_pixels_make_opaque(uint8_t *pixels, size_t count);

/// Sets every alpha of the target to the red of the source, and leaves the colours of the target.
void eidetic_pixels_copy_red_to_alpha(const uint8_t *source, uint8_t *target, size_t count);

/// Clamps colours to alpha, in place.
void eidetic_pixels_clamp_to_alpha(uint8_t *pixels, size_t count);

/// Converts pixels of `stride` bytes (3 or 4) in the order blue, green, red to red, green, blue, alpha. The fourth byte
/// is alpha if `has_alpha` is not 0. Works in place if the stride is 4.
void eidetic_pixels_swap_red_blue(const uint8_t *source, size_t count, size_t stride, int has_alpha, uint8_t *target);

/// Maps alpha of 0 to 255 to the limited range 16 to 235, in place.
void eidetic_pixels_narrow_alpha(uint8_t *pixels, size_t count);

/// Blends `source` over `target`, both with straight alpha.
void eidetic_pixels_blend(eidetic_pixels_source source, eidetic_pixels_target target);

/// Rotates and mirrors an image to its upright position; `orientation` is the EXIF value, 1 to 8. Writes `rows` of the
/// target only.
void eidetic_pixels_orient(
    eidetic_pixels_source source, eidetic_rows rows, int orientation, eidetic_pixels_target target);

/// The size of a cell in pixels, at most 256 per side.
typedef struct {
    size_t width, height;
} eidetic_cell;

/// Averages the pixels of each cell; cells at the right and lower edges may be smaller.
/// The target has ceil(source.width / cell.width) x ceil(source.height / cell.height) pixels. `scratch` holds
/// 8 * source.width bytes. With `premultiply` colours are multiplied by alpha first.
void eidetic_pixels_average(
    eidetic_pixels_source source, eidetic_cell cell, int premultiply, eidetic_pixels_target target, void *scratch);

/// One axis of a convolution: for each target pixel the first source pixel and `taps` weights, which sum to 1 << 14.
typedef struct {
    const int32_t *first;
    const int16_t *weights;
    size_t taps;
} eidetic_filter;

/// Filters rows horizontally to `target_width` pixels, whose channels are 16-bit numbers with 6 fractional bits.
/// `scratch` holds 4 * source.width bytes.
void eidetic_pixels_filter_rows(
    eidetic_pixels_source source, int premultiply, eidetic_filter filter, size_t target_width, int16_t *target,
    uint8_t *scratch);

/// Filters the columns of the results of `eidetic_pixels_filter_rows`; those from `first_row` on are at `source`. With
/// `has_alpha` colours are clamped to alpha, as premultiplied pixels require.
void eidetic_pixels_filter_columns(
    const int16_t *source, size_t first_row, size_t width, eidetic_filter filter, size_t target_height, int has_alpha,
    eidetic_pixels_target target);

/// Reverses the filters of `count` rows of a PNG, in place. Each row is the number of its filter and `length` bytes.
/// `above` is the row before the first, without the number. `pixel_bytes` is the size of a pixel, 1 to 4 bytes.
/// Returns the number of rows before the first unknown filter.
size_t eidetic_png_unfilter(uint8_t *rows, size_t length, size_t count, size_t pixel_bytes, const uint8_t *above);

/// Expands grey, grey and alpha, or red, green and blue (`channels` 1, 2 or 3) to four bytes per pixel.
void eidetic_pixels_expand(const uint8_t *source, size_t count, int channels, uint8_t *target);

/// Returns 1 if red, green and blue of every pixel are equal; otherwise 0 as soon as they are not. Writes one byte for
/// each pixel, without padding, unless `target` is NULL.
int eidetic_pixels_pack_grey(eidetic_pixels_source source, uint8_t *target);

/// Makes all pixels of exactly this colour transparent.
void eidetic_pixels_key_out(uint8_t *pixels, size_t count, uint8_t red, uint8_t green, uint8_t blue);

/// Replaces indices by colours; `colours` has 256 entries of four bytes.
void eidetic_pixels_map_indices(const uint8_t *indices, size_t count, const uint8_t *colours, uint8_t *target);

/// Finds at most `limit` (1 to 255) colours for `count` pixels, and the index of each pixel's colour. Pixels with an
/// alpha below 128 get the index after the last colour. `colours` has room for `limit` entries of three bytes. Returns
/// the number of colours, or -1 if memory is exhausted.
int eidetic_pixels_quantize(const uint8_t *pixels, size_t count, int limit, uint8_t *colours, uint8_t *indices);

/// The outcome of a decompression. The output up to a failure is valid.
typedef enum {
    EIDETIC_LZW_OK = 0,
    EIDETIC_LZW_TRUNCATED = 1,
    EIDETIC_LZW_CORRUPT = 2,
    EIDETIC_LZW_ENDED = 3, // the data ends before the target is full: with an end code, or without any code
} eidetic_lzw_status;

/// Decompresses GIF's LZW data from its sub-blocks to at most `capacity` bytes; ignores any excess.
eidetic_lzw_status eidetic_lzw_decompress(
    const uint8_t *source, size_t count, int code_size, uint8_t *target, size_t capacity, size_t *written);

/// A resumable decompression of sub-blocks that arrive gradually; it reads each byte once.
typedef struct eidetic_lzw eidetic_lzw;

/// Returns NULL if `code_size` is invalid or memory is exhausted.
eidetic_lzw *eidetic_lzw_create(int code_size);
void eidetic_lzw_destroy(eidetic_lzw *lzw);
/// Continues with `source`, which has the same start as in the last call, and with the unchanged `target`. `written` is
/// the total so far. If the source ends before `target` is full, the status is "truncated", and the next call
/// continues.
eidetic_lzw_status eidetic_lzw_continue(
    eidetic_lzw *lzw, const uint8_t *source, size_t count, uint8_t *target, size_t capacity, size_t *written);
/// The number of bytes of `source` read so far.
size_t eidetic_lzw_consumed(const eidetic_lzw *lzw);
