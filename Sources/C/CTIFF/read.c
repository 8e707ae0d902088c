// Converts strips and tiles to rows of pixels.
#include <stdlib.h>
#include <string.h>

#include "CPixels.h"
#include "tiff.h"

// A rectangle that the file stores as one strip or tile.
typedef struct {
    uint32_t x, y, width, height;  // within the image
    uint32_t row_samples;          // pixels from one row of the piece to the next
    uint32_t index;                // in the first plane
} piece;

typedef struct {
    eidetic_tiff *tiff;
    uint8_t *pixels;
    size_t bytes_per_row;
    uint8_t *coded;         // one piece as the library decodes it
    size_t coded_size;
    uint8_t *samples;       // one row, converted to 8 bits
    unsigned used_samples;  // samples per pixel that are read
} reader;

// Converts the colour and alpha samples of one row to pixels. `alpha` is the index of the alpha sample.
static void write_row(
    const reader *r, const uint8_t *samples, size_t step, unsigned alpha, size_t count, uint8_t *out) {
    const eidetic_tiff *tiff = r->tiff;
    if ((tiff->kind == RGB || tiff->kind == GREY) && step == tiff->colors && !tiff->has_alpha) {
        eidetic_pixels_expand(samples, count, (int)tiff->colors, out);
        return;
    }
    for (size_t i = 0; i < count; i++, samples += step, out += 4) {
        uint8_t opacity = tiff->has_alpha ? samples[alpha] : 255;
        switch (tiff->kind) {
        case GREY: out[0] = out[1] = out[2] = samples[0]; break;
        case INVERTED_GREY: out[0] = out[1] = out[2] = 255 - samples[0]; break;
        case RGB: out[0] = samples[0], out[1] = samples[1], out[2] = samples[2]; break;
        case PALETTE: memcpy(out, tiff->palette[samples[0] | samples[1] << 8], 3); break;
        case CMYK: memcpy(out, samples, 4); continue;
        case LAB: break;
        }
        out[3] = opacity;
    }
}

static size_t byte_count(const eidetic_tiff *tiff, uint64_t samples) {
    return (size_t)((samples * tiff->bits + 7) / 8);
}

// Writes the indices of a row, every `step`-th sample, as two bytes of each pixel.
static void write_indices(const eidetic_tiff *tiff, const uint8_t *source, size_t step, size_t count, uint8_t *out) {
    for (size_t i = 0; i < count; i++) {
        uint64_t index = tiff_sample(source, i * step, tiff->bits);
        out[4 * i] = (uint8_t)index;
        out[4 * i + 1] = (uint8_t)(index >> 8);
    }
}

// Converts a row of a piece whose samples are interleaved.
static void write_interleaved(reader *r, const uint8_t *source, size_t count, uint8_t *out) {
    const eidetic_tiff *tiff = r->tiff;
    const uint8_t *samples = source;
    if (tiff->bits != 8 || tiff->format == SAMPLEFORMAT_IEEEFP) {
        tiff_unpack(source, count * tiff->samples, tiff->bits, tiff->format, r->samples, 1);
        samples = r->samples;
    }
    if (tiff->kind == PALETTE) {
        write_indices(tiff, source, tiff->samples, count, out);
        for (size_t i = 0; tiff->has_alpha && i < count; i++) {
            out[4 * i + 3] = samples[i * tiff->samples + tiff->alpha];
        }
        write_row(r, out, 4, 3, count, out);
        return;
    }
    write_row(r, samples, tiff->samples, tiff->alpha, count, out);
    if (tiff->kind == LAB) tiff_convert_lab(tiff, source, count, tiff->samples, out);
}

// Writes one plane of a decoded piece. Samples of separate planes are stored in the pixels; `finish_planes` converts
// them to colours.
static void write_piece(reader *r, const piece *p, unsigned plane) {
    const eidetic_tiff *tiff = r->tiff;
    bool is_separate = tiff->planes == PLANARCONFIG_SEPARATE;
    size_t row_bytes = byte_count(tiff, (uint64_t)p->row_samples * (is_separate ? 1 : tiff->samples));
    for (uint32_t y = 0; y < p->height; y++) {
        const uint8_t *source = r->coded + y * row_bytes;
        uint8_t *out = r->pixels + (size_t)(p->y + y) * r->bytes_per_row + (size_t)p->x * 4;
        if (!is_separate) {
            write_interleaved(r, source, p->width, out);
        } else if (tiff->kind == PALETTE && plane == 0) {
            write_indices(tiff, source, 1, p->width, out);
        } else {
            unsigned slot = plane < tiff->colors ? plane : 3;
            tiff_unpack(source, p->width, tiff->bits, tiff->format, out + slot, 4);
        }
    }
}

