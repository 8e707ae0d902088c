#include <string.h>

#include "CPixels.h"
#include "Clones.h"

enum { TILE = 16 };

/// Copies an image of `width` x `height` target pixels. A step right or down in the target is a step of `right` or
/// `down` bytes in the source. Works in tiles, so that steps across rows stay in the processor's cache.
EIDETIC_INLINE void copy_tiles(
    const uint8_t *source, ptrdiff_t right, ptrdiff_t down, size_t width, size_t height, eidetic_pixels_target target) {
    for (size_t top = 0; top < height; top += TILE) {
        size_t bottom = top + TILE < height ? top + TILE : height;
        for (size_t left = 0; left < width; left += TILE) {
            size_t end = left + TILE < width ? left + TILE : width;
            for (size_t y = top; y < bottom; y++) {
                const uint8_t *from = source + (ptrdiff_t)y * down;
                uint8_t *to = target.pixels + y * target.stride;
                for (size_t x = left; x < end; x++) memcpy(to + 4 * x, from + (ptrdiff_t)x * right, 4);
            }
        }
    }
}

/// Copies rows from `first` on, each as it is; a step down is a step of `down` bytes in the source.
EIDETIC_INLINE void copy_rows(
    const uint8_t *first, ptrdiff_t down, size_t width, size_t height, eidetic_pixels_target target) {
    for (size_t y = 0; y < height; y++)
        memcpy(target.pixels + y * target.stride, first + (ptrdiff_t)y * down, 4 * width);
}

/// Copies rows from `last` on, the last pixel of the first row, each from right to left.
EIDETIC_INLINE void reverse_rows(
    const uint8_t *last, ptrdiff_t down, size_t width, size_t height, eidetic_pixels_target target) {
    for (size_t y = 0; y < height; y++) {
        const uint8_t *from = last + (ptrdiff_t)y * down;
        uint8_t *to = target.pixels + y * target.stride;
        for (size_t x = 0; x < width; x++) {
            uint32_t pixel;
            memcpy(&pixel, from - 4 * x, 4);
            memcpy(to + 4 * x, &pixel, 4);
        }
    }
}

EIDETIC_CLONES void eidetic_pixels_orient(
    eidetic_pixels_source source, eidetic_pixels_target target, int orientation) {
    const size_t width = source.width, height = source.height;
    const ptrdiff_t row = (ptrdiff_t)source.stride;
    const uint8_t *first = source.pixels, *right_edge = first + 4 * (width - 1);
    const uint8_t *last_row = first + (height - 1) * source.stride, *corner = last_row + 4 * (width - 1);
    switch (orientation) {
    case 2: reverse_rows(right_edge, row, width, height, target); break;
    case 3: reverse_rows(corner, -row, width, height, target); break;
    case 4: copy_rows(last_row, -row, width, height, target); break;
    case 5: copy_tiles(first, row, 4, height, width, target); break;
    case 6: copy_tiles(last_row, -row, 4, height, width, target); break;
    case 7: copy_tiles(corner, -row, -4, height, width, target); break;
    case 8: copy_tiles(right_edge, row, -4, height, width, target); break;
    default: copy_rows(first, row, width, height, target); break;
    }
}
