#include "CPixels.h"
#include "Kernels.h"

EIDETIC_CLONES void eidetic_pixels_premultiply(eidetic_pixels_source source, eidetic_pixels_target target) {
    MAP_PIXELS(source, target, premultiply_pixel)
}

EIDETIC_INLINE uint8_t multiply_clamped(uint32_t value, float factor) {
    float v = value * factor + 0.5f;
    return v > 255 ? 255 : (uint8_t)v;
}

EIDETIC_INLINE void unpremultiply_pixel(const uint8_t *from, uint8_t *to) {
    uint32_t alpha = from[3];
    float factor = alpha ? 255.0f / alpha : 0;
    to[0] = multiply_clamped(from[0], factor);
    to[1] = multiply_clamped(from[1], factor);
    to[2] = multiply_clamped(from[2], factor);
    to[3] = alpha;
}

EIDETIC_CLONES void eidetic_pixels_unpremultiply(eidetic_pixels_source source, eidetic_pixels_target target) {
    MAP_PIXELS(source, target, unpremultiply_pixel)
}

EIDETIC_INLINE void convert_cmyk_pixel(const uint8_t *from, uint8_t *to) {
    uint32_t light = 255u - from[3];
    to[0] = divide_by_255((255u - from[0]) * light);
    to[1] = divide_by_255((255u - from[1]) * light);
    to[2] = divide_by_255((255u - from[2]) * light);
    to[3] = 255;
}

EIDETIC_CLONES void eidetic_pixels_cmyk_to_rgb(eidetic_pixels_source source, eidetic_pixels_target target) {
    MAP_PIXELS(source, target, convert_cmyk_pixel)
}

EIDETIC_CLONES void eidetic_pixels_invert(uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) bytes[i] = 255 - bytes[i];
}

EIDETIC_CLONES void eidetic_pixels_make_opaque(uint8_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) pixels[4 * i + 3] = 255;
}

EIDETIC_CLONES void eidetic_pixels_copy_red_to_alpha(const uint8_t *source, uint8_t *target, size_t count) {
    for (size_t i = 0; i < count; i++) target[4 * i + 3] = source[4 * i];
}

EIDETIC_CLONES void eidetic_pixels_clamp_to_alpha(uint8_t *pixels, size_t count) {
    clamp_pixels_to_alpha(pixels, count);
}

EIDETIC_INLINE void swap_red_blue(const uint8_t *source, size_t count, size_t stride, int has_alpha, uint8_t *target) {
    for (size_t i = 0; i < count; i++) {
        uint8_t blue = source[stride * i], alpha = has_alpha ? source[stride * i + 3] : 255;
        target[4 * i] = source[stride * i + 2];
        target[4 * i + 1] = source[stride * i + 1];
        target[4 * i + 2] = blue;
        target[4 * i + 3] = alpha;
    }
}

EIDETIC_CLONES void eidetic_pixels_swap_red_blue(
    const uint8_t *source, size_t count, size_t stride, int has_alpha, uint8_t *target) {
    // Constant strides let the compiler vectorise the loop.
    if (stride == 3) swap_red_blue(source, count, 3, 0, target);
    else if (has_alpha) swap_red_blue(source, count, 4, 1, target);
    else swap_red_blue(source, count, 4, 0, target);
}

EIDETIC_CLONES void eidetic_pixels_narrow_alpha(uint8_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) pixels[4 * i + 3] = 16 + divide_by_255(219u * pixels[4 * i + 3]);
}

EIDETIC_INLINE void blend_pixel(const uint8_t *from, uint8_t *to) {
    uint32_t above = from[3], below = divide_by_255(to[3] * (255 - above)), alpha = above + below;
    if (!alpha) {
        to[0] = to[1] = to[2] = to[3] = 0;
        return;
    }
    for (int channel = 0; channel < 3; channel++)
        to[channel] = (from[channel] * above + to[channel] * below + alpha / 2) / alpha;
    to[3] = alpha;
}

// The pixels that are looked at together, before each is blended on its own.
enum { block_size = 16 };

// Blends pixels whose alpha is 0 or 255; returns 0, and changes nothing, if there are others.
EIDETIC_INLINE int blend_binary_block(const uint8_t *from, uint8_t *to) {
    uint32_t new_pixels[block_size], pixels[block_size], partial = 0;
    memcpy(new_pixels, from, sizeof new_pixels);
    // 0 and 255 give 0 here, all others something else.
    for (int i = 0; i < block_size; i++) partial |= ((new_pixels[i] >> 24) + 1) & 0xfe;
    if (partial) return 0;
    memcpy(pixels, to, sizeof pixels);
    for (int i = 0; i < block_size; i++) pixels[i] = new_pixels[i] >> 24 ? new_pixels[i] : pixels[i];
    memcpy(to, pixels, sizeof pixels);
    return 1;
}

EIDETIC_INLINE void blend_pixels(const uint8_t *from, uint8_t *to, size_t count) {
    for (size_t i = 0; i < count; i++, from += 4, to += 4) {
        if (from[3] == 255) {
            memcpy(to, from, 4);
        } else if (from[3]) {
            blend_pixel(from, to);
        }
    }
}

EIDETIC_CLONES void eidetic_pixels_blend(eidetic_pixels_source source, eidetic_pixels_target target) {
    for (size_t y = 0; y < source.height; y++) {
        const uint8_t *from = source.pixels + y * source.stride;
        uint8_t *to = target.pixels + y * target.stride;
        size_t x = 0;
        for (; x + block_size <= source.width; x += block_size) {
            if (!blend_binary_block(from + 4 * x, to + 4 * x)) blend_pixels(from + 4 * x, to + 4 * x, block_size);
        }
        blend_pixels(from + 4 * x, to + 4 * x, source.width - x);
    }
}