static void finish_planes(reader *r) {
    uint8_t *copy = r->samples;
    for (uint32_t y = 0; y < r->tiff->height; y++) {
        uint8_t *row = r->pixels + y * r->bytes_per_row;
        memcpy(copy, row, (size_t)r->tiff->width * 4);
        write_row(r, copy, 4, 3, r->tiff->width, row);
        if (r->tiff->kind == LAB) tiff_convert_lab(r->tiff, copy, r->tiff->width, 4, row);
    }
}

static bool is_missing(const reader *r, uint32_t index) {
    uint64_t offset = TIFFGetStrileOffset(r->tiff->file, index), count = TIFFGetStrileByteCount(r->tiff->file, index);
    return offset >= r->tiff->count || count > r->tiff->count - offset;
}

// Fax codes are repaired line by line, so a bad line does not fail the decoding.
static bool is_fax(const eidetic_tiff *tiff) {
    return tiff->compression == COMPRESSION_CCITTRLE || tiff->compression == COMPRESSION_CCITTFAX3 ||
        tiff->compression == COMPRESSION_CCITTFAX4 || tiff->compression == COMPRESSION_CCITTRLEW;
}

// Decodes a strip that the library could not decode. If that fails too, the part that the library decoded stays.
static void retry_fax(reader *r, uint32_t index, const piece *p) {
    eidetic_tiff *tiff = r->tiff;
    uint32_t options = 0;
    uint16_t order = FILLORDER_MSB2LSB;
    TIFFGetField(tiff->file, TIFFTAG_GROUP3OPTIONS, &options);
    TIFFGetFieldDefaulted(tiff->file, TIFFTAG_FILLORDER, &order);
    bool is_known = tiff->compression == COMPRESSION_CCITTFAX3 && !(options & GROUP3OPT_2DENCODING) &&
        tiff->bits == 1 && tiff->samples == 1;
    size_t bytes_per_row = byte_count(tiff, p->row_samples), size = bytes_per_row * p->height;
    uint8_t *rows = is_known ? malloc(size) : NULL;
    uint64_t offset = TIFFGetStrileOffset(tiff->file, index), count = TIFFGetStrileByteCount(tiff->file, index);
    eidetic_fax_source source = {tiff->bytes + offset, count, order == FILLORDER_LSB2MSB};
    size_t bit = 0;
    if (rows && eidetic_fax_decode(source, &bit, p->row_samples, p->height, rows, bytes_per_row) == p->height) {
        memcpy(r->coded, rows, size);
    }
    free(rows);
}

static bool read_lossless(reader *r, const piece *p, uint32_t index, eidetic_codec_outcome *outcome) {
    size_t per_pixel = r->tiff->planes == PLANARCONFIG_SEPARATE ? 1 : r->tiff->samples;
    uint64_t row_samples = (uint64_t)p->row_samples * per_pixel;
    return row_samples <= UINT32_MAX && tiff_read_lossless(
        r->tiff, index, (uint32_t)row_samples, p->height, r->coded, byte_count(r->tiff, row_samples), outcome);
}

static bool read_piece(reader *r, const piece *p, uint32_t planes, uint32_t per_plane, eidetic_codec_outcome *outcome) {
    for (uint32_t plane = 0; plane < planes; plane++) {
        uint32_t index = (plane < r->tiff->colors ? plane : r->tiff->alpha) * per_plane + p->index;
        if (tiff_is_lossless(r->tiff, index)) {
            if (!read_lossless(r, p, index, outcome)) return false;
            write_piece(r, p, plane);
            continue;
        }
        // Pixels that bad lines leave out stay blank.
        if (is_fax(r->tiff)) memset(r->coded, 0, r->coded_size);
        tmsize_t read = r->tiff->is_tiled
            ? TIFFReadEncodedTile(r->tiff->file, index, r->coded, (tmsize_t)r->coded_size)
            : TIFFReadEncodedStrip(r->tiff->file, index, r->coded, (tmsize_t)r->coded_size);
        if (read < 0 && (!is_fax(r->tiff) || is_missing(r, index))) {
            return eidetic_codec_fail(
                outcome, is_missing(r, index) ? EIDETIC_CODEC_TRUNCATED : EIDETIC_CODEC_CORRUPT, "%s",
                r->tiff->error.message[0] ? r->tiff->error.message : "a strip or tile cannot be decoded");
        }
        if (read < 0) retry_fax(r, index, p);
        else if ((size_t)read < r->coded_size) memset(r->coded + read, 0, r->coded_size - (size_t)read);
        write_piece(r, p, plane);
    }
    return true;
}

static uint32_t minimum(uint32_t a, uint32_t b) { return a < b ? a : b; }

