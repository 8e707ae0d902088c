#include "CPixels.h"
#include "Clones.h"

/// v / 255, rounded to nearest, for v up to 65,535.
EIDETIC_INLINE uint32_t divide(uint32_t v) { return (v + 128 + ((v + 128) >> 8)) >> 8; }

EIDETIC_CLONES void eidetic_pixels_premultiply(
    const uint8_t *source, size_t source_stride, uint8_t *target, size_t target_stride, size_t width, size_t height) {
    for (size_t y = 0; y < height; y++) {
        const uint8_t *from = source + y * source_stride;
        uint8_t *to = target + y * target_stride;
        for (size_t x = 0; x < width; x++) {
            uint32_t alpha = from[4 * x + 3];
            to[4 * x] = divide(from[4 * x] * alpha);
            to[4 * x + 1] = divide(from[4 * x + 1] * alpha);
            to[4 * x + 2] = divide(from[4 * x + 2] * alpha);
            to[4 * x + 3] = alpha;
        }
    }
}

EIDETIC_INLINE uint8_t restore(uint32_t value, float factor) {
    float v = value * factor + 0.5f;
    return v > 255 ? 255 : (uint8_t)v;
}

EIDETIC_CLONES void eidetic_pixels_unpremultiply(
    const uint8_t *source, size_t source_stride, uint8_t *target, size_t target_stride, size_t width, size_t height) {
    for (size_t y = 0; y < height; y++) {
        const uint8_t *from = source + y * source_stride;
        uint8_t *to = target + y * target_stride;
        for (size_t x = 0; x < width; x++) {
            uint32_t alpha = from[4 * x + 3];
            float factor = alpha ? 255.0f / alpha : 0;
            to[4 * x] = restore(from[4 * x], factor);
            to[4 * x + 1] = restore(from[4 * x + 1], factor);
            to[4 * x + 2] = restore(from[4 * x + 2], factor);
            to[4 * x + 3] = alpha;
        }
    }
}

EIDETIC_CLONES void eidetic_pixels_cmyk_to_rgb(
    const uint8_t *source, size_t source_stride, uint8_t *target, size_t target_stride, size_t width, size_t height) {
    for (size_t y = 0; y < height; y++) {
        const uint8_t *from = source + y * source_stride;
        uint8_t *to = target + y * target_stride;
        for (size_t x = 0; x < width; x++) {
            uint32_t light = 255u - from[4 * x + 3];
            to[4 * x] = divide((255u - from[4 * x]) * light);
            to[4 * x + 1] = divide((255u - from[4 * x + 1]) * light);
            to[4 * x + 2] = divide((255u - from[4 * x + 2]) * light);
            to[4 * x + 3] = 255;
        }
    }
}

EIDETIC_CLONES void eidetic_pixels_invert(uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) bytes[i] = 255 - bytes[i];
}

EIDETIC_CLONES void eidetic_pixels_make_opaque(uint8_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) pixels[4 * i + 3] = 255;
}

EIDETIC_INLINE void swap(const uint8_t *source, size_t count, size_t stride, int has_alpha, uint8_t *target) {
    for (size_t i = 0; i < count; i++) {
        uint8_t blue = source[stride * i], alpha = has_alpha ? source[stride * i + 3] : 255;
        target[4 * i] = source[stride * i + 2];
        target[4 * i + 1] = source[stride * i + 1];
        target[4 * i + 2] = blue;
        target[4 * i + 3] = alpha;
    }
}

EIDETIC_CLONES void eidetic_pixels_swap(
    const uint8_t *source, size_t count, size_t stride, int has_alpha, uint8_t *target) {
    // Constant strides let the compiler do many pixels at once.
    if (stride == 3) swap(source, count, 3, 0, target);
    else if (has_alpha) swap(source, count, 4, 1, target);
    else swap(source, count, 4, 0, target);
}

EIDETIC_CLONES void eidetic_pixels_narrow_alpha(uint8_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) pixels[4 * i + 3] = 16 + divide(219u * pixels[4 * i + 3]);
}

EIDETIC_CLONES int eidetic_pixels_are_opaque(
    const uint8_t *pixels, size_t stride, size_t width, size_t height) {
    for (size_t y = 0; y < height; y++) {
        uint8_t all = 255;
        for (size_t x = 0; x < width; x++) all &= pixels[y * stride + 4 * x + 3];
        if (all != 255) return 0;
    }
    return 1;
}

EIDETIC_INLINE void blend_pixel(const uint8_t *from, uint8_t *to) {
    uint32_t above = from[3], below = divide(to[3] * (255 - above)), alpha = above + below;
    if (!alpha) {
        to[0] = to[1] = to[2] = to[3] = 0;
        return;
    }
    for (int channel = 0; channel < 3; channel++)
        to[channel] = (from[channel] * above + to[channel] * below + alpha / 2) / alpha;
    to[3] = alpha;
}

EIDETIC_CLONES void eidetic_pixels_blend(
    const uint8_t *source, size_t source_stride, uint8_t *target, size_t target_stride, size_t width, size_t height) {
    for (size_t y = 0; y < height; y++) {
        const uint8_t *from = source + y * source_stride;
        uint8_t *to = target + y * target_stride;
        for (size_t x = 0; x < width; x++, from += 4, to += 4) {
            if (from[3] == 255) {
                for (int channel = 0; channel < 4; channel++) to[channel] = from[channel];
            } else if (from[3]) {
                blend_pixel(from, to);
            }
        }
    }
}
