#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
// After jpeglib.h, whose macros decide which numbers the messages have.
#include <jerror.h>

#include "CJPEG.h"

struct eidetic_jpeg_decoder {
    struct jpeg_decompress_struct library;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    jmp_buf escape;
    size_t count;
    int ran_out;   // the bytes ended before the end marker
    int starved;   // entropy-coded data ended in the middle of a block
    int damaged;   // a warning that means wrong pixels
    unsigned seen; // bit n: component n was in some scan
    char message[JMSG_LENGTH_MAX];
};

static eidetic_jpeg_decoder *owner(j_common_ptr library) { return library->client_data; }

static void fail(j_common_ptr library) {
    eidetic_jpeg_decoder *decoder = owner(library);
    decoder->errors.format_message(library, decoder->message);
    longjmp(decoder->escape, 1);
}

static void warn(j_common_ptr library, int level) {
    if (level >= 0) return;
    eidetic_jpeg_decoder *decoder = owner(library);
    switch (decoder->errors.msg_code) {
    case JWRN_HIT_MARKER:
        decoder->starved = 1;
        // A progressive scan that ends early costs detail, and only that; a baseline one costs all that follows.
        if (!decoder->library.progressive_mode) decoder->damaged = 1;
        break;
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
        decoder->damaged = 1;
        break;
    default:
        return;
    }
    if (!decoder->message[0]) decoder->errors.format_message(library, decoder->message);
}

static void keep_silent(j_common_ptr library) { (void)library; }
static void begin_source(j_decompress_ptr library) { (void)library; }

static boolean fill(j_decompress_ptr library) {
    static const JOCTET end[2] = {0xff, JPEG_EOI};
    owner((j_common_ptr)library)->ran_out = 1;
    library->src->next_input_byte = end;
    library->src->bytes_in_buffer = 2;
    return TRUE;
}

static void skip(j_decompress_ptr library, long count) {
    if (count <= 0) return;
    if ((size_t)count >= library->src->bytes_in_buffer) {
        fill(library);
    } else {
        library->src->next_input_byte += count;
        library->src->bytes_in_buffer -= (size_t)count;
    }
}

eidetic_jpeg_decoder *eidetic_jpeg_decoder_create(const uint8_t *bytes, size_t count) {
    eidetic_jpeg_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->library.err = jpeg_std_error(&decoder->errors);
    decoder->errors.error_exit = fail;
    decoder->errors.emit_message = warn;
    decoder->errors.output_message = keep_silent;
    decoder->library.client_data = decoder;
    if (setjmp(decoder->escape)) {
        free(decoder);
        return NULL;
    }
    jpeg_create_decompress(&decoder->library);
    decoder->count = count;
    decoder->source.next_input_byte = bytes;
    decoder->source.bytes_in_buffer = count;
    decoder->source.init_source = begin_source;
    decoder->source.fill_input_buffer = fill;
    decoder->source.skip_input_data = skip;
    decoder->source.resync_to_restart = jpeg_resync_to_restart;
    decoder->source.term_source = begin_source;
    decoder->library.src = &decoder->source;
    return decoder;
}

void eidetic_jpeg_decoder_destroy(eidetic_jpeg_decoder *decoder) {
    if (!decoder) return;
    if (!setjmp(decoder->escape)) jpeg_destroy_decompress(&decoder->library);
    free(decoder);
}

static eidetic_jpeg_status failure(const eidetic_jpeg_decoder *decoder) {
    switch (decoder->errors.msg_code) {
    case JERR_OUT_OF_MEMORY:
        return EIDETIC_JPEG_OUT_OF_MEMORY;
    case JERR_BAD_PRECISION:
    case JERR_SOF_UNSUPPORTED:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_ARITH_NOTIMPL:
        return EIDETIC_JPEG_UNSUPPORTED;
    default:
        return EIDETIC_JPEG_FAILED;
    }
}

static void note_components(eidetic_jpeg_decoder *decoder) {
    for (int i = 0; i < decoder->library.comps_in_scan; i++)
        decoder->seen |= 1u << decoder->library.cur_comp_info[i]->component_index;
}

