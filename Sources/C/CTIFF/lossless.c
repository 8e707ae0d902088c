// Strips and tiles of lossless JPEG, which libjpeg-turbo supports from version 3 on only.
// - SeeAlso: TIFF Technical Note 2.
#include <stdlib.h>
#include <string.h>

#include "CJPEG.h"
#include "tiff.h"

// Sets the coded bytes of a piece, which is complete. Returns false if it lies outside the file.
static bool find_bytes(const eidetic_tiff *tiff, uint32_t index, const uint8_t **bytes, size_t *count) {
    uint64_t offset = TIFFGetStrileOffset(tiff->file, index), length = TIFFGetStrileByteCount(tiff->file, index);
    if (offset >= tiff->count || length > tiff->count - offset) return false;
    *bytes = tiff->bytes + offset;
    *count = length;
    return true;
}

bool tiff_is_lossless(const eidetic_tiff *tiff, uint32_t index) {
    const uint8_t *bytes;
    size_t count, offset = 2;
    if (tiff->compression != COMPRESSION_JPEG && tiff->compression != COMPRESSION_OJPEG) return false;
    if (!find_bytes(tiff, index, &bytes, &count)) return false;
    while (count >= 4 && offset <= count - 4 && bytes[offset] == 0xff) {
        uint8_t marker = bytes[offset + 1];
        if (marker == 0xc3) return true;
        // Tables and applications' data may precede the frame.
        if (marker != 0xc4 && marker != 0xdb && marker != 0xdd && marker < 0xe0) return false;
        offset += 2 + (((size_t)bytes[offset + 2] << 8) | bytes[offset + 3]);
    }
    return false;
}

// Packs samples from the most significant bit on, as the library lays them out; 16 bits in the machine's byte order.
static void pack(const uint16_t *samples, size_t count, unsigned bits, uint8_t *row) {
    if (bits == 16) {
        memcpy(row, samples, 2 * count);
        return;
    }
    uint32_t buffer = 0;
    unsigned available = 0;
    for (size_t i = 0; i < count; i++) {
        buffer = buffer << bits | samples[i];
        for (available += bits; available >= 8; available -= 8) *row++ = (uint8_t)(buffer >> (available - 8));
    }
    if (available) *row = (uint8_t)(buffer << (8 - available));
}

static bool fail(eidetic_jpeg_status status, eidetic_codec_outcome *outcome) {
    switch (status) {
    case EIDETIC_JPEG_TRUNCATED:
        return eidetic_codec_fail(outcome, EIDETIC_CODEC_CORRUPT, "lossless JPEG ends within a strip or tile");
    case EIDETIC_JPEG_OUT_OF_MEMORY:
        return eidetic_codec_fail(outcome, EIDETIC_CODEC_NO_MEMORY, "not enough memory for lossless JPEG");
    case EIDETIC_JPEG_UNSUPPORTED:
        return eidetic_codec_fail(outcome, EIDETIC_CODEC_UNSUPPORTED, "this kind of lossless JPEG is not supported");
    default: return eidetic_codec_fail(outcome, EIDETIC_CODEC_CORRUPT, "lossless JPEG has invalid Huffman codes");
    }
}

static bool check(
    const eidetic_tiff *tiff, const eidetic_lossless *decoder, uint32_t row_samples, uint32_t height,
    eidetic_codec_outcome *outcome) {
    uint32_t components = (uint32_t)eidetic_lossless_components(decoder), width = eidetic_lossless_width(decoder);
    // A frame may hold two columns of the image as two components.
    if (width * components == row_samples && eidetic_lossless_height(decoder) >= height &&
        eidetic_lossless_precision(decoder) == tiff->bits && tiff->photometric != PHOTOMETRIC_YCBCR) {
        return true;
    }
    return eidetic_codec_fail(
        outcome, EIDETIC_CODEC_CORRUPT, "lossless JPEG of %ux%u pixels, %u components and %d bits does not fit", width,
        eidetic_lossless_height(decoder), components, eidetic_lossless_precision(decoder));
}

bool tiff_read_lossless(
    const eidetic_tiff *tiff, uint32_t index, uint32_t row_samples, uint32_t height, uint8_t *rows,
    size_t bytes_per_row, eidetic_codec_outcome *outcome) {
    const uint8_t *bytes = NULL;
    size_t count = 0;
    uint32_t table_count = 0;
    void *tables = NULL;
    eidetic_lossless *decoder = NULL;
    if (!TIFFGetField(tiff->file, TIFFTAG_JPEGTABLES, &table_count, &tables)) tables = NULL;
    eidetic_jpeg_status status = find_bytes(tiff, index, &bytes, &count)
        ? eidetic_lossless_create_samples(tables, table_count, bytes, count, &decoder) : EIDETIC_JPEG_TRUNCATED;
    if (status != EIDETIC_JPEG_OK) return fail(status, outcome);
    uint16_t *samples = NULL;
    bool is_read = check(tiff, decoder, row_samples, height, outcome);
    if (is_read && !(samples = malloc(2 * (size_t)row_samples))) is_read = fail(EIDETIC_JPEG_OUT_OF_MEMORY, outcome);
    for (uint32_t y = 0; y < height && is_read; y++) {
        status = eidetic_lossless_read_samples(decoder, samples);
        is_read = status == EIDETIC_JPEG_OK || fail(status, outcome);
        if (is_read) pack(samples, row_samples, tiff->bits, rows + y * bytes_per_row);
    }
    free(samples);
    eidetic_lossless_destroy(decoder);
    return is_read;
}
