#include <string.h>

#include "CPixels.h"
#include "Clones.h"

EIDETIC_INLINE void expand(const uint8_t *source, size_t count, size_t channels, uint8_t *target) {
    for (size_t i = 0; i < count; i++) {
        target[4 * i] = source[channels * i];
        target[4 * i + 1] = source[channels * i + (channels > 2 ? 1 : 0)];
        target[4 * i + 2] = source[channels * i + (channels > 2 ? 2 : 0)];
        target[4 * i + 3] = channels == 2 ? source[2 * i + 1] : 255;
    }
}

EIDETIC_CLONES void eidetic_pixels_expand(const uint8_t *source, size_t count, int channels, uint8_t *target) {
    // Constant numbers let the compiler vectorise the loop.
    if (channels == 1) expand(source, count, 1, target);
    else if (channels == 2) expand(source, count, 2, target);
    else expand(source, count, 3, target);
}

EIDETIC_CLONES int eidetic_pixels_pack_grey(eidetic_pixels_source source, uint8_t *target) {
    for (size_t y = 0; y < source.height; y++) {
        const uint8_t *row = source.pixels + y * source.stride;
        uint8_t differences = 0;
        for (size_t x = 0; x < source.width; x++) {
            differences |= (row[4 * x] ^ row[4 * x + 1]) | (row[4 * x] ^ row[4 * x + 2]);
            if (target) target[y * source.width + x] = row[4 * x];
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
