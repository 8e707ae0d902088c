#ifndef EIDETIC_PIXELS_H
#define EIDETIC_PIXELS_H

#include <stddef.h>
#include <stdint.h>

// Loops over pixels of four bytes: red, green, blue, alpha. In C because the same loops in Swift are hundreds of times
// slower in debug builds, and because the compiler makes copies of each for newer processors, chosen at run time.
//
// All row lengths ("stride") are in bytes. Source and destination are the same memory or do not overlap at all.

/// Multiplies colours by alpha, rounded to nearest.
void eidetic_pixels_premultiply(
    const uint8_t *source, size_t source_stride, uint8_t *target, size_t target_stride, size_t width, size_t height);

/// Divides colours by alpha, rounded to nearest; where alpha is 0 all become 0.
void eidetic_pixels_unpremultiply(
    const uint8_t *source, size_t source_stride, uint8_t *target, size_t target_stride, size_t width, size_t height);

/// Turns C, M, Y, K, where 255 is full ink, into opaque R, G, B: R = (255 - C)(255 - K) / 255.
void eidetic_pixels_cmyk_to_rgb(
    const uint8_t *source, size_t source_stride, uint8_t *target, size_t target_stride, size_t width, size_t height);

/// Replaces each byte v by 255 - v, in place.
void eidetic_pixels_invert(uint8_t *bytes, size_t count);

/// Sets every alpha to 255, in place.
void eidetic_pixels_make_opaque(uint8_t *pixels, size_t count);

/// Makes red, green, blue, alpha of blue, green, red and, with a `stride` of 4, a fourth byte, which is alpha where the
/// pixels have some. With a stride of 4 also in place.
void eidetic_pixels_swap(const uint8_t *source, size_t count, size_t stride, int has_alpha, uint8_t *target);

/// Brings alpha of 0 to 255 back to the 16 to 235 that it was stretched from, in place.
void eidetic_pixels_narrow_alpha(uint8_t *pixels, size_t count);

/// Lays `source` over `target`, both not premultiplied.
void eidetic_pixels_blend(
    const uint8_t *source, size_t source_stride, uint8_t *target, size_t target_stride, size_t width, size_t height);

/// Whether every alpha is 255.
int eidetic_pixels_are_opaque(const uint8_t *pixels, size_t stride, size_t width, size_t height);

/// Turns a picture of `width` x `height` upright; `orientation` is the EXIF value, 2 to 8.
void eidetic_pixels_turn(
    const uint8_t *source, size_t source_stride, size_t width, size_t height, uint8_t *target, size_t target_stride,
    int orientation);

/// Averages cells of `across` x `down` pixels, each at most 256; cells at the right and lower edge may be cut off.
/// The target has ceil(width / across) x ceil(height / down) pixels. `scratch` holds 8 * width bytes.
/// With `premultiply` colours are multiplied by alpha first.
void eidetic_pixels_box(
    const uint8_t *source, size_t source_stride, size_t width, size_t height, size_t across, size_t down,
    int premultiply, uint8_t *target, size_t target_stride, void *scratch);

/// One axis of a convolution: for each target pixel the first source pixel and `taps` weights, which sum to 1 << 14.
typedef struct {
    const int32_t *first;
    const int16_t *weights;
    size_t taps;
} eidetic_filter;

/// Filters rows horizontally to `target_width` pixels; channels come out as 16-bit numbers with 6 fractional bits.
/// `scratch` holds 4 * width bytes.
void eidetic_pixels_filter_rows(
    const uint8_t *source, size_t source_stride, size_t width, size_t height, int premultiply, eidetic_filter filter,
    size_t target_width, int16_t *target, uint8_t *scratch);

/// Filters columns of what `eidetic_pixels_filter_rows` gave. With `has_alpha` colours are cut off at alpha, as
/// premultiplied ones must be.
void eidetic_pixels_filter_columns(
    const int16_t *source, size_t width, eidetic_filter filter, size_t target_height, int has_alpha, uint8_t *target,
    size_t target_stride);

/// Undoes the filters of `count` rows of a PNG, in place. Each row has its filter's number, then `length` bytes.
/// `above` is the row before the first, without its number. Gives the number of rows done; fewer where a filter is
/// unknown. `pixel` is the number of bytes of a pixel, 1 to 4.
size_t eidetic_png_unfilter(uint8_t *rows, size_t length, size_t count, size_t pixel, const uint8_t *above);

/// Makes four bytes of each grey value, grey and alpha, or red, green and blue (`channels` 1, 2 or 3).
void eidetic_pixels_expand(const uint8_t *source, size_t count, int channels, uint8_t *target);

/// Makes pixels of exactly this colour transparent.
void eidetic_pixels_key_out(uint8_t *pixels, size_t count, uint8_t red, uint8_t green, uint8_t blue);

/// Replaces colour numbers by colours; `colours` has 256 of four bytes.
void eidetic_pixels_look_up(const uint8_t *indices, size_t count, const uint8_t *colours, uint8_t *target);

/// Finds at most `limit` (1 to 255) colours for a picture of `count` pixels, and the number of each pixel's colour.
/// Pixels with an alpha below 128 get the number behind the last colour. Gives the number of colours, -1 where there is
/// no memory. `colours` has room for `limit` of three bytes.
int eidetic_pixels_quantize(const uint8_t *pixels, size_t count, int limit, uint8_t *colours, uint8_t *indices);

/// What a decompression came to. In each case what came before stays valid.
typedef enum { EIDETIC_LZW_OK = 0, EIDETIC_LZW_TRUNCATED = 1, EIDETIC_LZW_CORRUPT = 2 } eidetic_lzw_status;

/// Decompresses the LZW of GIF from its sub-blocks, at most `capacity` bytes; what is too much is ignored.
eidetic_lzw_status eidetic_lzw_decompress(
    const uint8_t *source, size_t count, int code_size, uint8_t *target, size_t capacity, size_t *written);

/// A decompression that goes on as more of the sub-blocks comes; each byte is read once.
typedef struct eidetic_lzw eidetic_lzw;

/// NULL for a `code_size` that cannot be, or where there is no memory.
eidetic_lzw *eidetic_lzw_create(int code_size);
void eidetic_lzw_destroy(eidetic_lzw *lzw);
/// Goes on with `source`, which begins as it did before, to a `target` that is as it was left. `written` is all so far;
/// where the source ends before `target` is full the status is "truncated", and the next call goes on.
eidetic_lzw_status eidetic_lzw_continue(
    eidetic_lzw *lzw, const uint8_t *source, size_t count, uint8_t *target, size_t capacity, size_t *written);
/// The bytes of `source` that were read.
size_t eidetic_lzw_consumed(const eidetic_lzw *lzw);

#endif
