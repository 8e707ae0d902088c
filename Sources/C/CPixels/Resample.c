#include "CPixels.h"
#include "Kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef int32_t sums4 __attribute__((vector_size(16)));

EIDETIC_INLINE void add_row(const uint8_t *row, uint16_t *sums, size_t count, int is_first) {
    if (is_first)
        for (size_t i = 0; i < count; i++) sums[i] = row[i];
    else
        for (size_t i = 0; i < count; i++) sums[i] += row[i];
}

EIDETIC_INLINE void add_row_premultiplied(const uint8_t *row, uint16_t *sums, size_t width, int is_first) {
    for (size_t x = 0; x < width; x++) {
        uint32_t alpha = row[4 * x + 3];
        for (int channel = 0; channel < 3; channel++) {
            uint16_t value = divide_by_255(row[4 * x + channel] * alpha);
            sums[4 * x + channel] = is_first ? value : sums[4 * x + channel] + value;
        }
        sums[4 * x + 3] = is_first ? alpha : sums[4 * x + 3] + alpha;
    }
}

EIDETIC_INLINE void average_cells(
    const uint16_t *sums, size_t width, size_t cell_width, size_t rows, uint8_t *target) {
    for (size_t left = 0; left < width; left += cell_width, target += 4) {
        size_t columns = left + cell_width < width ? cell_width : width - left;
        uint32_t sum[4] = {0, 0, 0, 0};
        for (size_t x = left; x < left + columns; x++)
            for (int channel = 0; channel < 4; channel++) sum[channel] += sums[4 * x + channel];
        float factor = 1.0f / (float)(columns * rows);
        for (int channel = 0; channel < 4; channel++) target[channel] = (uint8_t)(sum[channel] * factor + 0.5f);
    }
}

EIDETIC_CLONES void eidetic_pixels_average(
    eidetic_pixels_source source, eidetic_cell cell, int premultiply, eidetic_pixels_target target, void *scratch) {
    uint16_t *sums = scratch;
    uint8_t *target_row = target.pixels;
    for (size_t top = 0; top < source.height; top += cell.height, target_row += target.stride) {
        size_t rows = top + cell.height < source.height ? cell.height : source.height - top;
        for (size_t y = 0; y < rows; y++) {
            const uint8_t *row = source.pixels + (top + y) * source.stride;
            if (premultiply)
                add_row_premultiplied(row, sums, source.width, y == 0);
            else
                add_row(row, sums, 4 * source.width, y == 0);
        }
        average_cells(sums, source.width, cell.width, rows, target_row);
    }
}

#if defined(__SSE2__)
/// Adds the next `count` (1 to 4) weighted pixels to `sum`, two with each multiplication.
EIDETIC_INLINE __m128i add_taps(__m128i sum, const uint8_t *from, const int16_t *weights, size_t count) {
    __m128i pixels = _mm_setzero_si128(), factors = pixels;
    memcpy(&pixels, from, 4 * count);
    memcpy(&factors, weights, 2 * count);
    // Interleaves two pixels: both reds, both greens, both blues, both alphas, each pair multiplied by the two weights.
    __m128i low = _mm_unpacklo_epi8(pixels, _mm_setzero_si128()), high = _mm_unpackhi_epi8(pixels, _mm_setzero_si128());
    __m128i first = _mm_unpacklo_epi16(low, _mm_srli_si128(low, 8));
    __m128i second = _mm_unpacklo_epi16(high, _mm_srli_si128(high, 8));
    sum = _mm_add_epi32(sum, _mm_madd_epi16(first, _mm_shuffle_epi32(factors, 0x00)));
    return count < 3 ? sum : _mm_add_epi32(sum, _mm_madd_epi16(second, _mm_shuffle_epi32(factors, 0x55)));
}

EIDETIC_INLINE sums4 weighted_sum(const uint8_t *from, const int16_t *weights, size_t taps) {
    __m128i sum = _mm_set1_epi32(128);
    size_t tap = 0;
    for (; tap + 4 <= taps; tap += 4) sum = add_taps(sum, from + 4 * tap, weights + tap, 4);
    switch (taps - tap) {
    case 3: sum = add_taps(sum, from + 4 * tap, weights + tap, 3); break;
    case 2: sum = add_taps(sum, from + 4 * tap, weights + tap, 2); break;
    case 1: sum = add_taps(sum, from + 4 * tap, weights + tap, 1); break;
    }
    return (sums4)sum;
}
#else
EIDETIC_INLINE sums4 weighted_sum(const uint8_t *from, const int16_t *weights, size_t taps) {
    sums4 sum = {128, 128, 128, 128};
    for (size_t tap = 0; tap < taps; tap++) sum += (sums4)load_lanes(from + 4 * tap) * (int32_t)weights[tap];
    return sum;
}
#endif

