#include <string.h>

#include "CPixels.h"
#include "Reading.h"

/// The largest number of rows that the library is asked for at once.
enum { rows_per_call = 4 };

struct eidetic_jpeg_decoder {
    reader reader;
    size_t count;
    int is_past_end;         // the bytes ended before the end marker
    int ended_within_block;  // the entropy-coded data ended within a block
    int is_damaged;          // a warning indicated wrong pixels
    JSAMPARRAY grey_rows;    // the output of a grey image, before it is expanded
    unsigned seen;           // bit n is set once a scan contains component n
    char message[JMSG_LENGTH_MAX];
};

static eidetic_jpeg_decoder *decoder_of(j_common_ptr library) { return library->client_data; }

static void fail(j_common_ptr library) {
    eidetic_jpeg_decoder *decoder = decoder_of(library);
    decoder->reader.errors.format_message(library, decoder->message);
    longjmp(decoder->reader.escape, 1);
}

static void warn(j_common_ptr library, int level) {
    if (level >= 0) return;
    eidetic_jpeg_decoder *decoder = decoder_of(library);
    switch (decoder->reader.errors.msg_code) {
    case JWRN_HIT_MARKER:
        decoder->ended_within_block = 1;
        // A progressive scan that ends early only loses detail. A baseline scan loses all rows that follow.
        if (!decoder->reader.library.progressive_mode) decoder->is_damaged = 1;
        break;
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
        decoder->is_damaged = 1;
        break;
    default:
        return;
    }
    if (!decoder->message[0]) decoder->reader.errors.format_message(library, decoder->message);
}

static boolean append_end_marker(j_decompress_ptr library) {
    static const JOCTET end[2] = {0xff, JPEG_EOI};
    decoder_of((j_common_ptr)library)->is_past_end = 1;
    library->src->next_input_byte = end;
    library->src->bytes_in_buffer = 2;
    return TRUE;
}

static void skip_input(j_decompress_ptr library, long count) {
    if (count <= 0) return;
    if ((size_t)count >= library->src->bytes_in_buffer) {
        append_end_marker(library);
    } else {
        library->src->next_input_byte += count;
        library->src->bytes_in_buffer -= (size_t)count;
    }
}

unsigned eidetic_jpeg_version(void) {
    return LIBJPEG_TURBO_VERSION_NUMBER;
}

eidetic_jpeg_decoder *eidetic_jpeg_decoder_create(const uint8_t *bytes, size_t count) {
    eidetic_jpeg_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->count = count;
    decoder->reader.errors.error_exit = fail;
    decoder->reader.errors.emit_message = warn;
    decoder->reader.source.next_input_byte = bytes;
    decoder->reader.source.bytes_in_buffer = count;
    decoder->reader.source.fill_input_buffer = append_end_marker;
    decoder->reader.source.skip_input_data = skip_input;
    if (open_reader(&decoder->reader, decoder)) return decoder;
    free(decoder);
    return NULL;
}

void eidetic_jpeg_decoder_destroy(eidetic_jpeg_decoder *decoder) {
    if (!decoder) return;
    close_reader(&decoder->reader);
    free(decoder);
}

