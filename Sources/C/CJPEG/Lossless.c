#include <stdlib.h>
#include <string.h>

#include "CJPEG.h"

// The lossless process (SOF3), which libjpeg-turbo supports from version 3 on only. Each sample is predicted from up to
// three neighbours, and the difference is entropy-coded.
// - SeeAlso: ITU-T T.81, annexes C, F.2.2.3 and H.

enum { MAXIMUM_COMPONENTS = 4, TABLES = 4 };

struct table {
    int is_known;
    int32_t limit[17]; // the first invalid code of each length
    int32_t shift[17]; // the difference between a code and the index of its symbol
    uint8_t symbols[256];
};

struct component {
    uint8_t name;
    const struct table *table;
    uint16_t *above, *row;
};

struct eidetic_lossless {
    const uint8_t *next, *end;
    uint32_t width, height, y;
    int precision, predictor, point, components;
    uint32_t rows_between_restarts, rows_to_restart;
    uint64_t buffer;
    int available, padding_bytes;
    struct table tables[TABLES];
    struct component component[MAXIMUM_COMPONENTS];
    uint16_t *memory;
};

static unsigned big_endian_16(const uint8_t *bytes) { return (unsigned)bytes[0] << 8 | bytes[1]; }

static int read_tables(eidetic_lossless *decoder, const uint8_t *body, size_t length) {
    while (length >= 17) {
        if (body[0] >= TABLES) return 0;
        struct table *table = &decoder->tables[body[0]];
        int32_t code = 0, count = 0;
        for (int bits = 1; bits <= 16; bits++) {
            table->shift[bits] = count - code;
            code += body[bits];
            count += body[bits];
            table->limit[bits] = code;
            if (code > 1 << bits) return 0;
            code <<= 1;
        }
        if (count > 256 || (size_t)count > length - 17) return 0;
        memcpy(table->symbols, body + 17, (size_t)count);
        table->is_known = 1;
        body += 17 + count, length -= 17 + (size_t)count;
    }
    return length == 0;
}

static int read_frame(eidetic_lossless *decoder, const uint8_t *body, size_t length) {
    if (length < 6 || decoder->components || length < 6 + 3 * (size_t)body[5]) return 0;
    decoder->precision = body[0];
    decoder->height = big_endian_16(body + 1);
    decoder->width = big_endian_16(body + 3);
    decoder->components = body[5];
    if (decoder->components < 1 || decoder->components > MAXIMUM_COMPONENTS) return 0;
    for (int i = 0; i < decoder->components; i++) {
        decoder->component[i].name = body[6 + 3 * i];
        if (body[7 + 3 * i] != 0x11) return 0; // no subsampling
    }
    return decoder->precision >= 2 && decoder->precision <= 16 && decoder->width && decoder->height;
}

static int read_scan(eidetic_lossless *decoder, const uint8_t *body, size_t length) {
    int count = decoder->components;
    if (!count || length < 4 + 2 * (size_t)count || body[0] != count) return 0;
    for (int i = 0; i < count; i++) {
        int table = body[2 + 2 * i] >> 4;
        if (body[1 + 2 * i] != decoder->component[i].name || table >= TABLES) return 0;
        decoder->component[i].table = &decoder->tables[table];
        if (!decoder->component[i].table->is_known) return 0;
    }
    decoder->predictor = body[1 + 2 * count];
    decoder->point = body[3 + 2 * count] & 15;
    return decoder->predictor >= 1 && decoder->predictor <= 7 && decoder->point < decoder->precision;
}

// A restart interval must be a multiple of the row length (H.1.1).
static int read_interval(eidetic_lossless *decoder, unsigned interval) {
    if (!decoder->width || interval % decoder->width) return interval == 0;
    decoder->rows_between_restarts = interval / decoder->width;
    decoder->rows_to_restart = decoder->rows_between_restarts - 1;
    return 1;
}

/// Reads the segments up to the scan.
static eidetic_jpeg_status read_header(eidetic_lossless *decoder) {
    unsigned interval = 0;
    while (decoder->end - decoder->next >= 4) {
        const uint8_t *marker = decoder->next;
        if (marker[0] != 0xff || marker[1] == 0xff || marker[1] == 0xd8) {
            decoder->next += marker[0] == 0xff && marker[1] == 0xd8 ? 2 : 1;
            continue;
        }
        size_t length = big_endian_16(marker + 2), remaining = (size_t)(decoder->end - marker);
        if (length < 2 || length + 2 > remaining) return length < 2 ? EIDETIC_JPEG_FAILED : EIDETIC_JPEG_TRUNCATED;
        const uint8_t *body = marker + 4;
        decoder->next += 2 + length;
        length -= 2;
        int is_valid = 1;
        switch (marker[1]) {
        case 0xc3: is_valid = read_frame(decoder, body, length); break;
        case 0xc4: is_valid = read_tables(decoder, body, length); break;
        case 0xdd: interval = length >= 2 ? big_endian_16(body) : 0; break;
        // A colour transform is not lossless, so a file that declares one is not supported.
        case 0xee: is_valid = length < 12 || memcmp(body, "Adobe", 5) || body[11] == 0; break;
        case 0xda:
            if (!read_scan(decoder, body, length) || !read_interval(decoder, interval)) return EIDETIC_JPEG_UNSUPPORTED;
            return EIDETIC_JPEG_OK;
        }
        if (!is_valid) return EIDETIC_JPEG_UNSUPPORTED;
    }
    return EIDETIC_JPEG_TRUNCATED;
}