EIDETIC_INLINE void filter_row(const uint8_t *row, eidetic_filter filter, size_t target_width, int16_t *target) {
    for (size_t x = 0; x < target_width; x++) {
        sums4 sum = weighted_sum(row + 4 * (size_t)filter.first[x], filter.weights + x * filter.taps, filter.taps);
        for (int channel = 0; channel < 4; channel++) target[4 * x + channel] = (int16_t)(sum[channel] >> 8);
    }
}

#if defined(__x86_64__)
// The same sums for two or four rows at a time: each lane of 128 bits has the pixels of a row. A byte of 128 is zero.
#define TWO_PIXELS(i) i, 128, i + 4, 128, i + 1, 128, i + 5, 128, i + 2, 128, i + 6, 128, i + 3, 128, i + 7, 128
static const uint8_t pixel_pairs[2][16] = {{TWO_PIXELS(0)}, {TWO_PIXELS(8)}};

EIDETIC_INLINE __m128i load_part(const void *from, size_t size) {
    __m128i value = _mm_setzero_si128();
    memcpy(&value, from, size);
    return value;
}

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512bw,avx512vl")))

EIDETIC_INLINE AVX2 __m256i add_taps_of_two(
    __m256i sum, const uint8_t *from, size_t stride, const int16_t *weights, size_t count) {
    __m256i pixels = _mm256_set_m128i(load_part(from + stride, 4 * count), load_part(from, 4 * count));
    __m256i factors = _mm256_broadcastsi128_si256(load_part(weights, 2 * count));
    for (size_t pair = 0; pair < (count + 1) / 2; pair++) {
        __m256i order = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)pixel_pairs[pair]));
        __m256i factor = pair ? _mm256_shuffle_epi32(factors, 0x55) : _mm256_shuffle_epi32(factors, 0x00);
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_shuffle_epi8(pixels, order), factor));
    }
    return sum;
}

EIDETIC_INLINE AVX512 __m512i add_taps_of_four(
    __m512i sum, const uint8_t *from, size_t stride, const int16_t *weights, size_t count) {
    __m512i pixels = _mm512_castsi128_si512(load_part(from, 4 * count));
    pixels = _mm512_inserti32x4(pixels, load_part(from + stride, 4 * count), 1);
    pixels = _mm512_inserti32x4(pixels, load_part(from + 2 * stride, 4 * count), 2);
    pixels = _mm512_inserti32x4(pixels, load_part(from + 3 * stride, 4 * count), 3);
    __m512i factors = _mm512_broadcast_i32x4(load_part(weights, 2 * count));
    for (size_t pair = 0; pair < (count + 1) / 2; pair++) {
        __m512i order = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)pixel_pairs[pair]));
        __m512i factor = pair ? _mm512_shuffle_epi32(factors, 0x55) : _mm512_shuffle_epi32(factors, 0x00);
        sum = _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_shuffle_epi8(pixels, order), factor));
    }
    return sum;
}

// Computes `sum` for one target pixel of some rows, by the function for 1 to 4 taps.
#define SUM_TAPS(add)                                                                                  \
    size_t tap = 0;                                                                                    \
    for (; tap + 4 <= filter.taps; tap += 4) sum = add(sum, from + 4 * tap, stride, weights + tap, 4); \
    switch (filter.taps - tap) {                                                                       \
    case 3: sum = add(sum, from + 4 * tap, stride, weights + tap, 3); break;                           \
    case 2: sum = add(sum, from + 4 * tap, stride, weights + tap, 2); break;                           \
    case 1: sum = add(sum, from + 4 * tap, stride, weights + tap, 1); break;                           \
    }

static AVX2 void filter_two_rows(
    const uint8_t *rows, size_t stride, eidetic_filter filter, size_t target_width, int16_t *target) {
    for (size_t x = 0; x < target_width; x++) {
        const uint8_t *from = rows + 4 * (size_t)filter.first[x];
        const int16_t *weights = filter.weights + x * filter.taps;
        __m256i sum = _mm256_set1_epi32(128);
        SUM_TAPS(add_taps_of_two)
        __m256i result = _mm256_packs_epi32(_mm256_srai_epi32(sum, 8), _mm256_setzero_si256());
        _mm_storeu_si64(target + 4 * x, _mm256_castsi256_si128(result));
        _mm_storeu_si64(target + 4 * (target_width + x), _mm256_extracti128_si256(result, 1));
    }
}

