#include "CPixels.h"
#include "Kernels.h"

/// Mixes four neighbours by the fractions of the position, 0 to 255 of 256 each.
EIDETIC_INLINE lanes mixed(lanes a, lanes b, lanes c, lanes d, uint32_t x, uint32_t y) {
    lanes upper = a * (256 - x) + b * x, lower = c * (256 - x) + d * x;
    return (upper * (256 - y) + lower * y + 32768) >> 16;
}

EIDETIC_INLINE lanes pixel_or(eidetic_pixels_source source, int64_t x, int64_t y, lanes background) {
    if (x < 0 || y < 0 || x >= (int64_t)source.width || y >= (int64_t)source.height) return background;
    return load_lanes(source.pixels + (size_t)y * source.stride + 4 * (size_t)x);
}

EIDETIC_INLINE lanes sample(eidetic_pixels_source source, int64_t x, int64_t y, lanes background) {
    int64_t column = x >> 32, row = y >> 32;
    uint32_t across = (uint32_t)x >> 24, down = (uint32_t)y >> 24;
    if (column >= 0 && row >= 0 && column + 1 < (int64_t)source.width && row + 1 < (int64_t)source.height) {
        const uint8_t *upper = source.pixels + (size_t)row * source.stride + 4 * (size_t)column;
        const uint8_t *lower = upper + source.stride;
        return mixed(load_lanes(upper), load_lanes(upper + 4), load_lanes(lower), load_lanes(lower + 4), across, down);
    }
    lanes a = pixel_or(source, column, row, background), b = pixel_or(source, column + 1, row, background);
    lanes c = pixel_or(source, column, row + 1, background), d = pixel_or(source, column + 1, row + 1, background);
    return mixed(a, b, c, d, across, down);
}

EIDETIC_CLONES void eidetic_pixels_rotate(
    eidetic_pixels_source source, eidetic_rotation rotation, const uint8_t background[4], size_t width, size_t height,
    eidetic_pixels_target target) {
    const lanes outside = load_lanes(background);
    for (size_t top = 0; top < height; top += 16)
        for (size_t left = 0; left < width; left += 64)
            for (size_t y = top; y < top + 16 && y < height; y++) {
                int64_t from_x = rotation.x - (int64_t)y * rotation.right_y + (int64_t)left * rotation.right_x;
                int64_t from_y = rotation.y + (int64_t)y * rotation.right_x + (int64_t)left * rotation.right_y;
                for (size_t x = left; x < left + 64 && x < width; x++) {
                    store_lanes(target.pixels + y * target.stride + 4 * x, sample(source, from_x, from_y, outside));
                    from_x += rotation.right_x;
                    from_y += rotation.right_y;
                }
            }
}