static eidetic_jpeg_status failure_status(const eidetic_jpeg_decoder *decoder) {
    switch (decoder->reader.errors.msg_code) {
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

static void record_components(eidetic_jpeg_decoder *decoder) {
    for (int i = 0; i < decoder->reader.library.comps_in_scan; i++)
        decoder->seen |= 1u << decoder->reader.library.cur_comp_info[i]->component_index;
}

eidetic_jpeg_status eidetic_jpeg_read_header(eidetic_jpeg_decoder *decoder, unsigned scale) {
    struct jpeg_decompress_struct *library = &decoder->reader.library;
    if (setjmp(decoder->reader.escape)) return failure_status(decoder);
    jpeg_read_header(library, TRUE);
    configure(library, scale);
    if (library->jpeg_color_space == JCS_GRAYSCALE) {
        // The library expands one byte after the other, which takes longer than the rest of the conversion.
        library->out_color_space = JCS_GRAYSCALE;
        decoder->grey_rows = library->mem->alloc_sarray(
            (j_common_ptr)library, JPOOL_IMAGE, library->output_width, rows_per_call);
    }
    return EIDETIC_JPEG_OK;
}

eidetic_jpeg_status eidetic_jpeg_consume_input(eidetic_jpeg_decoder *decoder, int *is_done) {
    struct jpeg_decompress_struct *library = &decoder->reader.library;
    if (setjmp(decoder->reader.escape)) return failure_status(decoder);
    if (!library->buffered_image) {
        *is_done = 1;
        return EIDETIC_JPEG_OK;
    }
    if (!decoder->seen) {
        jpeg_start_decompress(library);
        record_components(decoder);
    }
    int state = jpeg_consume_input(library);
    if (state == JPEG_REACHED_SOS) record_components(decoder);
    if (library->input_scan_number > EIDETIC_JPEG_MAXIMUM_SCANS) return EIDETIC_JPEG_TOO_MANY_SCANS;
    *is_done = state == JPEG_REACHED_EOI;
    return EIDETIC_JPEG_OK;
}

eidetic_jpeg_status eidetic_jpeg_start(eidetic_jpeg_decoder *decoder) {
    struct jpeg_decompress_struct *library = &decoder->reader.library;
    if (setjmp(decoder->reader.escape)) return failure_status(decoder);
    if (library->buffered_image) {
        jpeg_start_output(library, library->input_scan_number);
    } else {
        jpeg_start_decompress(library);
        record_components(decoder);
    }
    return EIDETIC_JPEG_OK;
}

eidetic_jpeg_status eidetic_jpeg_read_rows(
    eidetic_jpeg_decoder *decoder, uint8_t *rows, size_t bytes_per_row, unsigned count, unsigned *read) {
    struct jpeg_decompress_struct *library = &decoder->reader.library;
    *read = 0;
    if (setjmp(decoder->reader.escape)) return failure_status(decoder);
    while (*read < count && library->output_scanline < library->output_height) {
        JSAMPROW next[rows_per_call];
        unsigned requested = count - *read < rows_per_call ? count - *read : rows_per_call;
        for (unsigned i = 0; i < requested; i++) next[i] = rows + (*read + i) * bytes_per_row;
        JSAMPARRAY grey = decoder->grey_rows;
        JDIMENSION decoded = jpeg_read_scanlines(library, grey ? grey : next, requested);
        if (!decoded) break;
        for (unsigned i = 0; grey && i < decoded; i++)
            eidetic_pixels_expand(grey[i], library->output_width, 1, next[i]);
        *read += decoded;
    }
    return *read ? EIDETIC_JPEG_OK : EIDETIC_JPEG_FAILED;
}

eidetic_jpeg_info eidetic_jpeg_decoder_info(const eidetic_jpeg_decoder *decoder) {
    return info_of(&decoder->reader.library);
}

int eidetic_jpeg_is_truncated(const eidetic_jpeg_decoder *decoder) {
    const struct jpeg_decompress_struct *library = &decoder->reader.library;
    if (!decoder->is_past_end) return 0;
    // A frame of more components is refused, and none of them is seen.
    if (library->num_components > MAX_COMPONENTS) return 1;
    if (decoder->ended_within_block || decoder->seen != (1u << library->num_components) - 1) return 1;
    if (!library->progressive_mode || !library->coef_bits) return 0;
    for (int component = 0; component < library->num_components; component++)
        for (int k = 0; k < DCTSIZE2; k++)
            if (library->coef_bits[component][k] != 0) return 1;
    return 0;
}

int eidetic_jpeg_is_damaged(const eidetic_jpeg_decoder *decoder) { return decoder->is_damaged; }

size_t eidetic_jpeg_offset(const eidetic_jpeg_decoder *decoder) {
    return decoder->is_past_end ? decoder->count : decoder->count - decoder->reader.source.bytes_in_buffer;
}

const char *eidetic_jpeg_message(const eidetic_jpeg_decoder *decoder) { return decoder->message; }
