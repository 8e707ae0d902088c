#include "CBareCodecs.h"
#include "Source.h"

#include <stdlib.h>
#include <string.h>

#include <png.h>
#include <webp/decode.h>

static void read_png(png_structp library, png_bytep target, size_t count) {
    struct source *source = png_get_io_ptr(library);
    if (count > (size_t)(source->end - source->next)) abort();
    memcpy(target, source->next, count);
    source->next += count;
}

unsigned char *eidetic_bare_png_decode(const unsigned char *bytes, size_t count) {
    struct source source = {bytes, bytes + count};
    png_structp library = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(library);
    if (setjmp(png_jmpbuf(library))) abort();
    png_set_read_fn(library, &source, read_png);
    png_read_info(library, info);
    png_set_expand(library);
    png_set_gray_to_rgb(library);
    png_set_add_alpha(library, 0xff, PNG_FILLER_AFTER);
    png_read_update_info(library, info);
    size_t stride = png_get_rowbytes(library, info), height = png_get_image_height(library, info);
    unsigned char *pixels = malloc(stride * height);
    if (!pixels) abort();
    for (size_t y = 0; y < height; y++) png_read_row(library, pixels + y * stride, NULL);
    png_read_end(library, NULL);
    png_destroy_read_struct(&library, &info, NULL);
    return pixels;
}

unsigned char *eidetic_bare_webp_decode(const unsigned char *bytes, size_t count) {
    int width, height;
    unsigned char *pixels = WebPDecodeRGBA(bytes, count, &width, &height);
    if (!pixels) abort();
    return pixels;
}

unsigned char *eidetic_bare_gif_decode(const unsigned char *bytes, size_t count) {
    struct source source = {bytes, bytes + count};
    GifFileType *file = DGifOpen(&source, read_gif, NULL);
    if (!file || DGifSlurp(file) != GIF_OK) abort();
    const SavedImage *frame = file->SavedImages;
    const ColorMapObject *map = frame->ImageDesc.ColorMap ? frame->ImageDesc.ColorMap : file->SColorMap;
    size_t pixels = (size_t)frame->ImageDesc.Width * (size_t)frame->ImageDesc.Height;
    unsigned char *target = malloc(4 * pixels);
    if (!target || !map) abort();
    for (size_t i = 0; i < pixels; i++) {
        const GifColorType *colour = map->Colors + frame->RasterBits[i];
        target[4 * i] = colour->Red;
        target[4 * i + 1] = colour->Green;
        target[4 * i + 2] = colour->Blue;
        target[4 * i + 3] = 255;
    }
    DGifCloseFile(file, NULL);
    return target;
}
