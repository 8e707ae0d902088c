#include "CBitmap.h"

#include <string.h>

#include "CPixels.h"

void eidetic_bitmap_expand_indexed(
    uint8_t *pixels, const uint8_t *row, size_t width, unsigned bits, const uint8_t *palette) {
    const unsigned mask = (1u << bits) - 1;
    for (size_t x = 0; x < width; x++) {
        size_t bit = x * bits;
        unsigned index = row[bit >> 3] >> (8 - bits - (bit & 7)) & mask;
        memcpy(pixels + 4 * x, palette + 4 * index, 4);
    }
}

static uint8_t scaled(uint32_t pixel, const eidetic_bitmap_channel *channel) {
    if (channel->maximum == 0) return channel->output_maximum;
    uint64_t value = (pixel & channel->mask) >> channel->shift;
    return (uint8_t)((value * channel->output_maximum + channel->maximum / 2) / channel->maximum);
}

static bool is_byte(const eidetic_bitmap_channel *channel, uint32_t shift) {
    return channel->maximum == 255 && channel->shift == shift && channel->output_maximum == 255;
}

void eidetic_bitmap_expand_masked(
    uint8_t *pixels, const uint8_t *row, size_t width, unsigned stride, const eidetic_bitmap_channel channels[4]) {
    bool has_alpha = is_byte(&channels[3], 24);
    if (stride > 2 && is_byte(&channels[0], 16) && is_byte(&channels[1], 8) && is_byte(&channels[2], 0) &&
        (has_alpha || channels[3].maximum == 0)) {
        eidetic_pixels_swap_red_blue(row, width, stride, has_alpha, pixels);
        return;
    }
    for (size_t x = 0; x < width; x++, row += stride, pixels += 4) {
        uint32_t pixel = (uint32_t)row[0] | (uint32_t)row[1] << 8;
        if (stride > 2) pixel |= (uint32_t)row[2] << 16;
        if (stride > 3) pixel |= (uint32_t)row[3] << 24;
        for (int i = 0; i < 4; i++) pixels[i] = scaled(pixel, &channels[i]);
    }
}

void eidetic_bitmap_apply_mask(uint8_t *pixels, const uint8_t *row, size_t width) {
    for (size_t x = 0; x < width; x++) {
        if (row[x >> 3] >> (7 - (x & 7)) & 1) memset(pixels + 4 * x, 0, 4);
    }
}

bool eidetic_bitmap_is_transparent(const uint8_t *pixels, size_t width) {
    for (size_t x = 0; x < width; x++) {
        if (pixels[4 * x + 3]) return false;
    }
    return true;
}

// Writes `count` indices from `source`, or, if `repeats` is true, its first byte repeatedly.
static void write_indices(
    eidetic_bitmap_runs *runs, uint8_t *indices, size_t width, unsigned bits, const uint8_t *source, unsigned count,
    bool repeats) {
    for (unsigned i = 0; i < count && runs->x < width; i++, runs->x++) {
        if (bits == 24) memcpy(indices + 3 * runs->x, source + (repeats ? 0 : 3 * i), 3);
        else if (bits == 8) indices[runs->x] = source[repeats ? 0 : i];
        else indices[runs->x] = source[repeats ? 0 : i / 2] >> (i & 1 ? 0 : 4) & 15;
    }
}

eidetic_bitmap_runs_result eidetic_bitmap_decode_runs(
    eidetic_bitmap_runs *runs, uint8_t *indices, size_t width, unsigned bits) {
    for (;;) {
        if (runs->offset > runs->count || runs->count - runs->offset < 2) return EIDETIC_RUNS_TRUNCATED;
        const uint8_t *code = runs->bytes + runs->offset;
        runs->offset += 2;
        if (code[0]) {
            if (bits == 24) {
                if (runs->count - runs->offset < 2) return EIDETIC_RUNS_TRUNCATED;
                runs->offset += 2;
            }
            write_indices(runs, indices, width, bits, code + 1, code[0], true);
            continue;
        }
        switch (code[1]) {
        case 0:
            runs->x = 0;
            runs->y++;
            return EIDETIC_RUNS_ROW;
        case 1:
            return EIDETIC_RUNS_END;
        case 2:
            if (runs->count - runs->offset < 2) return EIDETIC_RUNS_TRUNCATED;
            runs->offset += 2;
            runs->x += code[2];
            runs->y += code[3];
            if (code[3]) return EIDETIC_RUNS_ROW;
            break;
        default: {
            size_t length = (code[1] * bits + 7u) / 8;
            if (runs->count - runs->offset < length) return EIDETIC_RUNS_TRUNCATED;
            write_indices(runs, indices, width, bits, code + 2, code[1], false);
            runs->offset += length + (length & 1);
        }
        }
    }
}
