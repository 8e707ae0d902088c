#include <string.h>

#include "CPixels.h"
#include "Clones.h"

EIDETIC_CLONES void eidetic_pixels_expand(const uint8_t *source, size_t count, int channels, uint8_t *target) {
    switch (channels) {
    case 1:
        for (size_t i = 0; i < count; i++) {
            target[4 * i] = target[4 * i + 1] = target[4 * i + 2] = source[i];
            target[4 * i + 3] = 255;
        }
        break;
    case 2:
        for (size_t i = 0; i < count; i++) {
            target[4 * i] = target[4 * i + 1] = target[4 * i + 2] = source[2 * i];
            target[4 * i + 3] = source[2 * i + 1];
        }
        break;
    default:
        for (size_t i = 0; i < count; i++) {
            target[4 * i] = source[3 * i];
            target[4 * i + 1] = source[3 * i + 1];
            target[4 * i + 2] = source[3 * i + 2];
            target[4 * i + 3] = 255;
        }
    }
}

EIDETIC_CLONES int eidetic_pixels_pack_grey(eidetic_pixels_source source, uint8_t *target) {
    for (size_t y = 0; y < source.height; y++, target += source.width) {
        const uint8_t *row = source.pixels + y * source.stride;
        uint8_t differences = 0;
        for (size_t x = 0; x < source.width; x++) {
            differences |= (row[4 * x] ^ row[4 * x + 1]) | (row[4 * x] ^ row[4 * x + 2]);
            target[x] = row[4 * x];
        }
        if (differences) return 0;
    }
    return 1;
}

EIDETIC_CLONES void eidetic_pixels_key_out(
    uint8_t *pixels, size_t count, uint8_t red, uint8_t green, uint8_t blue) {
    for (size_t i = 0; i < count; i++) {
        int is_key = pixels[4 * i] == red && pixels[4 * i + 1] == green && pixels[4 * i + 2] == blue;
        pixels[4 * i + 3] = is_key ? 0 : pixels[4 * i + 3];
    }
}

void eidetic_pixels_map_indices(const uint8_t *indices, size_t count, const uint8_t *colours, uint8_t *target) {
    for (size_t i = 0; i < count; i++) memcpy(target + 4 * i, colours + 4 * (size_t)indices[i], 4);
}
