#include "CSVG.h"

#ifdef TRAIT_SVG
#include <math.h>
#include <string.h>

#include <CPixels.h>

// Declarations of the used part of librsvg 2.52 and cairo 1. Their headers need include paths from pkg-config, and with
// pkg-config the package manager would link the libraries: 9 MB would be resident before the first SVG is decoded. This
// part of the interface is stable as long as the libraries are named `.so.2`.
typedef struct { double x, y, width, height; } rsvg_rectangle;
typedef struct { double length; int unit; } rsvg_length;
typedef struct { uint32_t domain; int code; char *message; } g_error;
enum { UNIT_PERCENT, UNIT_PX, UNIT_EM, UNIT_EX, UNIT_IN, UNIT_CM, UNIT_MM, UNIT_PT, UNIT_PC };
enum { FORMAT_ARGB32 = 0 };

// Those of GObject and cairo are of libraries that librsvg is linked with.
#define FUNCTIONS(X) \
    X(void *, rsvg_handle_new_from_data, (const uint8_t *, size_t, g_error **)) \
    X(void, rsvg_handle_set_dpi, (void *, double)) \
    X(int, rsvg_handle_get_intrinsic_size_in_pixels, (void *, double *, double *)) \
    X(void, rsvg_handle_get_intrinsic_dimensions, \
      (void *, int *, rsvg_length *, int *, rsvg_length *, int *, rsvg_rectangle *)) \
    X(int, rsvg_handle_render_document, (void *, void *, const rsvg_rectangle *, g_error **)) \
    X(const unsigned, rsvg_major_version, ) \
    X(const unsigned, rsvg_minor_version, ) \
    X(const unsigned, rsvg_micro_version, ) \
    X(void, g_object_unref, (void *)) \
    X(void, g_error_free, (g_error *)) \
    X(void *, cairo_image_surface_create_for_data, (uint8_t *, int, int, int, int)) \
    X(void, cairo_surface_flush, (void *)) \
    X(void, cairo_surface_destroy, (void *)) \
    X(void *, cairo_create, (void *)) \
    X(int, cairo_status, (void *)) \
    X(void, cairo_destroy, (void *))

EIDETIC_CODEC_PLAIN_LIBRARY("librsvg-2.so.2", FUNCTIONS)

void eidetic_svg_prepare(void) {
    pthread_once(&library.once, load);
}

unsigned eidetic_svg_version(void) {
    eidetic_svg_prepare();
    if (!library.is_loaded) return 0;
    return *lib.rsvg_major_version * 1000000 + *lib.rsvg_minor_version * 1000 + *lib.rsvg_micro_version;
}

static bool fail(g_error *error, eidetic_codec_outcome *outcome) {
    const char *text = error ? error->message : "the document cannot be drawn";
    // Messages of the XML parser end with a line break.
    eidetic_codec_fail(outcome, EIDETIC_CODEC_CORRUPT, "%.*s", (int)strcspn(text, "\n"), text);
    if (error) lib.g_error_free(error);
    return false;
}

// A length in pixels at 96 dots per inch; 0 for a length that depends on the surrounding layout.
static double in_pixels(const rsvg_length *length, double library_pixels) {
    static const double units[] = {
        [UNIT_PX] = 1, [UNIT_EM] = 16, [UNIT_EX] = 8, [UNIT_IN] = 96, [UNIT_CM] = 96 / 2.54, [UNIT_MM] = 96 / 25.4,
        [UNIT_PT] = 96 / 72.0, [UNIT_PC] = 16,
    };
    bool is_known = length->unit > UNIT_PERCENT && length->unit <= UNIT_PC;
    if (!is_known || length->length <= 0) return 0;
    double pixels = length->length * units[length->unit];
    bool is_relative = length->unit == UNIT_EM || length->unit == UNIT_EX;
    bool has_font_size = is_relative && library_pixels > 0 && fabs(library_pixels * 16 / 12 - pixels) > 1e-6 * pixels;
    return has_font_size ? library_pixels : pixels;
}

// Sets the document's size in pixels. Missing sides are derived from the view box. Without a view box the size is 300
// by 150, the CSS default. Without a stated font size the library's own pixels have an em of 12, where CSS has 16.
static void find_size(eidetic_svg *svg, double *width, double *height) {
    int has_width = 0, has_height = 0, has_box = 0;
    rsvg_length svg_width = {0}, svg_height = {0};
    rsvg_rectangle box = {0};
    lib.rsvg_handle_get_intrinsic_dimensions(
        svg, &has_width, &svg_width, &has_height, &svg_height, &has_box, &box);
    double library_width = 0, library_height = 0;
    lib.rsvg_handle_get_intrinsic_size_in_pixels(svg, &library_width, &library_height);
    bool has_ratio = has_box && box.width > 0 && box.height > 0;
    *width = has_width ? in_pixels(&svg_width, library_width) : 0;
    *height = has_height ? in_pixels(&svg_height, library_height) : 0;
    if (has_ratio && *width > 0 && *height <= 0) *height = *width * box.height / box.width;
    if (has_ratio && *height > 0 && *width <= 0) *width = *height * box.width / box.height;
    if (has_ratio && *width <= 0) *width = box.width, *height = box.height;
    if (*width <= 0) *width = 300;
    if (*height <= 0) *height = 150;
}

// The document is the handle of librsvg itself.
eidetic_svg *eidetic_svg_open(
    const void *bytes, size_t count, double *width, double *height, eidetic_codec_outcome *outcome) {
    if (!eidetic_codec_ensure_loaded(&library, load, outcome)) return NULL;
    g_error *error = NULL;
    eidetic_svg *svg = lib.rsvg_handle_new_from_data(bytes, count, &error);
    if (!svg) {
        fail(error, outcome);
        return NULL;
    }
    lib.rsvg_handle_set_dpi(svg, 96);
    find_size(svg, width, height);
    return svg;
}

void eidetic_svg_close(eidetic_svg *svg) {
    if (svg) lib.g_object_unref(svg);
}

bool eidetic_svg_draw(
    eidetic_svg *svg, eidetic_svg *background, uint8_t *pixels, uint32_t width, uint32_t height, size_t bytes_per_row,
    eidetic_codec_outcome *outcome) {
    if (width > 32767 || height > 32767) {
        return eidetic_codec_fail(
            outcome, EIDETIC_CODEC_LIMIT, "the size is %ux%u pixels; the limit is 32767 per side", width, height);
    }
    memset(pixels, 0, bytes_per_row * height);
    void *surface = lib.cairo_image_surface_create_for_data(
        pixels, FORMAT_ARGB32, (int)width, (int)height, (int)bytes_per_row);
    void *cairo = lib.cairo_create(surface);
    rsvg_rectangle viewport = {0, 0, width, height};
    g_error *error = NULL;
    bool is_drawn = lib.cairo_status(cairo) == 0 &&
        (!background || lib.rsvg_handle_render_document(background, cairo, &viewport, &error)) &&
        lib.rsvg_handle_render_document(svg, cairo, &viewport, &error);
    if (!is_drawn) fail(error, outcome);
    lib.cairo_destroy(cairo);
    lib.cairo_surface_flush(surface);
    lib.cairo_surface_destroy(surface);
    // cairo stores blue, green, red, alpha on a little-endian machine.
    if (is_drawn) eidetic_pixels_swap_red_blue(pixels, bytes_per_row / 4 * height, 4, true, pixels);
    return is_drawn;
}
#endif
