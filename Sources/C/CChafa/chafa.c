#define _GNU_SOURCE
#include "CChafa.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <CCodec.h>

// Declarations of the used part of libchafa 1.12 and GLib 2, which are stable as long as their files are named `.so.0`.
typedef struct { char *text; size_t count, capacity; } g_string;
enum { SYMBOL_SPACE = 1 << 0, SYMBOL_BLOCK = 1 << 3 };
enum { PIXELS_PREMULTIPLIED = 0, PIXELS_STRAIGHT = 4 };
enum { SEQUENCE_BEGIN_SIXELS = 40, SEQUENCE_BEGIN_KITTY_IMAGE = 43 };

// `g_string_free` is of GLib, which libchafa is linked with.
#define FUNCTIONS(X) \
    X(void *, chafa_term_db_get_default, (void)) \
    X(void *, chafa_term_db_detect, (void *, char **)) \
    X(void *, chafa_term_db_get_fallback_info, (void *)) \
    X(int, chafa_term_info_have_seq, (const void *, int)) \
    X(void, chafa_term_info_supplement, (void *, void *)) \
    X(void, chafa_term_info_unref, (void *)) \
    X(void *, chafa_symbol_map_new, (void)) \
    X(void, chafa_symbol_map_add_by_tags, (void *, int)) \
    X(void, chafa_symbol_map_unref, (void *)) \
    X(void *, chafa_canvas_config_new, (void)) \
    X(void, chafa_canvas_config_set_geometry, (void *, int, int)) \
    X(void, chafa_canvas_config_set_cell_geometry, (void *, int, int)) \
    X(void, chafa_canvas_config_set_pixel_mode, (void *, int)) \
    X(void, chafa_canvas_config_set_symbol_map, (void *, const void *)) \
    X(void, chafa_canvas_config_unref, (void *)) \
    X(void *, chafa_canvas_new, (const void *)) \
    X(void, chafa_canvas_draw_all_pixels, (void *, int, const uint8_t *, int, int, int)) \
    X(g_string *, chafa_canvas_print, (void *, void *)) \
    X(void, chafa_canvas_unref, (void *)) \
    X(char *, g_string_free, (g_string *, int))

EIDETIC_CODEC_PLAIN_LIBRARY("libchafa.so.0", FUNCTIONS)

const char *eidetic_chafa_failure(void) {
    pthread_once(&library.once, load);
    return library.is_loaded ? NULL : library.message;
}

eidetic_chafa_graphics eidetic_chafa_detect(void) {
    if (eidetic_chafa_failure()) return EIDETIC_CHAFA_BLOCKS;
    void *terminal = lib.chafa_term_db_detect(lib.chafa_term_db_get_default(), environ);
    eidetic_chafa_graphics graphics = lib.chafa_term_info_have_seq(terminal, SEQUENCE_BEGIN_KITTY_IMAGE)
        ? EIDETIC_CHAFA_KITTY
        : lib.chafa_term_info_have_seq(terminal, SEQUENCE_BEGIN_SIXELS) ? EIDETIC_CHAFA_SIXEL : EIDETIC_CHAFA_BLOCKS;
    lib.chafa_term_info_unref(terminal);
    return graphics;
}

char *eidetic_chafa_draw(
    const eidetic_chafa_pixels *pixels, eidetic_chafa_area area, eidetic_chafa_graphics graphics, size_t *count) {
    *count = 0;
    if (eidetic_chafa_failure()) return NULL;
    void *database = lib.chafa_term_db_get_default();
    void *terminal = lib.chafa_term_db_detect(database, environ);
    // The caller may know better than the environment what the terminal supports.
    lib.chafa_term_info_supplement(terminal, lib.chafa_term_db_get_fallback_info(database));
    void *symbols = lib.chafa_symbol_map_new();
    lib.chafa_symbol_map_add_by_tags(symbols, SYMBOL_SPACE | SYMBOL_BLOCK);
    void *configuration = lib.chafa_canvas_config_new();
    lib.chafa_canvas_config_set_geometry(configuration, area.columns, area.rows);
    lib.chafa_canvas_config_set_cell_geometry(configuration, area.cell_width, area.cell_height);
    lib.chafa_canvas_config_set_pixel_mode(configuration, (int)graphics);
    lib.chafa_canvas_config_set_symbol_map(configuration, symbols);
    void *canvas = lib.chafa_canvas_new(configuration);
    lib.chafa_canvas_draw_all_pixels(
        canvas, pixels->is_premultiplied ? PIXELS_PREMULTIPLIED : PIXELS_STRAIGHT, pixels->bytes, pixels->width,
        pixels->height, pixels->bytes_per_row);
    g_string *text = lib.chafa_canvas_print(canvas, terminal);
    char *copy = malloc(text->count + 1);
    if (copy) {
        memcpy(copy, text->text, text->count);
        *count = text->count;
    }
    lib.g_string_free(text, true);
    lib.chafa_canvas_unref(canvas);
    lib.chafa_canvas_config_unref(configuration);
    lib.chafa_symbol_map_unref(symbols);
    lib.chafa_term_info_unref(terminal);
    return copy;
}
