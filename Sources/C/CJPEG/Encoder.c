#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
// After jpeglib.h: its macros determine the numbers of the messages.
#include <jerror.h>

#include "CJPEG.h"

struct encoder {
    struct jpeg_compress_struct library;
    struct jpeg_error_mgr errors;
    jmp_buf escape;
    char *message;
    unsigned char *encoded;
    unsigned long count;
};

static void fail(j_common_ptr library) {
    struct encoder *encoder = library->client_data;
    encoder->errors.format_message(library, encoder->message);
    longjmp(encoder->escape, 1);
}

static void ignore_message(j_common_ptr library) { (void)library; }

// Sets the tables of a quality: for whole numbers as the library does, and between them for all others.
static void set_quality(struct jpeg_compress_struct *library, double quality) {
    jpeg_set_quality(library, (int)quality, TRUE);
    if (quality == (int)quality) return;
    double percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
    jpeg_set_linear_quality(library, 100, TRUE);
    for (int table = 0; table < 2; table++) {
        UINT16 *steps = library->quant_tbl_ptrs[table]->quantval;
        for (int i = 0; i < DCTSIZE2; i++) {
            double step = (steps[i] * percent + 50) / 100;
            steps[i] = step < 1 ? 1 : step > 255 ? 255 : (UINT16)step;
        }
    }
}

static void configure(struct encoder *encoder, uint32_t width, uint32_t height, eidetic_jpeg_form form) {
    struct jpeg_compress_struct *library = &encoder->library;
    library->image_width = width;
    library->image_height = height;
    library->input_components = 4;
    library->in_color_space = JCS_EXT_RGBX;
    jpeg_set_defaults(library);
    set_quality(library, form.quality);
    library->comp_info[0].h_samp_factor = form.chroma;
    library->comp_info[0].v_samp_factor = form.chroma;
    if (form.is_progressive) jpeg_simple_progression(library);
    library->optimize_coding = TRUE;
}

eidetic_jpeg_status eidetic_jpeg_encode(
    const uint8_t *pixels, size_t bytes_per_row, uint32_t width, uint32_t height, eidetic_jpeg_form form,
    uint8_t **encoded, size_t *count, char *message, size_t capacity) {
    char text[JMSG_LENGTH_MAX] = "";
    struct encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) return EIDETIC_JPEG_OUT_OF_MEMORY;
    encoder->message = text;
    encoder->library.err = jpeg_std_error(&encoder->errors);
    encoder->errors.error_exit = fail;
    encoder->errors.output_message = ignore_message;
    encoder->library.client_data = encoder;
    if (setjmp(encoder->escape)) {
        snprintf(message, capacity, "%s", text);
        int code = encoder->errors.msg_code;
        jpeg_destroy_compress(&encoder->library);
        free(encoder->encoded);
        free(encoder);
        return code == JERR_OUT_OF_MEMORY ? EIDETIC_JPEG_OUT_OF_MEMORY : EIDETIC_JPEG_FAILED;
    }
    jpeg_create_compress(&encoder->library);
    jpeg_mem_dest(&encoder->library, &encoder->encoded, &encoder->count);
    configure(encoder, width, height, form);
    jpeg_start_compress(&encoder->library, TRUE);
    while (encoder->library.next_scanline < height) {
        JSAMPROW row = (JSAMPROW)(pixels + encoder->library.next_scanline * bytes_per_row);
        jpeg_write_scanlines(&encoder->library, &row, 1);
    }
    jpeg_finish_compress(&encoder->library);
    *encoded = encoder->encoded;
    *count = encoder->count;
    jpeg_destroy_compress(&encoder->library);
    free(encoder);
    return EIDETIC_JPEG_OK;
}
