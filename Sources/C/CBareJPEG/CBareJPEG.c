#include "CBareJPEG.h"

#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

unsigned char *eidetic_bare_jpeg_decode(const unsigned char *bytes, size_t count, unsigned int denominator) {
    struct jpeg_error_mgr errors;
    struct jpeg_decompress_struct info;
    info.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, bytes, count);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_EXT_RGBA;
    info.scale_num = 1;
    info.scale_denom = denominator;
    jpeg_start_decompress(&info);
    size_t stride = (size_t)info.output_width * 4;
    unsigned char *pixels = malloc(stride * info.output_height);
    if (!pixels) abort();
    while (info.output_scanline < info.output_height) {
        JSAMPROW rows[4];
        for (int row = 0; row < 4; row++) rows[row] = pixels + (info.output_scanline + row) * stride;
        unsigned int remaining = info.output_height - info.output_scanline;
        jpeg_read_scanlines(&info, rows, remaining < 4 ? remaining : 4);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return pixels;
}

unsigned char *eidetic_bare_jpeg_encode(const unsigned char *pixels, unsigned int width, unsigned int height,
                                        int quality, int is_progressive, size_t *count) {
    struct jpeg_error_mgr errors;
    struct jpeg_compress_struct info;
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    unsigned char *bytes = NULL;
    unsigned long size = 0;
    jpeg_mem_dest(&info, &bytes, &size);
    info.image_width = width;
    info.image_height = height;
    info.input_components = 4;
    info.in_color_space = JCS_EXT_RGBA;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, quality, TRUE);
    if (is_progressive) jpeg_simple_progression(&info);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < height) {
        JSAMPROW row = (JSAMPROW)pixels + (size_t)info.next_scanline * width * 4;
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    *count = size;
    return bytes;
}
