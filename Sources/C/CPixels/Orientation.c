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

EIDETIC_CLONES void eidetic_pixels_orient(
    eidetic_pixels_source source, eidetic_pixels_target target, int orientation) {
    const size_t width = source.width, height = source.height;
    const ptrdiff_t row = (ptrdiff_t)source.stride;
    const uint8_t *first = source.pixels, *right_edge = first + 4 * (width - 1);
    const uint8_t *last_row = first + (height - 1) * source.stride, *corner = last_row + 4 * (width - 1);
    switch (orientation) {
    case 2: copy_tiles(right_edge, -4, row, width, height, target); break;
    case 3: copy_tiles(corner, -4, -row, width, height, target); break;
    case 4: copy_tiles(last_row, 4, -row, width, height, target); break;
    case 5: copy_tiles(first, row, 4, height, width, target); break;
    case 6: copy_tiles(last_row, -row, 4, height, width, target); break;
    case 7: copy_tiles(corner, -row, -4, height, width, target); break;
    case 8: copy_tiles(right_edge, row, -4, height, width, target); break;
    default: copy_tiles(first, 4, row, width, height, target); break;
    }
}
