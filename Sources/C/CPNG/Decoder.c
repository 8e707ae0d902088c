#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "CPNG.h"
#include "Metadata.h"

struct eidetic_png_decoder {
    png_structp library;
    png_infop info;
    const uint8_t *bytes;
    size_t count, offset;
    eidetic_png_status status;
    int fills_blocks; // whether a pixel of a coarse pass stands for those around it that are missing
    char message[128];
};

static void record_failure(eidetic_png_decoder *decoder, eidetic_png_status status, const char *message) {
    decoder->status = status;
    snprintf(decoder->message, sizeof decoder->message, "%s", message);
}

static void fail(png_structp library, png_const_charp message) {
    eidetic_png_decoder *decoder = png_get_error_ptr(library);
    int is_checksum = !strcmp(message, "IDAT: CRC error");
    if (decoder->status == EIDETIC_PNG_OK)
        record_failure(decoder, is_checksum ? EIDETIC_PNG_BAD_CHECKSUM : EIDETIC_PNG_FAILED, message);
    png_longjmp(library, 1);
}

static void *allocate(png_structp library, png_alloc_size_t count) {
    void *memory = malloc(count);
    if (!memory) record_failure(png_get_mem_ptr(library), EIDETIC_PNG_OUT_OF_MEMORY, "not enough memory for a decoder");
    return memory;
}

static void deallocate(png_structp library, void *memory) {
    (void)library;
    free(memory);
}

static void read_bytes(png_structp library, png_bytep target, size_t count) {
    eidetic_png_decoder *decoder = png_get_io_ptr(library);
    if (count > decoder->count - decoder->offset) {
        decoder->offset = decoder->count;
        record_failure(decoder, EIDETIC_PNG_TRUNCATED, "the file is truncated");
        png_error(library, decoder->message);
    }
    memcpy(target, decoder->bytes + decoder->offset, count);
    decoder->offset += count;
}

void eidetic_png_ignore_metadata(png_structp library) {
    static const png_byte names[] = "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0sRGB\0"
                                    "sTER\0tEXt\0tIME\0zTXt";
    png_set_keep_unknown_chunks(library, PNG_HANDLE_CHUNK_NEVER, names, (int)(sizeof names / 5));
}

void eidetic_png_ignore_warning(png_structp library, png_const_charp message) {
    if (!strcmp(message, "PLTE: duplicate")) png_error(library, message);
}

const char *eidetic_png_version(void) {
    return png_get_libpng_ver(NULL);
}

eidetic_png_decoder *eidetic_png_decoder_create(const uint8_t *bytes, size_t count) {
    eidetic_png_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->bytes = bytes;
    decoder->count = count;
    decoder->library = png_create_read_struct_2(
        PNG_LIBPNG_VER_STRING, decoder, fail, eidetic_png_ignore_warning, decoder, allocate, deallocate);
    decoder->info = decoder->library ? png_create_info_struct(decoder->library) : NULL;
    if (!decoder->info) {
        eidetic_png_decoder_destroy(decoder);
        return NULL;
    }
    return decoder;
}

void eidetic_png_decoder_destroy(eidetic_png_decoder *decoder) {
    if (!decoder) return;
    png_destroy_read_struct(&decoder->library, &decoder->info, NULL);
    free(decoder);
}

eidetic_png_status eidetic_png_start(
    eidetic_png_decoder *decoder, int ignores_chunk_checksums, int accepts_partial, int is_deep, uint32_t *width,
    uint32_t *height, int *passes) {
    png_structp library = decoder->library;
    if (setjmp(png_jmpbuf(library))) return decoder->status;
    // The library reads this many bytes of the pixels at a time, and fails without those that are there of the last.
    if (accepts_partial) png_set_compression_buffer_size(library, 1);
    decoder->fills_blocks = accepts_partial;
    if (ignores_chunk_checksums) {
        png_set_crc_action(library, PNG_CRC_QUIET_USE, PNG_CRC_WARN_DISCARD);
        png_set_benign_errors(library, 0);
    }
    png_set_read_fn(library, decoder, read_bytes);
    png_set_user_limits(library, PNG_UINT_31_MAX, PNG_UINT_31_MAX); // the caller has checked the size
    eidetic_png_ignore_metadata(library);
    png_read_info(library, decoder->info);
    *width = png_get_image_width(library, decoder->info);
    *height = png_get_image_height(library, decoder->info);
    png_set_expand(library);
    if (is_deep) {
        png_set_swap(library);
    } else {
        png_set_scale_16(library);
    }
    png_set_gray_to_rgb(library);
    png_set_add_alpha(library, is_deep ? 0xffff : 0xff, PNG_FILLER_AFTER);
    *passes = png_set_interlace_handling(library);
    png_read_update_info(library, decoder->info);
    if (png_get_rowbytes(library, decoder->info) != (is_deep ? 8 : 4) * (size_t)*width) png_error(library, "unexpected row length");
    return EIDETIC_PNG_OK;
}

eidetic_png_status eidetic_png_read_rows(
    eidetic_png_decoder *decoder, uint8_t *rows, size_t bytes_per_row, uint32_t count) {
    if (setjmp(png_jmpbuf(decoder->library))) return decoder->status;
    for (uint32_t y = 0; y < count; y++) {
        uint8_t *row = rows + y * bytes_per_row;
        png_read_row(decoder->library, decoder->fills_blocks ? NULL : row, decoder->fills_blocks ? row : NULL);
    }
    return EIDETIC_PNG_OK;
}

eidetic_png_status eidetic_png_finish(eidetic_png_decoder *decoder) {
    if (setjmp(png_jmpbuf(decoder->library))) return decoder->status;
    png_read_end(decoder->library, NULL);
    return EIDETIC_PNG_OK;
}

eidetic_png_status eidetic_png_last_status(const eidetic_png_decoder *decoder) { return decoder->status; }
size_t eidetic_png_offset(const eidetic_png_decoder *decoder) { return decoder->offset; }
const char *eidetic_png_message(const eidetic_png_decoder *decoder) { return decoder->message; }