static eidetic_jpeg_status prepare(eidetic_lossless *decoder) {
    decoder->memory = calloc(2 * (size_t)decoder->components * decoder->width, sizeof *decoder->memory);
    if (!decoder->memory) return EIDETIC_JPEG_OUT_OF_MEMORY;
    for (int i = 0; i < decoder->components; i++) {
        decoder->component[i].row = decoder->memory + 2 * (size_t)i * decoder->width;
        decoder->component[i].above = decoder->component[i].row + decoder->width;
    }
    return EIDETIC_JPEG_OK;
}

/// Reads the tables of a stream without an image.
static void read_abbreviated(eidetic_lossless *decoder, const uint8_t *bytes, size_t count) {
    size_t offset = 2;
    while (count >= 4 && offset <= count - 4 && bytes[offset] == 0xff && bytes[offset + 1] != 0xd9) {
        size_t length = big_endian_16(bytes + offset + 2);
        if (length < 2 || length + 2 > count - offset) return;
        if (bytes[offset + 1] == 0xc4 && !read_tables(decoder, bytes + offset + 4, length - 2)) return;
        offset += 2 + length;
    }
}

eidetic_jpeg_status eidetic_lossless_create_samples(
    const uint8_t *tables, size_t table_count, const uint8_t *bytes, size_t count, eidetic_lossless **result) {
    eidetic_lossless *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return EIDETIC_JPEG_OUT_OF_MEMORY;
    if (tables) read_abbreviated(decoder, tables, table_count);
    decoder->next = bytes;
    decoder->end = bytes + count;
    eidetic_jpeg_status status = read_header(decoder);
    if (status == EIDETIC_JPEG_OK) status = prepare(decoder);
    if (status == EIDETIC_JPEG_OK) {
        *result = decoder;
    } else {
        eidetic_lossless_destroy(decoder);
    }
    return status;
}

eidetic_jpeg_status eidetic_lossless_create(const uint8_t *bytes, size_t count, eidetic_lossless **result) {
    eidetic_lossless *decoder = NULL;
    eidetic_jpeg_status status = eidetic_lossless_create_samples(NULL, 0, bytes, count, &decoder);
    if (status == EIDETIC_JPEG_OK && decoder->components != 1 && decoder->components != 3) {
        eidetic_lossless_destroy(decoder);
        return EIDETIC_JPEG_UNSUPPORTED;
    }
    *result = decoder;
    return status;
}

void eidetic_lossless_destroy(eidetic_lossless *decoder) {
    if (!decoder) return;
    free(decoder->memory);
    free(decoder);
}

// Zero bits replace the input after a marker.
static void refill(eidetic_lossless *decoder) {
    while (decoder->available <= 48) {
        uint8_t byte = 0;
        if (decoder->next == decoder->end) {
            decoder->padding_bytes++;
        } else if (*decoder->next != 0xff) {
            byte = *decoder->next++;
        } else if (decoder->end - decoder->next >= 2 && decoder->next[1] == 0) {
            byte = 0xff;
            decoder->next += 2;
        } else {
            decoder->padding_bytes++;
        }
        decoder->buffer = decoder->buffer << 8 | byte;
        decoder->available += 8;
    }
}

static uint32_t read_bits(eidetic_lossless *decoder, int count) {
    decoder->available -= count;
    return (uint32_t)(decoder->buffer >> decoder->available) & ((1u << count) - 1);
}

/// Decodes the next difference; sets `is_invalid` if the bits are not a code.
static int read_difference(eidetic_lossless *decoder, const struct table *table, int *is_invalid) {
    if (decoder->available < 32) refill(decoder);
    int32_t code = 0;
    for (int bits = 1; bits <= 16; bits++) {
        code = code << 1 | (int32_t)read_bits(decoder, 1);
        if (code >= table->limit[bits]) continue;
        int size = table->symbols[code + table->shift[bits]];
        if (size == 0) return 0;
        if (size == 16) return 32768;
        if (size > 16) break;
        int value = (int)read_bits(decoder, size);
        return value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
    }
    *is_invalid = 1;
    return 0;
}

static int predict(int predictor, int left, int above, int corner) {
    switch (predictor) {
    case 1: return left;
    case 2: return above;
    case 3: return corner;
    case 4: return left + above - corner;
    case 5: return left + ((above - corner) >> 1);
    case 6: return above + ((left - corner) >> 1);
    default: return (left + above) >> 1;
    }
}

