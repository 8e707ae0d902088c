#include "CPixels.h"
#include "Kernels.h"

EIDETIC_CLONES void eidetic_pixels_tint(
    eidetic_pixels_source source, eidetic_pixels_target target, const uint8_t colour[4]) {
    const uint32_t red = colour[0], green = colour[1], blue = colour[2], rest = 255u - colour[3];
    for (size_t y = 0; y < source.height; y++) {
        const uint8_t *from = source.pixels + y * source.stride;
        uint8_t *to = target.pixels + y * target.stride;
        for (size_t x = 0; x < source.width; x++) {
            uint32_t alpha = from[4 * x + 3];
            to[4 * x] = divide_by_255(from[4 * x] * rest + red * alpha);
            to[4 * x + 1] = divide_by_255(from[4 * x + 1] * rest + green * alpha);
            to[4 * x + 2] = divide_by_255(from[4 * x + 2] * rest + blue * alpha);
            to[4 * x + 3] = alpha;
        }
    }
}

EIDETIC_INLINE void desaturate_pixel(const uint8_t *from, uint8_t *to) {
    uint32_t luma = (from[0] * 19595u + from[1] * 38470u + from[2] * 7471u + 0x8000u) >> 16;
    to[0] = to[1] = to[2] = luma;
    to[3] = from[3];
}

EIDETIC_CLONES void eidetic_pixels_desaturate(eidetic_pixels_source source, eidetic_pixels_target target) {
    MAP_PIXELS(source, target, desaturate_pixel)
}

EIDETIC_CLONES void eidetic_pixels_flatten(
    eidetic_pixels_source source, eidetic_pixels_target target, const uint8_t colour[3]) {
    const uint32_t red = colour[0], green = colour[1], blue = colour[2];
    for (size_t y = 0; y < source.height; y++) {
        const uint8_t *from = source.pixels + y * source.stride;
        uint8_t *to = target.pixels + y * target.stride;
        for (size_t x = 0; x < source.width; x++) {
            uint32_t rest = 255u - from[4 * x + 3];
            to[4 * x] = from[4 * x] + divide_by_255(red * rest);
            to[4 * x + 1] = from[4 * x + 1] + divide_by_255(green * rest);
            to[4 * x + 2] = from[4 * x + 2] + divide_by_255(blue * rest);
            to[4 * x + 3] = 255;
        }
    }
}
