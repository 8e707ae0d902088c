#include <string.h>

#include "CPixels.h"
#include "Clones.h"

typedef uint32_t four_pixels __attribute__((vector_size(16)));

EIDETIC_INLINE four_pixels load(const uint8_t *pixels) {
    four_pixels value;
    memcpy(&value, pixels, 16);
    return value;
}

EIDETIC_INLINE void store(uint8_t *pixels, four_pixels value) { memcpy(pixels, &value, 16); }

typedef uint32_t many_pixels __attribute__((vector_size(64)));

/// Copies 16 pixels in reverse order.
EIDETIC_INLINE void copy_reversed(const uint8_t *from, uint8_t *to) {
    many_pixels value;
    memcpy(&value, from, 64);
    value = __builtin_shufflevector(value, value, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    memcpy(to, &value, 64);
}

/// The pixels of the source in the order of the target's: a step right or down in the target is a step of `right` or
/// `down` bytes in the source.
typedef struct {
    const uint8_t *first;
    ptrdiff_t right, down;
} steps;

EIDETIC_INLINE void copy_pixel(steps from, size_t x, size_t y, eidetic_pixels_target target) {
    const uint8_t *pixel = from.first + (ptrdiff_t)x * from.right + (ptrdiff_t)y * from.down;
    memcpy(target.pixels + y * target.stride + 4 * x, pixel, 4);
}

/// Copies four rows of four pixels whose columns are rows of the source; `right` is the step of a row there, and `down`
/// one pixel forward or back.
EIDETIC_INLINE void transpose(steps from, size_t x, size_t y, eidetic_pixels_target target) {
    const int is_back = from.down < 0;
    const uint8_t *corner = from.first + (ptrdiff_t)x * from.right + (ptrdiff_t)(is_back ? y + 3 : y) * from.down;
    four_pixels a = load(corner), b = load(corner + from.right);
    four_pixels c = load(corner + 2 * from.right), d = load(corner + 3 * from.right);
    four_pixels ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    four_pixels ef = __builtin_shufflevector(a, b, 2, 6, 3, 7), gh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    four_pixels rows[4] = {
        __builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
        __builtin_shufflevector(ef, gh, 0, 1, 4, 5), __builtin_shufflevector(ef, gh, 2, 3, 6, 7)};
    for (size_t row = 0; row < 4; row++)
        store(target.pixels + (y + row) * target.stride + 4 * x, rows[is_back ? 3 - row : row]);
}

enum { TILE = 16 };

/// Copies columns of the source to rows. Works in tiles, so that steps across rows stay in the processor's cache.
EIDETIC_INLINE void transpose_rows(steps from, size_t width, eidetic_rows rows, eidetic_pixels_target target) {
    const size_t whole_width = width / 4 * 4, whole_end = rows.first + (rows.end - rows.first) / 4 * 4;
    for (size_t top = rows.first; top < whole_end; top += TILE)
        for (size_t left = 0; left < whole_width; left += TILE)
            for (size_t y = top; y < top + TILE && y < whole_end; y += 4)
                for (size_t x = left; x < left + TILE && x < whole_width; x += 4) transpose(from, x, y, target);
    for (size_t y = rows.first; y < whole_end; y++)
        for (size_t x = whole_width; x < width; x++) copy_pixel(from, x, y, target);
    for (size_t y = whole_end; y < rows.end; y++)
        for (size_t x = 0; x < width; x++) copy_pixel(from, x, y, target);
}

/// Copies rows, each as it is.
EIDETIC_INLINE void copy_rows(steps from, size_t width, eidetic_rows rows, eidetic_pixels_target target) {
    for (size_t y = rows.first; y < rows.end; y++)
        memcpy(target.pixels + y * target.stride, from.first + (ptrdiff_t)y * from.down, 4 * width);
}

/// Copies rows, each from right to left.
EIDETIC_INLINE void reverse_rows(steps from, size_t width, eidetic_rows rows, eidetic_pixels_target target) {
    for (size_t y = rows.first; y < rows.end; y++) {
        const uint8_t *last = from.first + (ptrdiff_t)y * from.down;
        uint8_t *to = target.pixels + y * target.stride;
        size_t x = 0;
        for (; x + 16 <= width; x += 16) copy_reversed(last - 4 * (x + 15), to + 4 * x);
        for (; x < width; x++) memcpy(to + 4 * x, last - 4 * x, 4);
    }
}

EIDETIC_CLONES void eidetic_pixels_orient(
    eidetic_pixels_source source, eidetic_rows rows, int orientation, eidetic_pixels_target target) {
    const size_t width = source.width, height = source.height;
    const ptrdiff_t row = (ptrdiff_t)source.stride;
    const uint8_t *first = source.pixels, *right_edge = first + 4 * (width - 1);
    const uint8_t *last_row = first + (height - 1) * source.stride, *corner = last_row + 4 * (width - 1);
    switch (orientation) {
    case 2: reverse_rows((steps){right_edge, -4, row}, width, rows, target); break;
    case 3: reverse_rows((steps){corner, -4, -row}, width, rows, target); break;
    case 4: copy_rows((steps){last_row, 4, -row}, width, rows, target); break;
    case 5: transpose_rows((steps){first, row, 4}, height, rows, target); break;
    case 6: transpose_rows((steps){last_row, -row, 4}, height, rows, target); break;
    case 7: transpose_rows((steps){corner, -row, -4}, height, rows, target); break;
    case 8: transpose_rows((steps){right_edge, row, -4}, height, rows, target); break;
    default: copy_rows((steps){first, 4, row}, width, rows, target); break;
    }
}