static void read_pieces(
    reader *r, uint32_t width, uint32_t height, eidetic_codec_cancellation cancellation,
    eidetic_codec_outcome *outcome) {
    eidetic_tiff *tiff = r->tiff;
    uint32_t across = (tiff->width - 1) / width + 1;
    uint32_t per_plane = across * ((tiff->height - 1) / height + 1);
    uint32_t planes = tiff->planes == PLANARCONFIG_SEPARATE ? r->used_samples : 1;
    for (uint32_t index = 0; index < per_plane; index++) {
        if (!eidetic_codec_should_continue(&cancellation, outcome)) return;
        piece p = {.x = index % across * width, .y = index / across * height, .row_samples = width, .index = index};
        p.width = minimum(width, tiff->width - p.x);
        p.height = minimum(height, tiff->height - p.y);
        if (!read_piece(r, &p, planes, per_plane, outcome)) break;
    }
    if (tiff->planes == PLANARCONFIG_SEPARATE) finish_planes(r);
}

static bool prepare(reader *r, uint32_t *width, uint32_t *height, eidetic_codec_outcome *outcome) {
    eidetic_tiff *tiff = r->tiff;
    *width = tiff->width, *height = tiff->height;
    if (tiff->is_tiled) {
        TIFFGetField(tiff->file, TIFFTAG_TILEWIDTH, width);
        TIFFGetField(tiff->file, TIFFTAG_TILELENGTH, height);
    } else {
        TIFFGetFieldDefaulted(tiff->file, TIFFTAG_ROWSPERSTRIP, height);
        *height = minimum(*height, tiff->height);
    }
    if (*width == 0 || *height == 0) {
        return eidetic_codec_fail(outcome, EIDETIC_CODEC_CORRUPT, "the tiles have no pixels");
    }
    r->used_samples = tiff->colors + tiff->has_alpha;
    uint64_t per_row = (uint64_t)*width * (tiff->planes == PLANARCONFIG_SEPARATE ? 1 : tiff->samples);
    uint64_t size = ((per_row * tiff->bits + 7) / 8) * *height;
    uint64_t row = per_row > (uint64_t)tiff->width * 4 ? per_row : (uint64_t)tiff->width * 4;
    tmsize_t expected = tiff->is_tiled ? TIFFTileSize(tiff->file) : TIFFStripSize(tiff->file);
    if (expected <= 0) return eidetic_codec_fail(outcome, EIDETIC_CODEC_CORRUPT, "%s", tiff->error.message);
    r->coded_size = (uint64_t)expected > size ? (uint64_t)expected : size;
    if (r->coded_size > tiff->memory_limit || row > tiff->memory_limit) {
        return eidetic_codec_fail(
            outcome, EIDETIC_CODEC_LIMIT, "a strip or tile needs %zu bytes of memory; the limit is %zu", r->coded_size,
            tiff->memory_limit);
    }
    // Zeroed: parts that the library does not write must not reveal earlier contents of the memory.
    r->coded = calloc(1, r->coded_size);
    r->samples = malloc((size_t)row);
    if (r->coded && r->samples) return true;
    return eidetic_codec_fail(outcome, EIDETIC_CODEC_NO_MEMORY, "not enough memory for a strip or tile");
}

// Decodes YCbCr without JPEG, old-style JPEG and LogLuv, which the library converts to RGBA.
static void read_converted(
    eidetic_tiff *tiff, uint8_t *pixels, size_t bytes_per_row, eidetic_codec_outcome *outcome) {
    char message[1024] = "";
    TIFFRGBAImage image;
    if (!TIFFRGBAImageOK(tiff->file, message) || !TIFFRGBAImageBegin(&image, tiff->file, 1, message)) {
        eidetic_codec_fail(outcome, EIDETIC_CODEC_UNSUPPORTED, "%s", message);
        return;
    }
    image.req_orientation = image.orientation;
    bool is_read = bytes_per_row == (size_t)tiff->width * 4 &&
        TIFFRGBAImageGet(&image, (uint32_t *)(void *)pixels, tiff->width, tiff->height);
    TIFFRGBAImageEnd(&image);
    if (!is_read) {
        eidetic_codec_fail(outcome, EIDETIC_CODEC_CORRUPT, "%s", tiff->error.message);
    } else if (!tiff->has_alpha) {
        // The library takes a fourth sample without a meaning for alpha.
        eidetic_pixels_make_opaque(pixels, (size_t)tiff->width * tiff->height);
    }
}

void eidetic_tiff_read(
    eidetic_tiff *tiff, uint8_t *pixels, size_t bytes_per_row, eidetic_codec_cancellation cancellation,
    eidetic_codec_outcome *outcome) {
    tiff->error.message[0] = 0;
    if (!tiff->is_direct) {
        read_converted(tiff, pixels, bytes_per_row, outcome);
        return;
    }
    reader r = {.tiff = tiff, .pixels = pixels, .bytes_per_row = bytes_per_row};
    uint32_t width, height;
    if (prepare(&r, &width, &height, outcome)) read_pieces(&r, width, height, cancellation, outcome);
    free(r.coded);
    free(r.samples);
}
