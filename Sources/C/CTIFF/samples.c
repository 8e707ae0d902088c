// Converts samples of any width and format to 8 bits.
#include <math.h>
#include <string.h>

#include "tiff.h"

// Reads a sample that is packed from the most significant bit on.
static uint32_t packed_sample(const uint8_t *source, size_t index, unsigned bits) {
    size_t bit = index * bits;
    uint64_t value = 0;
    unsigned last = (unsigned)((bit & 7) + bits + 7) / 8;
    for (unsigned i = 0; i < last; i++) value = value << 8 | source[(bit >> 3) + i];
    return (uint32_t)(value >> (last * 8 - (bit & 7) - bits) & ((1ull << bits) - 1));
}

// Reads a sample of whole bytes. The library has converted 16, 24, 32 and 64 bits to the machine's byte order.
static uint64_t byte_sample(const uint8_t *source, size_t index, unsigned bits) {
    uint64_t value = 0;
    if (bits == 24) {
        source += 3 * index;
        return (uint64_t)source[0] | (uint64_t)source[1] << 8 | (uint64_t)source[2] << 16;
    }
    memcpy(&value, source + index * (bits / 8), bits / 8);
    return value;
}

static double half_float(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double fraction = bits & 1023;
    double value = exponent == 0 ? ldexp(fraction, -24)
        : exponent == 31 ? (fraction ? NAN : INFINITY) : ldexp(fraction + 1024, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

double tiff_float_sample(const uint8_t *source, size_t index, unsigned bits) {
    uint64_t value = byte_sample(source, index, bits);
    if (bits == 16) return half_float((uint16_t)value);
    if (bits == 32) {
        float single;
        memcpy(&single, &value, 4);
        return single;
    }
    double number;
    memcpy(&number, &value, 8);
    return number;
}

// Converts the range 0 to 1 to 8 bits. Values beyond it are clamped; NaN becomes 0.
static uint8_t from_float(double value) {
    if (!(value > 0)) return 0;
    return value >= 1 ? 255 : (uint8_t)(value * 255 + 0.5);
}

uint64_t tiff_sample(const uint8_t *source, size_t index, unsigned bits) {
    return bits >= 16 && bits % 8 == 0 ? byte_sample(source, index, bits) : packed_sample(source, index, bits);
}

static uint8_t scaled_to_8(uint64_t value, unsigned bits) {
    if (bits == 64) return (uint8_t)(value >> 56);
    uint64_t maximum = (1ull << bits) - 1;
    return (uint8_t)((value * 255 + maximum / 2) / maximum);
}

void tiff_unpack(
    const uint8_t *source, size_t count, unsigned bits, unsigned format, uint8_t *samples, size_t step) {
    if (format == SAMPLEFORMAT_IEEEFP) {
        for (size_t i = 0; i < count; i++) samples[i * step] = from_float(tiff_float_sample(source, i, bits));
    } else if (bits == 8) {
        for (size_t i = 0; i < count; i++) samples[i * step] = source[i];
    } else if (bits == 16) {
        for (size_t i = 0; i < count; i++) {
            uint16_t value;
            memcpy(&value, source + 2 * i, 2);
            samples[i * step] = (uint8_t)(((uint32_t)value * 255 + 32767) / 65535);
        }
    } else {
        for (size_t i = 0; i < count; i++) samples[i * step] = scaled_to_8(tiff_sample(source, i, bits), bits);
    }
}
