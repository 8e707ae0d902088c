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
        case CMYK: memcpy(out, samples, 4); continue;
        }
        out[3] = opacity;
    }
}

static size_t byte_count(const eidetic_tiff *tiff, uint64_t samples) { return (size_t)(samples * (tiff->bits / 8)); }

// Converts `count` samples to 8 bits. The library has converted those of 16 bits to the machine's byte order. Writes
// every `step`-th byte.
static void unpack(const eidetic_tiff *tiff, const uint8_t *source, size_t count, uint8_t *samples, size_t step) {
    const uint16_t *deep = (const void *)source;
    for (size_t i = 0; i < count; i++)
        samples[i * step] = tiff->bits == 8 ? source[i] : (uint8_t)((deep[i] * 255u + 32767) / 65535);
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
        if (is_separate) {
            unpack(tiff, source, p->width, out + (plane < tiff->colors ? plane : 3), 4);
            continue;
        }
        if (tiff->bits == 16) {
            unpack(tiff, source, (size_t)p->width * tiff->samples, r->samples, 1);
            source = r->samples;
        }
        write_row(r, source, tiff->samples, tiff->alpha, p->width, out);
    }
}

static void finish_planes(reader *r) {
    uint8_t *copy = r->samples;
    for (uint32_t y = 0; y < r->tiff->height; y++) {
        uint8_t *row = r->pixels + y * r->bytes_per_row;
        memcpy(copy, row, (size_t)r->tiff->width * 4);
        write_row(r, copy, 4, 3, r->tiff->width, row);
    }
}

static bool is_missing(const eidetic_tiff *tiff, uint32_t index) {
    uint64_t offset = TIFFGetStrileOffset(tiff->file, index), count = TIFFGetStrileByteCount(tiff->file, index);
    return offset >= tiff->count || count > tiff->count - offset;
}

// Returns true if the first piece has the lossless process of JPEG, which libjpeg-turbo supports from version 3 on.
static bool is_lossless(const eidetic_tiff *tiff) {
    if (tiff->compression != COMPRESSION_JPEG && tiff->compression != COMPRESSION_OJPEG) return false;
    if (is_missing(tiff, 0)) return false;
    const uint8_t *bytes = tiff->bytes + TIFFGetStrileOffset(tiff->file, 0);
    size_t count = TIFFGetStrileByteCount(tiff->file, 0), offset = 2;
    while (count >= 4 && offset <= count - 4 && bytes[offset] == 0xff) {
        uint8_t marker = bytes[offset + 1];
        if (marker == 0xc3) return true;
        // Tables and applications' data may precede the frame.
        if (marker != 0xc4 && marker != 0xdb && marker != 0xdd && marker < 0xe0) return false;
        offset += 2 + (((size_t)bytes[offset + 2] << 8) | bytes[offset + 3]);
    }
    return false;
}

