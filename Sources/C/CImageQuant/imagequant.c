#include "CImageQuant.h"

#include <stdlib.h>
#include <string.h>

// Declarations of the used part of libimagequant 2, which are stable as long as its file is named `.so.0`.
typedef struct {
    unsigned count;
    uint8_t entries[256][4];
} palette;

#define FUNCTIONS(X) \
    X(void *, liq_attr_create, (void)) \
    X(void, liq_attr_destroy, (void *)) \
    X(int, liq_set_max_colors, (void *, int)) \
    X(void *, liq_image_create_rgba, (const void *, const void *, int, int, double)) \
    X(void, liq_image_destroy, (void *)) \
    X(int, liq_image_quantize, (void *, void *, void **)) \
    X(int, liq_set_dithering_level, (void *, float)) \
    X(int, liq_write_remapped_image, (void *, void *, void *, size_t)) \
    X(const palette *, liq_get_palette, (void *)) \
    X(void, liq_result_destroy, (void *))

EIDETIC_CODEC_PLAIN_LIBRARY("libimagequant.so.0", FUNCTIONS)

// Writes the colours of the result; `indices` has a byte for each pixel.
static bool write_colours(void *result, void *image, uint8_t *indices, size_t count, uint8_t *target) {
    if (lib.liq_write_remapped_image(result, image, indices, count)) return false;
    const palette *palette = lib.liq_get_palette(result);
    for (size_t i = 0; i < count; i++) memcpy(target + 4 * i, palette->entries[indices[i]], 4);
    return true;
}

bool eidetic_quantise(
    const uint8_t *pixels, size_t bytes_per_row, uint32_t width, uint32_t height, bool is_opaque, int colours,
    uint8_t *target, eidetic_codec_outcome *outcome) {
    if (!eidetic_codec_ensure_loaded(&library, load, outcome)) return false;
    // The library takes rows without gaps.
    size_t count = (size_t)width * height;
    uint8_t (*rows)[4] = malloc(count * 4);
    uint8_t *indices = malloc(count);
    void *attributes = lib.liq_attr_create(), *image = NULL, *result = NULL;
    bool is_written = false;
    if (rows && indices && attributes) {
        for (size_t y = 0; y < height; y++) memcpy(rows[y * width], pixels + y * bytes_per_row, (size_t)width * 4);
        for (size_t i = 0; is_opaque && i < count; i++) rows[i][3] = 255;
        lib.liq_set_max_colors(attributes, colours);
        image = lib.liq_image_create_rgba(attributes, rows, (int)width, (int)height, 0);
        is_written = image && !lib.liq_image_quantize(image, attributes, &result) &&
            !lib.liq_set_dithering_level(result, 1) &&
            write_colours(result, image, indices, count, target);
    }
    if (result) lib.liq_result_destroy(result);
    if (image) lib.liq_image_destroy(image);
    if (attributes) lib.liq_attr_destroy(attributes);
    free(indices);
    free(rows);
    return is_written || eidetic_codec_fail(outcome, EIDETIC_CODEC_NO_MEMORY, "not enough memory to reduce colours");
}
