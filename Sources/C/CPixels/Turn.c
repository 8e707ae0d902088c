#include <string.h>

#include "CPixels.h"
#include "Clones.h"

enum { TILE = 16 };

/// Copies a picture of `width` x `height` target pixels; a step right or down in it moves `right` or `down` bytes in
/// the source. In tiles, so that steps across rows stay in the cache.
EIDETIC_INLINE void walk(
    const uint8_t *source, ptrdiff_t right, ptrdiff_t down, size_t width, size_t height, uint8_t *target,
    size_t target_stride) {
    for (size_t top = 0; top < height; top += TILE) {
        size_t bottom = top + TILE < height ? top + TILE : height;
        for (size_t left = 0; left < width; left += TILE) {
            size_t end = left + TILE < width ? left + TILE : width;
            for (size_t y = top; y < bottom; y++)
                for (size_t x = left; x < end; x++)
                    memcpy(target + y * target_stride + 4 * x, source + (ptrdiff_t)x * right + (ptrdiff_t)y * down, 4);
        }
    }
}

EIDETIC_CLONES void eidetic_pixels_turn(
    const uint8_t *source, size_t source_stride, size_t width, size_t height, uint8_t *target, size_t target_stride,
    int orientation) {
    ptrdiff_t row = (ptrdiff_t)source_stride;
    const uint8_t *right_edge = source + 4 * (width - 1), *last_row = source + (height - 1) * source_stride;
    const uint8_t *corner = last_row + 4 * (width - 1);
    switch (orientation) {
    case 2: walk(right_edge, -4, row, width, height, target, target_stride); break;
    case 3: walk(corner, -4, -row, width, height, target, target_stride); break;
    case 4: walk(last_row, 4, -row, width, height, target, target_stride); break;
    case 5: walk(source, row, 4, height, width, target, target_stride); break;
    case 6: walk(last_row, -row, 4, height, width, target, target_stride); break;
    case 7: walk(corner, -row, -4, height, width, target, target_stride); break;
    case 8: walk(right_edge, row, -4, height, width, target, target_stride); break;
    default: walk(source, 4, row, width, height, target, target_stride); break;
    }
}
