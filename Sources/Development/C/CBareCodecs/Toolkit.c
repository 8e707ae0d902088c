// Decoders of desktop libraries, loaded at run time, so that building the benchmarks does not require them.
#include "CBareCodecs.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void *function(const char *library, const char *name) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    return handle ? dlsym(handle, name) : NULL;
}

#define FUNCTION(library, result, name, ...) result (*name)(__VA_ARGS__) = function(library, #name)
#define PIXBUF "libgdk_pixbuf-2.0.so.0"
#define RSVG "librsvg-2.so.2"

int eidetic_bare_has_pixbuf(void) { return function(PIXBUF, "gdk_pixbuf_loader_new") != NULL; }
int eidetic_bare_has_svg(void) { return function(RSVG, "rsvg_handle_new_from_data") != NULL; }

unsigned char *eidetic_bare_pixbuf_decode(const unsigned char *bytes, size_t count) {
    FUNCTION(PIXBUF, void *, gdk_pixbuf_loader_new, void);
    FUNCTION(PIXBUF, int, gdk_pixbuf_loader_write, void *, const unsigned char *, size_t, void *);
    FUNCTION(PIXBUF, int, gdk_pixbuf_loader_close, void *, void *);
    FUNCTION(PIXBUF, void *, gdk_pixbuf_loader_get_pixbuf, void *);
    FUNCTION(PIXBUF, void *, gdk_pixbuf_add_alpha, void *, int, unsigned char, unsigned char, unsigned char);
    FUNCTION(PIXBUF, int, gdk_pixbuf_get_rowstride, void *);
    FUNCTION(PIXBUF, int, gdk_pixbuf_get_height, void *);
    FUNCTION(PIXBUF, unsigned char *, gdk_pixbuf_get_pixels, void *);
    FUNCTION(PIXBUF, void, g_object_unref, void *);
    void *loader = gdk_pixbuf_loader_new();
    if (!gdk_pixbuf_loader_write(loader, bytes, count, NULL) || !gdk_pixbuf_loader_close(loader, NULL)) abort();
    void *image = gdk_pixbuf_add_alpha(gdk_pixbuf_loader_get_pixbuf(loader), 0, 0, 0, 0);
    size_t size = (size_t)gdk_pixbuf_get_rowstride(image) * (size_t)gdk_pixbuf_get_height(image);
    // The result is one pixel, which the caller can free. Copying all pixels would be measured too.
    unsigned char *first = malloc(4);
    if (!first || size < 4) abort();
    memcpy(first, gdk_pixbuf_get_pixels(image), 4);
    g_object_unref(image);
    g_object_unref(loader);
    return first;
}

unsigned char *eidetic_bare_svg_decode(const unsigned char *bytes, size_t count) {
    struct { double x, y, width, height; } viewport = {0, 0, 0, 0};
    FUNCTION(RSVG, void *, rsvg_handle_new_from_data, const unsigned char *, size_t, void *);
    FUNCTION(RSVG, int, rsvg_handle_get_intrinsic_size_in_pixels, void *, double *, double *);
    FUNCTION(RSVG, int, rsvg_handle_render_document, void *, void *, const void *, void *);
    FUNCTION(RSVG, void, g_object_unref, void *);
    FUNCTION(RSVG, void *, cairo_image_surface_create_for_data, unsigned char *, int, int, int, int);
    FUNCTION(RSVG, void, cairo_surface_flush, void *);
    FUNCTION(RSVG, void, cairo_surface_destroy, void *);
    FUNCTION(RSVG, void *, cairo_create, void *);
    FUNCTION(RSVG, void, cairo_destroy, void *);
    void *handle = rsvg_handle_new_from_data(bytes, count, NULL);
    if (!handle || !rsvg_handle_get_intrinsic_size_in_pixels(handle, &viewport.width, &viewport.height)) abort();
    int width = (int)viewport.width, height = (int)viewport.height;
    unsigned char *pixels = calloc((size_t)width * (size_t)height, 4);
    if (!pixels) abort();
    void *surface = cairo_image_surface_create_for_data(pixels, 0, width, height, 4 * width);
    void *cairo = cairo_create(surface);
    if (!rsvg_handle_render_document(handle, cairo, &viewport, NULL)) abort();
    cairo_destroy(cairo);
    cairo_surface_flush(surface);
    cairo_surface_destroy(surface);
    g_object_unref(handle);
    // Converts blue, green, red, alpha to red, green, blue, alpha.
    for (size_t i = 0; i < 4 * (size_t)width * (size_t)height; i += 4) {
        unsigned char blue = pixels[i];
        pixels[i] = pixels[i + 2];
        pixels[i + 2] = blue;
    }
    return pixels;
}
