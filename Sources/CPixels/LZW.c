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

eidetic_lzw_status eidetic_lzw_decompress(
    const uint8_t *source, size_t count, int code_size, uint8_t *target, size_t capacity, size_t *written) {
    *written = 0;
    if (code_size < 1 || code_size > 11) return EIDETIC_LZW_CORRUPT;
    struct strings strings;
    struct bits bits = {source, source + count, 0, 0, 0};
    const int clear = 1 << code_size, end = clear + 1;
    int width = code_size + 1, next = end + 1, has_previous = 0;
    size_t at = 0, previous_start = 0, previous_length = 0;
    while (at < capacity) {
        int code = next_code(&bits, width);
        if (code == clear) {
            width = code_size + 1;
            next = end + 1;
            has_previous = 0;
            continue;
        }
        if (code < 0 || code == end) {
            *written = at;
            int is_whole = bits.next < bits.end && !bits.left;
            return code < 0 && !is_whole ? EIDETIC_LZW_TRUNCATED : EIDETIC_LZW_CORRUPT;
        }
        // A new string is the previous one and the first byte of what comes now, which follows it directly.
        if (has_previous && next < TABLE) {
            strings.start[next] = previous_start;
            strings.length[next] = previous_length + 1;
            next++;
        }
        size_t start = at;
        if (code < clear)
            target[at++] = (uint8_t)code;
        else if (code < next)
            at = copy(target, at, capacity, strings.start[code], strings.length[code]);
        else {
            *written = at;
            return EIDETIC_LZW_CORRUPT;
        }
        previous_start = start;
        previous_length = at - start;
        has_previous = 1;
        if (next + 1 > (1 << width) && width < 12) width++;
    }
    *written = at;
    return EIDETIC_LZW_OK;
}

void eidetic_pixels_look_up(const uint8_t *indices, size_t count, const uint8_t *colours, uint8_t *target) {
    for (size_t i = 0; i < count; i++) memcpy(target + 4 * i, colours + 4 * (size_t)indices[i], 4);
}