eidetic_jpeg_status eidetic_jpeg_read_header(eidetic_jpeg_decoder *decoder, unsigned scale) {
    struct jpeg_decompress_struct *library = &decoder->library;
    if (setjmp(decoder->escape)) return failure(decoder);
    jpeg_read_header(library, TRUE);
    library->scale_num = scale;
    library->scale_denom = 8;
    int is_cmyk = library->jpeg_color_space == JCS_CMYK || library->jpeg_color_space == JCS_YCCK;
    library->out_color_space = is_cmyk ? JCS_CMYK : JCS_EXT_RGBA;
    library->buffered_image = jpeg_has_multiple_scans(library);
    jpeg_calc_output_dimensions(library);
    return EIDETIC_JPEG_OK;
}

eidetic_jpeg_status eidetic_jpeg_absorb(eidetic_jpeg_decoder *decoder, int *done) {
    struct jpeg_decompress_struct *library = &decoder->library;
    if (setjmp(decoder->escape)) return failure(decoder);
    if (!library->buffered_image) {
        *done = 1;
        return EIDETIC_JPEG_OK;
    }
    if (!decoder->seen) {
        jpeg_start_decompress(library);
        note_components(decoder);
    }
    int state = jpeg_consume_input(library);
    if (state == JPEG_REACHED_SOS) note_components(decoder);
    *done = state == JPEG_REACHED_EOI;
    return EIDETIC_JPEG_OK;
}

eidetic_jpeg_status eidetic_jpeg_start(eidetic_jpeg_decoder *decoder) {
    struct jpeg_decompress_struct *library = &decoder->library;
    if (setjmp(decoder->escape)) return failure(decoder);
    if (library->buffered_image) {
        jpeg_start_output(library, library->input_scan_number);
    } else {
        jpeg_start_decompress(library);
        note_components(decoder);
    }
    return EIDETIC_JPEG_OK;
}

eidetic_jpeg_status eidetic_jpeg_read_rows(
    eidetic_jpeg_decoder *decoder, uint8_t *rows, size_t bytes_per_row, unsigned count, unsigned *read) {
    struct jpeg_decompress_struct *library = &decoder->library;
    *read = 0;
    if (setjmp(decoder->escape)) return failure(decoder);
    while (*read < count && library->output_scanline < library->output_height) {
        JSAMPROW next[4];
        unsigned asked = count - *read < 4 ? count - *read : 4;
        for (unsigned i = 0; i < asked; i++) next[i] = rows + (*read + i) * bytes_per_row;
        JDIMENSION got = jpeg_read_scanlines(library, next, asked);
        if (!got) break;
        *read += got;
    }
    return *read ? EIDETIC_JPEG_OK : EIDETIC_JPEG_FAILED;
}

uint32_t eidetic_jpeg_stored_width(const eidetic_jpeg_decoder *decoder) { return decoder->library.image_width; }
uint32_t eidetic_jpeg_stored_height(const eidetic_jpeg_decoder *decoder) { return decoder->library.image_height; }
uint32_t eidetic_jpeg_output_width(const eidetic_jpeg_decoder *decoder) { return decoder->library.output_width; }
uint32_t eidetic_jpeg_output_height(const eidetic_jpeg_decoder *decoder) { return decoder->library.output_height; }

eidetic_jpeg_model eidetic_jpeg_output_model(const eidetic_jpeg_decoder *decoder) {
    if (decoder->library.out_color_space != JCS_CMYK) return EIDETIC_JPEG_RGBA;
    return decoder->library.saw_Adobe_marker ? EIDETIC_JPEG_INVERTED_CMYK : EIDETIC_JPEG_CMYK;
}

int eidetic_jpeg_is_truncated(const eidetic_jpeg_decoder *decoder) {
    const struct jpeg_decompress_struct *library = &decoder->library;
    if (!decoder->ran_out) return 0;
    if (decoder->starved || decoder->seen != (1u << library->num_components) - 1) return 1;
    if (!library->progressive_mode || !library->coef_bits) return 0;
    for (int component = 0; component < library->num_components; component++)
        for (int k = 0; k < DCTSIZE2; k++)
            if (library->coef_bits[component][k] != 0) return 1;
    return 0;
}

int eidetic_jpeg_is_damaged(const eidetic_jpeg_decoder *decoder) { return decoder->damaged; }

size_t eidetic_jpeg_offset(const eidetic_jpeg_decoder *decoder) {
    return decoder->ran_out ? decoder->count : decoder->count - decoder->source.bytes_in_buffer;
}

const char *eidetic_jpeg_message(const eidetic_jpeg_decoder *decoder) { return decoder->message; }
