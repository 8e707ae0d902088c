#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "CPNG.h"
#include "Palette.h"

struct encoder {
    png_structp library;
    png_infop info;
    uint8_t *bytes;
    size_t count, capacity;
    uint8_t *row;            // in the form of the file
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

static void write_header(struct encoder *encoder, const eidetic_png_form *form, uint32_t width, uint32_t height) {
    static const int types[] = {
        [EIDETIC_PNG_FORM_COLOUR] = PNG_COLOR_TYPE_RGB, [EIDETIC_PNG_FORM_COLOUR_ALPHA] = PNG_COLOR_TYPE_RGB_ALPHA,
        [EIDETIC_PNG_FORM_GREY] = PNG_COLOR_TYPE_GRAY, [EIDETIC_PNG_FORM_GREY_ALPHA] = PNG_COLOR_TYPE_GRAY_ALPHA,
        [EIDETIC_PNG_FORM_PALETTE] = PNG_COLOR_TYPE_PALETTE,
    };
    png_set_IHDR(
        encoder->library, encoder->info, width, height, form->depth, types[form->kind], PNG_INTERLACE_NONE, 0, 0);
    png_set_sRGB(encoder->library, encoder->info, PNG_sRGB_INTENT_PERCEPTUAL);
    if (form->kind != EIDETIC_PNG_FORM_PALETTE) return;
    png_color colours[256];
    png_byte alphas[256];
    for (int i = 0; i < form->count; i++) {
        const uint8_t *colour = form->colours[i];
        colours[i] = (png_color){colour[0], colour[1], colour[2]};
        alphas[i] = colour[3];
    }
    png_set_PLTE(encoder->library, encoder->info, colours, form->count);
    if (form->transparent) png_set_tRNS(encoder->library, encoder->info, alphas, form->transparent, NULL);
}

static int write_image(
    struct encoder *encoder, const uint8_t *pixels, size_t bytes_per_row, uint32_t width, uint32_t height,
    const eidetic_png_form *form, int level) {
    png_structp library = encoder->library;
    if (setjmp(png_jmpbuf(library))) return 0;
    png_set_write_fn(library, encoder, write_bytes, flush);
    png_set_user_limits(library, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    // Indices are few bytes, and take the best compression well.
    png_set_compression_level(library, form->kind == EIDETIC_PNG_FORM_PALETTE ? 9 : level);
    write_header(encoder, form, width, height);
    png_write_info(library, encoder->info);
    if (form->depth < 8) png_set_packing(library);
    if (form->kind == EIDETIC_PNG_FORM_COLOUR) png_set_filler(library, 0, PNG_FILLER_AFTER);
    for (uint32_t y = 0; y < height; y++) {
        const uint8_t *row = pixels + y * bytes_per_row;
        png_write_row(library, eidetic_png_form_row(form, row, width, encoder->row) ? encoder->row : row);
    }
    png_write_end(library, NULL);
    return 1;
}

eidetic_png_status eidetic_png_encode(
    const uint8_t *pixels, size_t bytes_per_row, uint32_t width, uint32_t height, int has_alpha, int keeps_form,
    int level, uint8_t **encoded, size_t *count, char *message, size_t capacity) {
    struct encoder encoder = {0};
    eidetic_png_form *form = malloc(sizeof *form);
    encoder.row = malloc((size_t)width * 2);
    if (!form || !encoder.row) {
        free(form);
        free(encoder.row);
        return EIDETIC_PNG_OUT_OF_MEMORY;
    }
    eidetic_png_find_form(form, pixels, bytes_per_row, width, height, has_alpha, keeps_form);
    encoder.library = png_create_write_struct(PNG_LIBPNG_VER_STRING, &encoder, fail, ignore_warning);
    if (encoder.library) encoder.info = png_create_info_struct(encoder.library);
    int is_written = encoder.info && write_image(&encoder, pixels, bytes_per_row, width, height, form, level);
    if (encoder.library) png_destroy_write_struct(&encoder.library, &encoder.info);
    free(form);
    free(encoder.row);
    if (!is_written) {
        free(encoder.bytes);
        snprintf(message, capacity, "%s", encoder.message);
        return EIDETIC_PNG_FAILED;
    }
    *encoded = encoder.bytes;
    *count = encoder.count;
    return EIDETIC_PNG_OK;
}
