#include <string.h>

#include "CPixels.h"
#include "Clones.h"

/// Light of red, green and blue.
typedef int32_t light __attribute__((vector_size(16)));

EIDETIC_INLINE light entry(const int32_t *table, size_t index) {
    light value;
    memcpy(&value, table + 4 * index, sizeof value);
    return value;
}

// The light of one of the values of a row; that of 16 bits lies between those of two entries.
EIDETIC_INLINE light look_up(const int32_t *table, const void *row, size_t index, int is_deep) {
    if (!is_deep) return entry(table, ((const uint8_t *)row)[index]);
    uint32_t value = ((const uint16_t *)row)[index];
    light before = entry(table, value >> 4), after = entry(table, (value >> 4) + 1);
    return before + (((after - before) * (int32_t)(value & 15)) >> 4);
}

EIDETIC_INLINE void convert(
    eidetic_pixels_source source, const eidetic_shaper *map, eidetic_pixels_target target, int is_deep) {
    // Copies of the pointers, since bytes that are written may be anything.
    const uint8_t *levels = map->levels;
    const size_t count = is_deep ? EIDETIC_SHAPER_DEEP_COUNT : EIDETIC_SHAPER_COUNT;
    const int32_t *red = map->light, *green = red + 4 * count, *blue = green + 4 * count;
    for (size_t y = 0; y < source.height; y++) {
        const uint8_t *row = source.pixels + y * source.stride;
        uint8_t *to = target.pixels + y * target.stride;
        for (size_t x = 0; x < 4 * source.width; x += 4, to += 4) {
            uint32_t alpha = is_deep ? (((const uint16_t *)(const void *)row)[x + 3] * 255u + 32767) / 65535 : row[x + 3];
            light sum = look_up(red, row, x, is_deep) + look_up(green, row, x + 1, is_deep)
                + look_up(blue, row, x + 2, is_deep);
            // Clipped by bits, since comparisons of vectors are slow without SSE 4.1, and rounded.
            sum = (sum & ~(sum >> 31)) - EIDETIC_SHAPER_WHITE;
            sum = ((sum & (sum >> 31)) + EIDETIC_SHAPER_WHITE + 32) >> 6;
            for (int i = 0; i < 3; i++) to[i] = levels[sum[i]];
            to[3] = (uint8_t)alpha;
        }
    }
}

EIDETIC_CLONES void eidetic_shaper_convert(
    eidetic_pixels_source source, const eidetic_shaper *map, int is_deep, eidetic_pixels_target target) {
    if (is_deep) convert(source, map, target, 1);
    else convert(source, map, target, 0);
}
