#pragma once

#include <string.h>

#include "Clones.h"
#include "PixelAreas.h"

/// Returns v / 255, rounded to nearest, for v up to 65,535.
EIDETIC_INLINE uint32_t divide_by_255(uint32_t v) { return (v + 128 + ((v + 128) >> 8)) >> 8; }

EIDETIC_INLINE void premultiply_pixel(const uint8_t *from, uint8_t *to) {
    uint32_t alpha = from[3];
    to[0] = divide_by_255(from[0] * alpha);
    to[1] = divide_by_255(from[1] * alpha);
    to[2] = divide_by_255(from[2] * alpha);
    to[3] = alpha;
}

EIDETIC_INLINE void clamp_pixels_to_alpha(uint8_t *pixel, size_t count) {
    for (; count > 0; count--, pixel += 4)
        for (int i = 0; i < 3; i++) pixel[i] = pixel[i] < pixel[3] ? pixel[i] : pixel[3];
}

/// Calls an inline function for each pixel of a source, with its place in a target.
///
/// It is a macro so that builds without optimisation, which do not see through a pointer, inline the function too.
#define MAP_PIXELS(source, target, map) \
    for (size_t y = 0; y < (source).height; y++) { \
        const uint8_t *from = (source).pixels + y * (source).stride; \
        uint8_t *to = (target).pixels + y * (target).stride; \
        for (size_t x = 0; x < (source).width; x++, from += 4, to += 4) map(from, to); \
    }

/// The channels of a pixel, each with room for products.
typedef uint32_t lanes __attribute__((vector_size(16)));
typedef uint8_t bytes4 __attribute__((vector_size(4)));

EIDETIC_INLINE lanes load_lanes(const uint8_t *pixel) {
    bytes4 value;
    memcpy(&value, pixel, 4);
    return __builtin_convertvector(value, lanes);
}

EIDETIC_INLINE void store_lanes(uint8_t *pixel, lanes value) {
    bytes4 narrow = __builtin_convertvector(value, bytes4);
    memcpy(pixel, &narrow, 4);
}
