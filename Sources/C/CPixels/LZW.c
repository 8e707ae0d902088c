#include <stdlib.h>
#include <string.h>

#include "CPixels.h"

enum { TABLE = 4096 };

/// The bits of GIF's sub-blocks: each begins with its length, the last has length 0.
struct bits {
    const uint8_t *next, *end;
    size_t left; // bytes left of this sub-block
    uint64_t buffer;
    int available;
};

/// Takes bytes until there are `width` bits, and then as many more as fit; 0 where the blocks end before.
static int refill(struct bits *bits, int width) {
    while (bits->available <= 56) {
        if (!bits->left) {
            if (bits->next == bits->end || *bits->next == 0) break;
            bits->left = *bits->next++;
        }
        if (bits->next == bits->end) break;
        bits->buffer |= (uint64_t)*bits->next++ << bits->available;
        bits->available += 8;
        bits->left--;
    }
    return bits->available >= width;
}

/// The next code, or -1 where the blocks end.
static int next_code(struct bits *bits, int width) {
    if (bits->available < width && !refill(bits, width)) return -1;
    int code = (int)(bits->buffer & ((1u << width) - 1));
    bits->buffer >>= width;
    bits->available -= width;
    return code;
}

/// Each string is a part of what was written before: where it begins, and how long it is.
struct strings {
    size_t start[TABLE];
    uint32_t length[TABLE];
};

static size_t copy(uint8_t *target, size_t at, size_t capacity, size_t start, size_t length) {
    if (length > capacity - at) length = capacity - at;
    if (capacity - at >= length + 8 && at - start >= 8) {
        // Whole words, up to seven bytes too many, which the next string overwrites.
        for (size_t i = 0; i < length; i += 8) memcpy(target + at + i, target + start + i, 8);
        return at + length;
    }
    for (size_t i = 0; i < length; i++) target[at + i] = target[start + i]; // may overlap: a byte at a time
    return at + length;
}

/// Where a decompression stands between two codes.
struct eidetic_lzw {
    struct strings strings;
    size_t consumed, left;
    uint64_t buffer;
    int available, code_size, width, next, has_previous;
    size_t at, previous_start, previous_length;
};

static void begin(eidetic_lzw *lzw, int code_size) {
    lzw->consumed = lzw->left = 0;
    lzw->buffer = 0;
    lzw->available = lzw->has_previous = 0;
    lzw->code_size = code_size;
    lzw->width = code_size + 1;
    lzw->next = (1 << code_size) + 2;
    lzw->at = lzw->previous_start = lzw->previous_length = 0;
}

eidetic_lzw_status eidetic_lzw_continue(
    eidetic_lzw *lzw, const uint8_t *source, size_t count, uint8_t *target, size_t capacity, size_t *written) {
    // Copies, which the compiler can keep in registers.
    struct strings *strings = &lzw->strings;
    struct bits bits = {source + lzw->consumed, source + count, lzw->left, lzw->buffer, lzw->available};
    const int clear = 1 << lzw->code_size, end = clear + 1;
    int width = lzw->width, next = lzw->next, has_previous = lzw->has_previous;
    size_t at = lzw->at, previous_start = lzw->previous_start, previous_length = lzw->previous_length;
    eidetic_lzw_status status = EIDETIC_LZW_OK;
    while (at < capacity) {
        int code = next_code(&bits, width);
        if (code == clear) {
            width = lzw->code_size + 1;
            next = end + 1;
            has_previous = 0;
            continue;
        }
        if (code < 0 || code == end) {
            int is_whole = bits.next < bits.end && !bits.left;
            status = code < 0 && !is_whole ? EIDETIC_LZW_TRUNCATED : EIDETIC_LZW_CORRUPT;
            break;
        }
        // A new string is the previous one and the first byte of what comes now, which follows it directly.
        if (has_previous && next < TABLE) {
            strings->start[next] = previous_start;
            strings->length[next] = previous_length + 1;
            next++;
        }
        size_t start = at;
        if (code < clear)
            target[at++] = (uint8_t)code;
        else if (code < next)
            at = copy(target, at, capacity, strings->start[code], strings->length[code]);
        else {
            status = EIDETIC_LZW_CORRUPT;
            break;
        }
        previous_start = start;
        previous_length = at - start;
        has_previous = 1;
        if (next + 1 > (1 << width) && width < 12) width++;
    }
    lzw->consumed = (size_t)(bits.next - source);
    lzw->left = bits.left, lzw->buffer = bits.buffer, lzw->available = bits.available;
    lzw->width = width, lzw->next = next, lzw->has_previous = has_previous;
    lzw->previous_start = previous_start, lzw->previous_length = previous_length;
    *written = lzw->at = at;
    return status;
}

eidetic_lzw_status eidetic_lzw_decompress(
    const uint8_t *source, size_t count, int code_size, uint8_t *target, size_t capacity, size_t *written) {
    *written = 0;
    if (code_size < 1 || code_size > 11) return EIDETIC_LZW_CORRUPT;
    eidetic_lzw lzw;
    begin(&lzw, code_size);
    return eidetic_lzw_continue(&lzw, source, count, target, capacity, written);
}

eidetic_lzw *eidetic_lzw_create(int code_size) {
    if (code_size < 1 || code_size > 11) return NULL;
    eidetic_lzw *lzw = malloc(sizeof *lzw);
    if (lzw) begin(lzw, code_size);
    return lzw;
}

void eidetic_lzw_destroy(eidetic_lzw *lzw) { free(lzw); }
size_t eidetic_lzw_consumed(const eidetic_lzw *lzw) { return lzw->consumed; }

void eidetic_pixels_look_up(const uint8_t *indices, size_t count, const uint8_t *colours, uint8_t *target) {
    for (size_t i = 0; i < count; i++) memcpy(target + 4 * i, colours + 4 * (size_t)indices[i], 4);
}
