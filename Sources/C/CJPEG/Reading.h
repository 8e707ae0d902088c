// What the decoder of a whole file and that of a file that arrives gradually have in common.
#pragma once
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
// After jpeglib.h: its macros determine the numbers of the messages.
#include <jerror.h>

#include "CJPEG.h"

/// The library and its source; the library's errors lead to `escape`.
typedef struct {
    struct jpeg_decompress_struct library;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    jmp_buf escape;
} reader;

static inline void ignore_message(j_common_ptr library) { (void)library; }
static inline void do_nothing(j_decompress_ptr library) { (void)library; }

/// Prepares a reader of `owner`, whose own functions of `errors` and `source` are set; returns 0 on failure.
static inline int open_reader(reader *reader, void *owner) {
    struct jpeg_error_mgr own = reader->errors;
    reader->library.err = jpeg_std_error(&reader->errors);
    reader->errors.error_exit = own.error_exit;
    reader->errors.emit_message = own.emit_message;
    reader->errors.output_message = ignore_message;
    reader->library.client_data = owner;
    if (setjmp(reader->escape)) return 0;
    jpeg_create_decompress(&reader->library);
    reader->source.init_source = do_nothing;
    reader->source.resync_to_restart = jpeg_resync_to_restart;
    reader->source.term_source = do_nothing;
    reader->library.src = &reader->source;
    return 1;
}

static inline void close_reader(reader *reader) {
    if (!setjmp(reader->escape)) jpeg_destroy_decompress(&reader->library);
}

/// Chooses size and colours of the output; the header has been read.
static inline void configure(struct jpeg_decompress_struct *library, unsigned scale) {
    library->scale_num = scale;
    library->scale_denom = 8;
    int is_cmyk = library->jpeg_color_space == JCS_CMYK || library->jpeg_color_space == JCS_YCCK;
    library->out_color_space = is_cmyk ? JCS_CMYK : JCS_EXT_RGBA;
    library->buffered_image = jpeg_has_multiple_scans(library);
    jpeg_calc_output_dimensions(library);
}

static inline eidetic_jpeg_info info_of(const struct jpeg_decompress_struct *library) {
    return (eidetic_jpeg_info){
        .stored_width = library->image_width, .stored_height = library->image_height, .width = library->output_width,
        .height = library->output_height,
        .model = library->out_color_space == JCS_CMYK ? EIDETIC_JPEG_CMYK : EIDETIC_JPEG_RGBA,
    };
}