static AVX512 void filter_four_rows(
    const uint8_t *rows, size_t stride, eidetic_filter filter, size_t target_width, int16_t *target) {
    for (size_t x = 0; x < target_width; x++) {
        const uint8_t *from = rows + 4 * (size_t)filter.first[x];
        const int16_t *weights = filter.weights + x * filter.taps;
        __m512i sum = _mm512_set1_epi32(128);
        SUM_TAPS(add_taps_of_four)
        __m256i result = _mm512_cvtepi32_epi16(_mm512_srai_epi32(sum, 8));
        __m128i low = _mm256_castsi256_si128(result), high = _mm256_extracti128_si256(result, 1);
        _mm_storeu_si64(target + 4 * x, low);
        _mm_storeu_si64(target + 4 * (target_width + x), _mm_unpackhi_epi64(low, low));
        _mm_storeu_si64(target + 4 * (2 * target_width + x), high);
        _mm_storeu_si64(target + 4 * (3 * target_width + x), _mm_unpackhi_epi64(high, high));
    }
}

/// Filters as many rows as the processor can at a time; returns their number, which may be 0.
static size_t filter_several_rows(eidetic_pixels_source source, eidetic_filter filter, size_t width, int16_t *target) {
    size_t y = 0;
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        for (; y + 4 <= source.height; y += 4)
            filter_four_rows(source.pixels + y * source.stride, source.stride, filter, width, target + 4 * y * width);
    if (__builtin_cpu_supports("avx2"))
        for (; y + 2 <= source.height; y += 2)
            filter_two_rows(source.pixels + y * source.stride, source.stride, filter, width, target + 4 * y * width);
    return y;
}
#else
static size_t filter_several_rows(eidetic_pixels_source source, eidetic_filter filter, size_t width, int16_t *target) {
    (void)source, (void)filter, (void)width, (void)target;
    return 0;
}
#endif

EIDETIC_CLONES void eidetic_pixels_filter_rows(
    eidetic_pixels_source source, int premultiply, eidetic_filter filter, size_t target_width, int16_t *target,
    uint8_t *scratch) {
    size_t y = premultiply ? 0 : filter_several_rows(source, filter, target_width, target);
    for (; y < source.height; y++) {
        const uint8_t *row = source.pixels + y * source.stride;
        if (premultiply) {
            for (size_t x = 0; x < source.width; x++) premultiply_pixel(row + 4 * x, scratch + 4 * x);
            row = scratch;
        }
        filter_row(row, filter, target_width, target + 4 * y * target_width);
    }
}

enum { BLOCK = 64 };

/// Computes the weighted sums of `count` (at most BLOCK) columns.
EIDETIC_INLINE void filter_block(
    const int16_t *source, size_t stride, const int16_t *weights, size_t taps, size_t count, uint8_t *target) {
    int32_t sum[BLOCK];
    for (size_t i = 0; i < count; i++) sum[i] = 1 << 19;
    for (size_t tap = 0; tap < taps; tap++)
        if (weights[tap] != 0)
            for (size_t i = 0; i < count; i++) sum[i] += (int32_t)source[tap * stride + i] * weights[tap];
    for (size_t i = 0; i < count; i++) {
        int32_t value = sum[i] >> 20;
        target[i] = value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
    }
}

EIDETIC_CLONES void eidetic_pixels_filter_columns(
    const int16_t *source, size_t first_row, size_t width, eidetic_filter filter, size_t target_height, int has_alpha,
    eidetic_pixels_target target) {
    for (size_t y = 0; y < target_height; y++) {
        const int16_t *rows = source + 4 * width * ((size_t)filter.first[y] - first_row);
        const int16_t *weights = filter.weights + y * filter.taps;
        uint8_t *row = target.pixels + y * target.stride;
        size_t i = 0;
        for (; i + BLOCK <= 4 * width; i += BLOCK)
            filter_block(rows + i, 4 * width, weights, filter.taps, BLOCK, row + i);
        if (i < 4 * width) filter_block(rows + i, 4 * width, weights, filter.taps, 4 * width - i, row + i);
        if (has_alpha) clamp_pixels_to_alpha(row, width);
    }
}
