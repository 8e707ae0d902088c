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

static void ignore(j_decompress_ptr info) { (void)info; }

static boolean suspend(j_decompress_ptr info) {
    (void)info;
    return FALSE;
}

// The number of bytes to skip that have not arrived.
static size_t pending_skip;

static void skip(j_decompress_ptr info, long count) {
    size_t bytes = count > 0 ? (size_t)count : 0, here = bytes < info->src->bytes_in_buffer ? bytes : info->src->bytes_in_buffer;
    info->src->next_input_byte += here;
    info->src->bytes_in_buffer -= here;
    pending_skip += bytes - here;
}

// Adds a part; the parts follow one another in memory.
static void add_part(j_decompress_ptr info, size_t count) {
    size_t skipped = pending_skip < count ? pending_skip : count;
    pending_skip -= skipped;
    info->src->next_input_byte += skipped;
    info->src->bytes_in_buffer += count - skipped;
}

static void read_rows(j_decompress_ptr info, unsigned char *pixels) {
    size_t stride = (size_t)info->output_width * 4;
    while (info->output_scanline < info->output_height) {
        JSAMPROW row = pixels + info->output_scanline * stride;
        if (jpeg_read_scanlines(info, &row, 1) == 0) break;
    }
}

// The last complete scan, or the first one.
static int last_complete_scan(j_decompress_ptr info) {
    int scan = info->input_scan_number;
    return jpeg_input_complete(info) || scan < 2 ? scan : scan - 1;
}

// Shows what has arrived. The pass of the first scan reads rows as they arrive; it cannot end before its scan.
static void show(j_decompress_ptr info, unsigned char *pixels, int *shown_scan) {
    if (*shown_scan && info->input_scan_number <= *shown_scan && !jpeg_input_complete(info)) {
        read_rows(info, pixels);
        return;
    }
    if (*shown_scan) jpeg_finish_output(info);
    *shown_scan = last_complete_scan(info);
    jpeg_start_output(info, *shown_scan);
    read_rows(info, pixels);
}

unsigned char *eidetic_bare_jpeg_passes(const unsigned char *bytes, size_t count, unsigned int pieces) {
    struct jpeg_error_mgr errors;
    struct jpeg_decompress_struct info;
    struct jpeg_source_mgr source = {
        bytes, 0, ignore, suspend, skip, jpeg_resync_to_restart, ignore,
    };
    info.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&info);
    info.src = &source;
    pending_skip = 0;
    unsigned char *pixels = NULL;
    boolean has_header = FALSE, has_started = FALSE;
    int shown_scan = 0;
    for (unsigned int piece = 0; piece < pieces; piece++) {
        add_part(&info, count * (piece + 1) / pieces - count * piece / pieces);
        if (!has_header) has_header = jpeg_read_header(&info, TRUE) != JPEG_SUSPENDED;
        if (!has_header) continue;
        if (!has_started) {
            info.out_color_space = JCS_EXT_RGBA;
            info.buffered_image = TRUE;
            has_started = jpeg_start_decompress(&info);
            if (!has_started) continue;
            pixels = malloc((size_t)info.output_width * info.output_height * 4);
            if (!pixels) abort();
        }
        int status;
        do { status = jpeg_consume_input(&info); } while (status != JPEG_SUSPENDED && status != JPEG_REACHED_EOI);
        show(&info, pixels, &shown_scan);
    }
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
