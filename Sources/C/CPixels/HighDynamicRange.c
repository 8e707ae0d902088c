#include <math.h>

#include "CPixels.h"
#include "Clones.h"

// What is not a number becomes 0.
EIDETIC_INLINE uint8_t encode(const uint8_t *encoding, float light) {
    float clamped = light > 0 ? (light < 1 ? light : 1) : 0;
    return encoding[(int)(clamped * EIDETIC_LIGHT_STEPS + 0.5f)];
}

EIDETIC_INLINE float larger(float a, float b) { return a > b ? a : b; }

EIDETIC_INLINE void multiply(const float *m, const float *in, float *out) {
    for (int row = 0; row < 3; row++) out[row] = m[3 * row] * in[0] + m[3 * row + 1] * in[1] + m[3 * row + 2] * in[2];
}

// The factor for a colour whose largest channel is `largest`.
EIDETIC_INLINE float gain(const eidetic_hdr *map, float largest) {
    if (largest <= 1 || map->peak <= 1) return map->gains[0];
    if (largest >= map->peak) return 1 / largest;
    float position = (largest - 1) / (map->peak - 1) * EIDETIC_HDR_GAINS;
    int index = (int)position;
    float part = position - (float)index;
    return map->gains[index] + part * (map->gains[index + 1] - map->gains[index]);
}

EIDETIC_INLINE void map_pixel(const eidetic_hdr *map, const float *stored, uint8_t *out) {
    float light[3], shown[3];
    multiply(map->to_bt2020, stored, light);
    if (map->scene_scale > 0) {
        // The display's light (ITU-R BT.2100, table 5).
        float luminance = 0.2627f * light[0] + 0.678f * light[1] + 0.0593f * light[2];
        float scale = luminance > 0 ? map->scene_scale * powf(luminance, 0.2f) : 0;
        for (int i = 0; i < 3; i++) light[i] *= scale;
    }
    float scale = gain(map, larger(larger(light[0], light[1]), light[2]));
    for (int i = 0; i < 3; i++) light[i] *= scale;
    multiply(map->to_srgb, light, shown);
    for (int i = 0; i < 3; i++) out[i] = encode(map->encoding, shown[i]);
}

EIDETIC_INLINE void map_pixels(
    eidetic_pixels_source source, const eidetic_hdr *map, eidetic_pixels_target target, uint32_t maximum) {
    for (size_t y = 0; y < source.height; y++) {
        const uint8_t *row = source.pixels + y * source.stride;
        const uint16_t *deep_row = (const void *)row;
        uint8_t *to = target.pixels + y * target.stride;
        for (size_t x = 0; x < source.width; x++, to += 4) {
            uint32_t from[4];
            for (int i = 0; i < 4; i++) from[i] = maximum == 255 ? row[4 * x + i] : deep_row[4 * x + i];
            float stored[3];
            for (int i = 0; i < 3; i++) stored[i] = map->light[(from[i] * 4095 + maximum / 2) / maximum];
            map_pixel(map, stored, to);
            to[3] = (uint8_t)((from[3] * 255 + maximum / 2) / maximum);
        }
    }
}

EIDETIC_CLONES void eidetic_hdr_map(
    eidetic_pixels_source source, const eidetic_hdr *map, int is_deep, eidetic_pixels_target target) {
    if (is_deep) map_pixels(source, map, target, 65535);
    else map_pixels(source, map, target, 255);
}
