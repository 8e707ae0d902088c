#include "CPixels.h"
#include "Kernels.h"

EIDETIC_INLINE size_t clamped(ptrdiff_t index, size_t count) {
    return index < 0 ? 0 : (size_t)index >= count ? count - 1 : (size_t)index;
}

enum { ROWS = 4 };

/// One pass over rows that lie `stride` bytes apart. The pixels beyond an end are those at the end.
EIDETIC_INLINE void blur_line(
    const uint8_t *from, size_t from_stride, uint8_t *to, size_t to_stride, size_t width, eidetic_box box,
    size_t rows) {
    const ptrdiff_t radius = (ptrdiff_t)box.radius;
    lanes sum[ROWS];
    for (size_t row = 0; row < rows; row++) {
        const uint8_t *line = from + row * from_stride;
        sum[row] = (lanes){0, 0, 0, 0};
        for (ptrdiff_t i = -radius; i <= radius; i++) sum[row] += load_lanes(line + 4 * clamped(i, width));
    }
    const lanes half = (lanes){1 << 23, 1 << 23, 1 << 23, 1 << 23};
    const ptrdiff_t last = (ptrdiff_t)width - 1;
    for (ptrdiff_t x = 0; x <= last; x++) {
        size_t left = 4 * clamped(x - radius - 1, width), right = 4 * clamped(x + radius + 1, width);
        size_t leaving = 4 * clamped(x - radius, width);
        for (size_t row = 0; row < rows; row++) {
            const uint8_t *line = from + row * from_stride;
            lanes next = load_lanes(line + right);
            lanes blurred = sum[row] * box.whole + (load_lanes(line + left) + next) * box.part + half;
            store_lanes(to + row * to_stride + 4 * x, blurred >> 24);
            sum[row] += next - load_lanes(line + leaving);
        }
    }
}

EIDETIC_INLINE void blur_rows(
    uint8_t *line, size_t stride, size_t width, eidetic_box box, uint8_t *scratch, size_t rows) {
    uint8_t *other = scratch;
    blur_line(line, stride, other, 4 * width, width, box, rows);
    blur_line(other, 4 * width, other + 4 * width * rows, 4 * width, width, box, rows);
    blur_line(other + 4 * width * rows, 4 * width, line, stride, width, box, rows);
}

EIDETIC_CLONES void eidetic_pixels_blur_rows(
    eidetic_pixels_target target, size_t width, size_t height, eidetic_box box, void *scratch) {
    size_t y = 0;
    for (; y + ROWS <= height; y += ROWS)
        blur_rows(target.pixels + y * target.stride, target.stride, width, box, scratch, ROWS);
    for (; y < height; y++) blur_rows(target.pixels + y * target.stride, target.stride, width, box, scratch, 1);
}

enum { STRIP = 64 };

/// One pass over a strip of columns, `STRIP` bytes wide, of which `count` are used.
EIDETIC_INLINE void blur_strip(
    const uint8_t *from, size_t from_stride, uint8_t *to, size_t to_stride, size_t height, eidetic_box box,
    size_t count) {
    const ptrdiff_t radius = (ptrdiff_t)box.radius;
    uint32_t sum[STRIP] = {0};
    for (ptrdiff_t i = -radius; i <= radius; i++) {
        const uint8_t *row = from + clamped(i, height) * from_stride;
        for (size_t x = 0; x < count; x++) sum[x] += row[x];
    }
    for (ptrdiff_t y = 0; y < (ptrdiff_t)height; y++) {
        const uint8_t *above = from + clamped(y - radius - 1, height) * from_stride;
        const uint8_t *below = from + clamped(y + radius + 1, height) * from_stride;
        const uint8_t *leaving = from + clamped(y - radius, height) * from_stride;
        uint8_t *row = to + (size_t)y * to_stride;
        for (size_t x = 0; x < count; x++) {
            uint32_t next = below[x];
            row[x] = (uint8_t)((sum[x] * box.whole + (above[x] + next) * box.part + (1 << 23)) >> 24);
            sum[x] += next - leaving[x];
        }
    }
}

EIDETIC_INLINE void blur_columns(
    uint8_t *pixels, size_t stride, size_t height, eidetic_box box, uint8_t *scratch, size_t count) {
    uint8_t *other = scratch + STRIP * height;
    blur_strip(pixels, stride, scratch, STRIP, height, box, count);
    blur_strip(scratch, STRIP, other, STRIP, height, box, count);
    blur_strip(other, STRIP, pixels, stride, height, box, count);
}

EIDETIC_CLONES void eidetic_pixels_blur_columns(
    eidetic_pixels_target target, size_t width, size_t height, eidetic_box box, void *scratch) {
    size_t x = 0, length = 4 * width;
    for (; x + STRIP <= length; x += STRIP)
        blur_columns(target.pixels + x, target.stride, height, box, scratch, STRIP);
    if (x < length) blur_columns(target.pixels + x, target.stride, height, box, scratch, length - x);
}

EIDETIC_INLINE uint8_t sharpened(int32_t value, int32_t blurred, int32_t amount, int32_t limit) {
    int32_t result = value + (((value - blurred) * amount + 128) >> 8);
    return (uint8_t)(result < 0 ? 0 : result > limit ? limit : result);
}

EIDETIC_CLONES void eidetic_pixels_sharpen(
    eidetic_pixels_target target, eidetic_pixels_source blurred, uint32_t amount) {
    for (size_t y = 0; y < blurred.height; y++) {
        const uint8_t *from = blurred.pixels + y * blurred.stride;
        uint8_t *to = target.pixels + y * target.stride;
        for (size_t x = 0; x < blurred.width; x++) {
            int32_t alpha = to[4 * x + 3];
            for (int channel = 0; channel < 3; channel++)
                to[4 * x + channel] = sharpened(to[4 * x + channel], from[4 * x + channel], (int32_t)amount, alpha);
        }
    }
}
