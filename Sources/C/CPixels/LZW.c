#include <stdlib.h>
#include <string.h>

#include "CPixels.h"

enum { TABLE = 4096 };

/// The bits of GIF's sub-blocks. Each sub-block starts with its length; the last has the length 0.
struct bits {
    const uint8_t *next, *end;
    size_t remaining; // bytes of the current sub-block
    uint64_t buffer;
    int available;
};

/// Fills the buffer with as many bytes as fit; returns 0 if it has fewer than `width` bits at the end of the
/// blocks.
static int refill(struct bits *bits, int width) {
    while (bits->available <= 56) {
        if (!bits->remaining) {
            if (bits->next == bits->end || *bits->next == 0) break;
            bits->remaining = *bits->next++;
        }
        if (bits->next == bits->end) break;
        bits->buffer |= (uint64_t)*bits->next++ << bits->available;
        bits->available += 8;
        bits->remaining--;
    }
    return bits->available >= width;
}

/// Reads the next code; returns -1 offset the end of the blocks.
static int next_code(struct bits *bits, int width) {
    if (bits->available < width && !refill(bits, width)) return -1;
    int code = (int)(bits->buffer & ((1u << width) - 1));
    bits->buffer >>= width;
    bits->available -= width;
    return code;
}

/// The string table. Each string is a range of the output: its start and its length.
struct strings {
    size_t start[TABLE];
    uint32_t length[TABLE];
};

static size_t copy(uint8_t *target, size_t offset, size_t capacity, size_t start, size_t length) {
    if (length > capacity - offset) length = capacity - offset;
    if (capacity - offset >= length + 8 && offset - start >= 8) {
        // Copies whole words, up to seven bytes too many. The next string overwrites them.
        for (size_t i = 0; i < length; i += 8) memcpy(target + offset + i, target + start + i, 8);
        return offset + length;
    }
    // Byte by byte, since the ranges may overlap.
    for (size_t i = 0; i < length; i++) target[offset + i] = target[start + i];
    return offset + length;
}

/// The state of a decompression between two codes.
struct eidetic_lzw {
    struct bits bits;  // its pointers are set by each call
    size_t consumed;
    int code_size, width, next, has_previous;
    size_t offset, previous_start, previous_length;
    struct strings strings;
};

/// Leaves the table of strings as it is.
static void initialize(eidetic_lzw *lzw, int code_size) {
    memset(lzw, 0, offsetof(eidetic_lzw, strings));
    lzw->code_size = code_size;
    lzw->width = code_size + 1;
    lzw->next = (1 << code_size) + 2;
}

eidetic_lzw_status eidetic_lzw_continue(
    eidetic_lzw *lzw, const uint8_t *source, size_t count, uint8_t *target, size_t capacity, size_t *written) {
    // Local copies, so that the compiler keeps them in registers.
    struct strings *strings = &lzw->strings;
    struct bits bits = lzw->bits;
    bits.next = source + lzw->consumed;
    bits.end = source + count;
    const int clear = 1 << lzw->code_size, end = clear + 1;
    int width = lzw->width, next = lzw->next, has_previous = lzw->has_previous;
    size_t offset = lzw->offset, previous_start = lzw->previous_start, previous_length = lzw->previous_length;
    eidetic_lzw_status status = EIDETIC_LZW_OK;
    while (offset < capacity) {
        int code = next_code(&bits, width);
        if (code == clear) {
            width = lzw->code_size + 1;
            next = end + 1;
            has_previous = 0;
            continue;
        }
        if (code < 0 || code == end) {
            int has_end = bits.next < bits.end && !bits.remaining;
            if (code == end || (has_end && !offset))
                status = EIDETIC_LZW_ENDED;
            else
                status = has_end ? EIDETIC_LZW_CORRUPT : EIDETIC_LZW_TRUNCATED;
            break;
        }
        // The new string is the previous one plus the first byte of the current one, which follows it in the output.
        if (has_previous && next < TABLE) {
            strings->start[next] = previous_start;
            strings->length[next] = previous_length + 1;
            next++;
        }
        size_t start = offset;
        if (code < clear)
            target[offset++] = (uint8_t)code;
        else if (code < next)
            offset = copy(target, offset, capacity, strings->start[code], strings->length[code]);
        else {
            status = EIDETIC_LZW_CORRUPT;
            break;
        }
        previous_start = start;
        previous_length = offset - start;
        has_previous = 1;
        if (next + 1 > (1 << width) && width < 12) width++;
    }
    lzw->consumed = (size_t)(bits.next - source);
    lzw->bits = bits;
    lzw->width = width, lzw->next = next, lzw->has_previous = has_previous;
    lzw->previous_start = previous_start, lzw->previous_length = previous_length;
    *written = lzw->offset = offset;
    return status;
}

eidetic_lzw_status eidetic_lzw_decompress(
    const uint8_t *source, size_t count, int code_size, uint8_t *target, size_t capacity, size_t *written) {
    *written = 0;
    if (code_size < 1 || code_size > 11) return EIDETIC_LZW_CORRUPT;
    eidetic_lzw lzw;
    initialize(&lzw, code_size);
    return eidetic_lzw_continue(&lzw, source, count, target, capacity, written);
}

eidetic_lzw *eidetic_lzw_create(int code_size) {
    if (code_size < 1 || code_size > 11) return NULL;
    eidetic_lzw *lzw = malloc(sizeof *lzw);
    if (lzw) initialize(lzw, code_size);
    return lzw;
}

void eidetic_lzw_destroy(eidetic_lzw *lzw) { free(lzw); }
size_t eidetic_lzw_consumed(const eidetic_lzw *lzw) { return lzw->consumed; }
