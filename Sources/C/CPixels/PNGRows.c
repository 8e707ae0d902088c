#include <stdlib.h>
#include <string.h>

#include "CPixels.h"
#include "Clones.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// The reverse filters of PNG rows.
// - SeeAlso: PNG (third edition), section 9.

static uint8_t paeth(uint8_t left, uint8_t above, uint8_t corner) {
    int a = abs(above - corner), b = abs(left - corner), c = abs(left + above - 2 * corner);
    return a <= b && a <= c ? left : b <= c ? above : corner;
}

EIDETIC_INLINE void add_left(uint8_t *row, size_t length, size_t pixel_bytes) {
    for (size_t i = pixel_bytes; i < length; i++) row[i] += row[i - pixel_bytes];
}

EIDETIC_INLINE void add_above(uint8_t *row, const uint8_t *above, size_t length) {
    for (size_t i = 0; i < length; i++) row[i] += above[i];
}

EIDETIC_INLINE void add_average(uint8_t *row, const uint8_t *above, size_t length, size_t pixel_bytes) {
    for (size_t i = 0; i < pixel_bytes && i < length; i++) row[i] += above[i] / 2;
    for (size_t i = pixel_bytes; i < length; i++) row[i] += (row[i - pixel_bytes] + above[i]) / 2;
}

EIDETIC_INLINE void add_paeth(uint8_t *row, const uint8_t *above, size_t length, size_t pixel_bytes) {
    for (size_t i = 0; i < pixel_bytes && i < length; i++) row[i] += above[i];
    for (size_t i = pixel_bytes; i < length; i++) {
        row[i] += paeth(row[i - pixel_bytes], above[i], above[i - pixel_bytes]);
    }
}

#if defined(__SSE2__)

/// Reads the bytes of one pixel, and none after them.
EIDETIC_INLINE __m128i load(const uint8_t *from, size_t pixel_bytes) {
    int32_t value = 0;
    memcpy(&value, from, pixel_bytes);
    return _mm_cvtsi32_si128(value);
}

EIDETIC_INLINE void store(uint8_t *to, __m128i value, size_t pixel_bytes) {
    int32_t bytes = _mm_cvtsi128_si32(value);
    memcpy(to, &bytes, pixel_bytes);
}

EIDETIC_INLINE __m128i absolute(__m128i x) { return _mm_max_epi16(x, _mm_sub_epi16(_mm_setzero_si128(), x)); }
EIDETIC_INLINE __m128i choose(__m128i mask, __m128i yes, __m128i no) {
    return _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no));
}

/// Processes the channels of a pixel in parallel, and the pixels in sequence, since each depends on the one before.
EIDETIC_INLINE void add_paeth_fast(uint8_t *row, const uint8_t *above, size_t length, size_t pixel_bytes) {
    const __m128i zero = _mm_setzero_si128();
    __m128i left = zero, corner = zero;
    for (size_t i = 0; i + pixel_bytes <= length; i += pixel_bytes) {
        __m128i up = _mm_unpacklo_epi8(load(above + i, pixel_bytes), zero);
        __m128i a = _mm_sub_epi16(up, corner), b = _mm_sub_epi16(left, corner), c = absolute(_mm_add_epi16(a, b));
        a = absolute(a);
        b = absolute(b);
        __m128i least = _mm_min_epi16(c, _mm_min_epi16(a, b));
        __m128i nearest = choose(
            _mm_cmpeq_epi16(least, a), left, choose(_mm_cmpeq_epi16(least, b), up, corner));
        left = _mm_add_epi8(_mm_unpacklo_epi8(load(row + i, pixel_bytes), zero), nearest);
        store(row + i, _mm_packus_epi16(left, left), pixel_bytes);
        corner = up;
    }
}

EIDETIC_INLINE void add_left_fast(uint8_t *row, size_t length, size_t pixel_bytes) {
    __m128i left = _mm_setzero_si128();
    for (size_t i = 0; i + pixel_bytes <= length; i += pixel_bytes) {
        left = _mm_add_epi8(left, load(row + i, pixel_bytes));
        store(row + i, left, pixel_bytes);
    }
}

EIDETIC_INLINE void add_average_fast(uint8_t *row, const uint8_t *above, size_t length, size_t pixel_bytes) {
    const __m128i one = _mm_set1_epi8(1);
    __m128i left = _mm_setzero_si128();
    for (size_t i = 0; i + pixel_bytes <= length; i += pixel_bytes) {
        __m128i up = load(above + i, pixel_bytes), mean = _mm_avg_epu8(left, up);
        mean = _mm_sub_epi8(mean, _mm_and_si128(_mm_xor_si128(left, up), one)); // rounds down
        left = _mm_add_epi8(load(row + i, pixel_bytes), mean);
        store(row + i, left, pixel_bytes);
    }
}

#else
#define add_paeth_fast add_paeth
#define add_left_fast add_left
#define add_average_fast add_average
#endif

EIDETIC_INLINE int unfilter_row(
    uint8_t *row, int filter, size_t length, size_t pixel_bytes, const uint8_t *above, int fast) {
    switch (filter) {
    case 0: return 1;
    case 1: fast ? add_left_fast(row, length, pixel_bytes) : add_left(row, length, pixel_bytes); return 1;
    case 2: add_above(row, above, length); return 1;
    case 3:
        fast ? add_average_fast(row, above, length, pixel_bytes) : add_average(row, above, length, pixel_bytes);
        return 1;
    case 4:
        fast ? add_paeth_fast(row, above, length, pixel_bytes) : add_paeth(row, above, length, pixel_bytes);
        return 1;
    default: return 0;
    }
}

size_t eidetic_png_unfilter(uint8_t *rows, size_t length, size_t count, size_t pixel_bytes, const uint8_t *above) {
    for (size_t y = 0; y < count; y++) {
        uint8_t *row = rows + y * (length + 1) + 1;
        // With a constant size the compiler copies a pixel by one load.
        int is_known = pixel_bytes == 3 ? unfilter_row(row, row[-1], length, 3, above, 1)
            : pixel_bytes == 4          ? unfilter_row(row, row[-1], length, 4, above, 1)
                                        : unfilter_row(row, row[-1], length, pixel_bytes, above, 0);
        if (!is_known) return y;
        above = row;
    }
    return count;
}
