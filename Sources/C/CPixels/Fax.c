// A decoder of one-dimensional fax codes, for OS/2 bitmaps and for strips that libtiff cannot decode. Versions before
// 4.5.1 have too small a buffer for the runs of some rows, and require end-of-line codes that some writers omit. See
// docs/decisions/0021.
// - SeeAlso: ITU-T T.4, tables 2, 3a and 3b; TIFF 6.0, section 10.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "CPixels.h"

// Codes of runs of 0 to 63 pixels, then of 64, 128 and so on.
static const char *const white_codes[] = {
    "00110101", "000111", "0111", "1000", "1011", "1100", "1110", "1111", "10011", "10100", "00111", "01000",
    "001000", "000011", "110100", "110101", "101010", "101011", "0100111", "0001100", "0001000", "0010111",
    "0000011", "0000100", "0101000", "0101011", "0010011", "0100100", "0011000", "00000010", "00000011", "00011010",
    "00011011", "00010010", "00010011", "00010100", "00010101", "00010110", "00010111", "00101000", "00101001",
    "00101010", "00101011", "00101100", "00101101", "00000100", "00000101", "00001010", "00001011", "01010010",
    "01010011", "01010100", "01010101", "00100100", "00100101", "01011000", "01011001", "01011010", "01011011",
    "01001010", "01001011", "00110010", "00110011", "00110100", "11011", "10010", "010111", "0110111", "00110110",
    "00110111", "01100100", "01100101", "01101000", "01100111", "011001100", "011001101", "011010010", "011010011",
    "011010100", "011010101", "011010110", "011010111", "011011000", "011011001", "011011010", "011011011",
    "010011000", "010011001", "010011010", "011000", "010011011",
};

static const char *const black_codes[] = {
    "0000110111", "010", "11", "10", "011", "0011", "0010", "00011", "000101", "000100", "0000100", "0000101",
    "0000111", "00000100", "00000111", "000011000", "0000010111", "0000011000", "0000001000", "00001100111",
    "00001101000", "00001101100", "00000110111", "00000101000", "00000010111", "00000011000", "000011001010",
    "000011001011", "000011001100", "000011001101", "000001101000", "000001101001", "000001101010", "000001101011",
    "000011010010", "000011010011", "000011010100", "000011010101", "000011010110", "000011010111", "000001101100",
    "000001101101", "000011011010", "000011011011", "000001010100", "000001010101", "000001010110", "000001010111",
    "000001100100", "000001100101", "000001010010", "000001010011", "000000100100", "000000110111", "000000111000",
    "000000100111", "000000101000", "000001011000", "000001011001", "000000101011", "000000101100", "000001011010",
    "000001100110", "000001100111", "0000001111", "000011001000", "000011001001", "000001011011", "000000110011",
    "000000110100", "000000110101", "0000001101100", "0000001101101", "0000001001010", "0000001001011",
    "0000001001100", "0000001001101", "0000001110010", "0000001110011", "0000001110100", "0000001110101",
    "0000001110110", "0000001110111", "0000001010010", "0000001010011", "0000001010100", "0000001010101",
    "0000001011010", "0000001011011", "0000001100100", "0000001100101",
};

// Codes of both colours for runs of 1,792, 1,856 and so on.
static const char *const long_codes[] = {
    "00000001000", "00000001100", "00000001101", "000000010010", "000000010011", "000000010100", "000000010101",
    "000000010110", "000000010111", "000000011100", "000000011101", "000000011110", "000000011111",
};

enum { MAXIMUM_BITS = 13, COLORS = 2, END_OF_LINE_ZEROS = 11 };

// The code at the start of 13 bits of input. `bits` is its length, 0 for an invalid code.
typedef struct {
    uint16_t run;
    uint8_t bits;
} code;

typedef struct {
    const uint8_t *bytes;
    size_t count, bit;
    bool is_reversed;  // the first bit of a byte is its least significant one
    code (*codes)[1 << MAXIMUM_BITS];
} reader;

static void add_codes(code *codes, const char *const *texts, unsigned count, unsigned first, unsigned step) {
    for (unsigned i = 0; i < count; i++) {
        unsigned bits = (unsigned)strlen(texts[i]), value = (unsigned)strtoul(texts[i], NULL, 2);
        code entry = {(uint16_t)(first + i * step), (uint8_t)bits};
        unsigned unused = MAXIMUM_BITS - bits;
        for (unsigned suffix = 0; suffix < 1u << unused; suffix++) codes[value << unused | suffix] = entry;
    }
}

static void add_color(code *codes, const char *const *texts) {
    add_codes(codes, texts, 64, 0, 1);
    add_codes(codes, texts + 64, 27, 64, 64);
    add_codes(codes, long_codes, 13, 1792, 64);
}

static unsigned bit_at(const reader *r, size_t bit) {
    if (bit >= r->count * 8) return 0;
    uint8_t byte = r->bytes[bit >> 3];
    return byte >> (r->is_reversed ? bit & 7 : 7 - (bit & 7)) & 1;
}

// Reads the length of the next run; returns -1 at an invalid code and at the end.
static int64_t read_run(reader *r, bool is_black) {
    int64_t length = 0;
    for (;;) {
        unsigned bits = 0;
        for (unsigned i = 0; i < MAXIMUM_BITS; i++) bits = bits << 1 | bit_at(r, r->bit + i);
        code found = r->codes[is_black][bits];
        if (!found.bits || r->bit + found.bits > r->count * 8) return -1;
        r->bit += found.bits;
        length += found.run;
        if (found.run < 64) return length;
        if (length > UINT32_MAX) return -1;
    }
}

// Skips an end-of-line code with the zeros before it, if there is one.
static void skip_end_of_line(reader *r) {
    size_t bit = r->bit;
    while (bit < r->count * 8 && !bit_at(r, bit)) bit++;
    if (bit < r->count * 8 && bit - r->bit >= END_OF_LINE_ZEROS) r->bit = bit + 1;
}

static bool read_row(reader *r, uint32_t width, uint8_t *row) {
    bool is_black = false;
    uint32_t x = 0;
    // Only the first run may be empty, so that every row ends.
    for (bool is_first = true; x < width; is_black = !is_black, is_first = false) {
        int64_t length = read_run(r, is_black);
        if (length < 0 || length > width - x || (length == 0 && !is_first)) return false;
        for (uint32_t end = x + (uint32_t)length; x < end; x++) {
            if (is_black) row[x >> 3] |= (uint8_t)(0x80 >> (x & 7));
        }
    }
    return true;
}

size_t eidetic_fax_decode(
    eidetic_fax_source source, size_t *bit, size_t width, size_t height, uint8_t *rows, size_t bytes_per_row) {
    reader r = {.bytes = source.bytes, .count = source.count, .is_reversed = source.is_reversed, .bit = *bit};
    if (width > UINT32_MAX) return 0;
    r.codes = calloc(COLORS, sizeof *r.codes);
    if (!r.codes) return 0;
    add_color(r.codes[0], white_codes);
    add_color(r.codes[1], black_codes);
    memset(rows, 0, height * bytes_per_row);
    size_t y = 0;
    for (bool is_valid = true; y < height && is_valid; y += is_valid) {
        skip_end_of_line(&r);
        is_valid = read_row(&r, (uint32_t)width, rows + y * bytes_per_row);
    }
    free(r.codes);
    *bit = r.bit;
    return y;
}
