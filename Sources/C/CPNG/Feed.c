#include <setjmp.h>
#include <stdlib.h>

#include <png.h>

#include "CPNG.h"
#include "Metadata.h"

struct eidetic_png_feed {
    png_structp library;
    png_infop info;
    uint8_t *pixels;
    size_t bytes_per_row;
    uint32_t width, height, rows;
    int is_complete;
};

static void fail(png_structp library, png_const_charp message) {
    (void)message;
    png_longjmp(library, 1);
}

static void start(png_structp library, png_infop info) {
    eidetic_png_feed *feed = png_get_progressive_ptr(library);
    if (png_get_image_width(library, info) != feed->width || png_get_image_height(library, info) != feed->height)
        png_error(library, "the two headers differ in size");
    png_set_expand(library);
    png_set_scale_16(library);
    png_set_gray_to_rgb(library);
    png_set_add_alpha(library, 0xff, PNG_FILLER_AFTER);
    png_set_interlace_handling(library);
    png_read_update_info(library, info);
    if (png_get_rowbytes(library, info) != 4 * (size_t)feed->width) png_error(library, "unexpected row length");
}

// In the first pass of an interlaced image each pixel fills a block, so all rows are written once that pass ends.
static void receive_row(png_structp library, png_bytep row, png_uint_32 y, int pass) {
    eidetic_png_feed *feed = png_get_progressive_ptr(library);
    if (y >= feed->height) return;
    if (row) png_progressive_combine_row(library, feed->pixels + y * feed->bytes_per_row, row);
    if (pass > 0) {
        feed->rows = feed->height;
    } else if (feed->rows <= y) {
        feed->rows = y + 1;
    }
}

static void end(png_structp library, png_infop info) {
    (void)info;
    eidetic_png_feed *feed = png_get_progressive_ptr(library);
    feed->is_complete = 1;
}

eidetic_png_feed *eidetic_png_feed_create(uint8_t *pixels, size_t bytes_per_row, uint32_t width, uint32_t height) {
    eidetic_png_feed *feed = calloc(1, sizeof *feed);
    if (!feed) return NULL;
    *feed = (eidetic_png_feed){.pixels = pixels, .bytes_per_row = bytes_per_row, .width = width, .height = height};
    feed->library = png_create_read_struct(PNG_LIBPNG_VER_STRING, feed, fail, eidetic_png_ignore_warning);
    feed->info = feed->library ? png_create_info_struct(feed->library) : NULL;
    if (!feed->info || setjmp(png_jmpbuf(feed->library))) {
        eidetic_png_feed_destroy(feed);
        return NULL;
    }
    png_set_user_limits(feed->library, PNG_UINT_31_MAX, PNG_UINT_31_MAX); // the caller has checked the size
    eidetic_png_ignore_metadata(feed->library);
    png_set_progressive_read_fn(feed->library, feed, start, receive_row, end);
    return feed;
}

void eidetic_png_feed_destroy(eidetic_png_feed *feed) {
    if (!feed) return;
    png_destroy_read_struct(&feed->library, &feed->info, NULL);
    free(feed);
}

eidetic_png_status eidetic_png_feed_add(eidetic_png_feed *feed, const uint8_t *bytes, size_t count) {
    if (setjmp(png_jmpbuf(feed->library))) return EIDETIC_PNG_FAILED;
    // The library does not modify the bytes.
    png_process_data(feed->library, feed->info, (png_bytep)bytes, count);
    return EIDETIC_PNG_OK;
}

uint32_t eidetic_png_feed_rows(const eidetic_png_feed *feed) { return feed->rows; }
int eidetic_png_feed_is_complete(const eidetic_png_feed *feed) { return feed->is_complete; }
