#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "CPNG.h"

struct encoder {
    png_structp library;
    png_infop info;
    uint8_t *bytes;
    size_t count, capacity;
    char message[128];
};

static void fail(png_structp library, png_const_charp message) {
    struct encoder *encoder = png_get_error_ptr(library);
    snprintf(encoder->message, sizeof encoder->message, "%s", message);
    png_longjmp(library, 1);
}

static void ignore_warning(png_structp library, png_const_charp message) { (void)library, (void)message; }

static void write_bytes(png_structp library, png_bytep source, size_t count) {
    struct encoder *encoder = png_get_io_ptr(library);
    if (count > encoder->capacity - encoder->count) {
        size_t capacity = 2 * encoder->capacity + count + 4096;
        uint8_t *larger = realloc(encoder->bytes, capacity);
        if (!larger) png_error(library, "not enough memory for the encoded image");
        encoder->bytes = larger;
        encoder->capacity = capacity;
    }
    memcpy(encoder->bytes + encoder->count, source, count);
    encoder->count += count;
}

static void flush(png_structp library) { (void)library; }

static int write_image(
    struct encoder *encoder, const uint8_t *pixels, size_t bytes_per_row, uint32_t width, uint32_t height,
    int has_alpha, int level) {
    png_structp library = encoder->library;
    if (setjmp(png_jmpbuf(library))) return 0;
    png_set_write_fn(library, encoder, write_bytes, flush);
    png_set_user_limits(library, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_compression_level(library, level);
    int color = has_alpha ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB;
    png_set_IHDR(library, encoder->info, width, height, 8, color, PNG_INTERLACE_NONE, 0, 0);
    png_set_sRGB(library, encoder->info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_write_info(library, encoder->info);
    if (!has_alpha) png_set_filler(library, 0, PNG_FILLER_AFTER);
    for (uint32_t y = 0; y < height; y++) png_write_row(library, pixels + y * bytes_per_row);
    png_write_end(library, NULL);
    return 1;
}

eidetic_png_status eidetic_png_encode(
    const uint8_t *pixels, size_t bytes_per_row, uint32_t width, uint32_t height, int has_alpha, int level,
    uint8_t **encoded, size_t *count, char *message, size_t capacity) {
    struct encoder encoder = {0};
    encoder.library = png_create_write_struct(PNG_LIBPNG_VER_STRING, &encoder, fail, ignore_warning);
    if (!encoder.library) return EIDETIC_PNG_OUT_OF_MEMORY;
    encoder.info = png_create_info_struct(encoder.library);
    int is_written = encoder.info && write_image(&encoder, pixels, bytes_per_row, width, height, has_alpha, level);
    png_destroy_write_struct(&encoder.library, &encoder.info);
    if (!is_written) {
        free(encoder.bytes);
        snprintf(message, capacity, "%s", encoder.message);
        return EIDETIC_PNG_FAILED;
    }
    *encoded = encoder.bytes;
    *count = encoder.count;
    return EIDETIC_PNG_OK;
}