static bool read_piece(reader *r, const piece *p, uint32_t planes, uint32_t per_plane, eidetic_codec_outcome *outcome) {
    eidetic_tiff *tiff = r->tiff;
    for (uint32_t plane = 0; plane < planes; plane++) {
        uint32_t index = (plane < tiff->colors ? plane : tiff->alpha) * per_plane + p->index;
        tmsize_t read = tiff->is_tiled
            ? TIFFReadEncodedTile(tiff->file, index, r->coded, (tmsize_t)r->coded_size)
            : TIFFReadEncodedStrip(tiff->file, index, r->coded, (tmsize_t)r->coded_size);
        if (read < 0) {
            return eidetic_codec_fail(
                outcome, is_missing(tiff, index) ? EIDETIC_CODEC_TRUNCATED : EIDETIC_CODEC_CORRUPT, "%s",
                tiff->error.message[0] ? tiff->error.message : "a strip or tile cannot be decoded");
        }
        if ((size_t)read < r->coded_size) memset(r->coded + read, 0, r->coded_size - (size_t)read);
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
    uint64_t size = byte_count(tiff, per_row) * (uint64_t)*height;
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

// Fax codes are repaired line by line, so a bad line does not fail the decoding.
static bool is_fax(const eidetic_tiff *tiff) {
    return tiff->compression == COMPRESSION_CCITTRLE || tiff->compression == COMPRESSION_CCITTFAX3 ||
        tiff->compression == COMPRESSION_CCITTFAX4 || tiff->compression == COMPRESSION_CCITTRLEW;
}

// Returns the number of rows that are converted at a time: about a hundred, in whole strips or tiles.
static uint32_t band_height(const eidetic_tiff *tiff) {
    uint32_t height = tiff->height;
    if (tiff->is_tiled) TIFFGetField(tiff->file, TIFFTAG_TILELENGTH, &height);
    else TIFFGetFieldDefaulted(tiff->file, TIFFTAG_ROWSPERSTRIP, &height);
    if (height == 0 || height >= tiff->height) return tiff->height;
    return height * (1 + 100 / height);
}

static uint32_t first_missing(const eidetic_tiff *tiff) {
    uint32_t count = tiff->is_tiled ? TIFFNumberOfTiles(tiff->file) : TIFFNumberOfStrips(tiff->file), index = 0;
    while (index < count && !is_missing(tiff, index)) index++;
    return index < count ? index : UINT32_MAX;
}

// Decodes what the library alone converts: 1 to 4 bits, palettes, YCbCr, CIE L*a*b*, LogLuv.
static void read_converted(
    eidetic_tiff *tiff, uint8_t *pixels, size_t bytes_per_row, eidetic_codec_cancellation cancellation,
    eidetic_codec_outcome *outcome) {
    char message[1024] = "";
    TIFFRGBAImage image;
    if (!TIFFRGBAImageOK(tiff->file, message) || !TIFFRGBAImageBegin(&image, tiff->file, !is_fax(tiff), message)) {
        eidetic_codec_fail(
            outcome, EIDETIC_CODEC_UNSUPPORTED, "%u bits per sample, format %u, colours %u: %s", tiff->bits,
            tiff->format, tiff->photometric, message);
        return;
    }
    image.req_orientation = image.orientation;
    uint32_t height = band_height(tiff), row = 0;
    bool is_read = bytes_per_row == (size_t)tiff->width * 4;
    for (; row < tiff->height && is_read; row += height) {
        if (!eidetic_codec_should_continue(&cancellation, outcome)) break;
        image.row_offset = (int)row;
        uint32_t count = minimum(height, tiff->height - row);
        is_read = TIFFRGBAImageGet(&image, (uint32_t *)(void *)(pixels + row * bytes_per_row), tiff->width, count);
    }
    TIFFRGBAImageEnd(&image);
    if (outcome->status != EIDETIC_CODEC_OK) return;
    if (first_missing(tiff) != UINT32_MAX) {
        eidetic_codec_fail(outcome, EIDETIC_CODEC_TRUNCATED, "strip or tile %u is missing", first_missing(tiff));
    } else if (!is_read) {
        eidetic_codec_fail(outcome, EIDETIC_CODEC_CORRUPT, "%s", tiff->error.message);
    }
    // The library takes a fourth sample without a meaning for alpha.
    if (!tiff->has_alpha) eidetic_pixels_make_opaque(pixels, (size_t)tiff->width * tiff->height);
}

void eidetic_tiff_read(
    eidetic_tiff *tiff, uint8_t *pixels, size_t bytes_per_row, eidetic_codec_cancellation cancellation,
    eidetic_codec_outcome *outcome) {
    tiff->error.message[0] = 0;
    if (is_lossless(tiff)) {
        eidetic_codec_fail(outcome, EIDETIC_CODEC_UNSUPPORTED, "lossless JPEG is not supported");
        return;
    }
    if (!tiff->is_direct) {
        read_converted(tiff, pixels, bytes_per_row, cancellation, outcome);
        return;
    }
    reader r = {.tiff = tiff, .pixels = pixels, .bytes_per_row = bytes_per_row};
    uint32_t width, height;
    if (prepare(&r, &width, &height, outcome)) read_pieces(&r, width, height, cancellation, outcome);
    free(r.coded);
    free(r.samples);
}