/// Skips past the next restart marker; returns 0 if another marker or the end comes first.
static int skip_to_restart(eidetic_lossless *decoder) {
    decoder->buffer = 0;
    decoder->available = decoder->padding_bytes = 0;
    for (; decoder->end - decoder->next >= 2; decoder->next++) {
        if (decoder->next[0] != 0xff || decoder->next[1] == 0xff || decoder->next[1] == 0) continue;
        if ((decoder->next[1] & 0xf8) != 0xd0) return 0;
        decoder->next += 2;
        return 1;
    }
    return 0;
}

static eidetic_jpeg_status decode_row(eidetic_lossless *decoder, int is_first) {
    int is_invalid = 0;
    for (uint32_t x = 0; x < decoder->width; x++) {
        for (int i = 0; i < decoder->components; i++) {
            struct component *component = &decoder->component[i];
            const uint16_t *row = component->row, *previous = component->above;
            int left = x ? row[x - 1] : 0, above = previous[x], corner = x ? previous[x - 1] : 0;
            int prediction = x == 0 ? (is_first ? 1 << (decoder->precision - decoder->point - 1) : above)
                : is_first ? left : predict(decoder->predictor, left, above, corner);
            component->row[x] = (uint16_t)(prediction + read_difference(decoder, component->table, &is_invalid));
        }
    }
    // The bit buffer holds at most seven bytes that are not used yet.
    if (decoder->padding_bytes * 8 > decoder->available) {
        return decoder->next == decoder->end ? EIDETIC_JPEG_TRUNCATED : EIDETIC_JPEG_FAILED;
    }
    return is_invalid ? EIDETIC_JPEG_FAILED : EIDETIC_JPEG_OK;
}

static void write_row(eidetic_lossless *decoder, uint8_t *pixels) {
    uint32_t maximum = (1u << decoder->precision) - 1;
    for (uint32_t x = 0; x < decoder->width; x++, pixels += 4) {
        for (int i = 0; i < 3; i++) {
            uint32_t value = (uint32_t)decoder->component[decoder->components == 3 ? i : 0].row[x] << decoder->point;
            pixels[i] = (uint8_t)(((value & maximum) * 255 + maximum / 2) / maximum);
        }
        pixels[3] = 255;
    }
}

/// Decodes the next row; the rows are swapped by the caller once it has used them.
static eidetic_jpeg_status next_row(eidetic_lossless *decoder) {
    int is_first = decoder->y == 0;
    if (decoder->rows_between_restarts && !is_first && !decoder->rows_to_restart--) {
        if (!skip_to_restart(decoder)) {
            return decoder->end - decoder->next < 2 ? EIDETIC_JPEG_TRUNCATED : EIDETIC_JPEG_FAILED;
        }
        decoder->rows_to_restart = decoder->rows_between_restarts - 1;
        is_first = 1;
    }
    return decode_row(decoder, is_first);
}

static void swap_rows(eidetic_lossless *decoder) {
    for (int c = 0; c < decoder->components; c++) {
        uint16_t *row = decoder->component[c].row;
        decoder->component[c].row = decoder->component[c].above;
        decoder->component[c].above = row;
    }
    decoder->y++;
}

eidetic_jpeg_status eidetic_lossless_read_rows(
    eidetic_lossless *decoder, uint8_t *rows, size_t bytes_per_row, uint32_t count) {
    for (uint32_t i = 0; i < count && decoder->y < decoder->height; i++) {
        eidetic_jpeg_status status = next_row(decoder);
        if (status != EIDETIC_JPEG_OK) return status;
        write_row(decoder, rows + i * bytes_per_row);
        swap_rows(decoder);
    }
    return EIDETIC_JPEG_OK;
}

eidetic_jpeg_status eidetic_lossless_read_samples(eidetic_lossless *decoder, uint16_t *samples) {
    if (decoder->y >= decoder->height) return EIDETIC_JPEG_TRUNCATED;
    eidetic_jpeg_status status = next_row(decoder);
    if (status != EIDETIC_JPEG_OK) return status;
    uint32_t maximum = (1u << decoder->precision) - 1;
    for (uint32_t x = 0; x < decoder->width; x++) {
        for (int i = 0; i < decoder->components; i++) {
            *samples++ = (uint16_t)((uint32_t)decoder->component[i].row[x] << decoder->point & maximum);
        }
    }
    swap_rows(decoder);
    return EIDETIC_JPEG_OK;
}

uint32_t eidetic_lossless_width(const eidetic_lossless *decoder) { return decoder->width; }
uint32_t eidetic_lossless_height(const eidetic_lossless *decoder) { return decoder->height; }
int eidetic_lossless_components(const eidetic_lossless *decoder) { return decoder->components; }
int eidetic_lossless_precision(const eidetic_lossless *decoder) { return decoder->precision; }
