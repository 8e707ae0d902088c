// Converts CIE L*a*b* to sRGB. TIFFRGBAImage takes the white of D50 for that of the screen, so that white is yellowish.
// - SeeAlso: TIFF 6.0, section 23; CIE 15; IEC 61966-2-1.
#include <math.h>
#include <pthread.h>

#include "tiff.h"

enum { STEPS = 1 << 14 };

static uint8_t encoded[STEPS + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare(void) {
    for (int i = 0; i <= STEPS; i++) {
        double light = (double)i / STEPS;
        double value = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055;
        encoded[i] = (uint8_t)(value * 255 + 0.5);
    }
}

static uint8_t encode(double light) {
    if (!(light > 0)) return encoded[0];
    return light >= 1 ? encoded[STEPS] : encoded[(int)(light * STEPS + 0.5)];
}

// The inverse of the cube root with a linear part, of CIE 15.
static double cube(double value) {
    return value > 6.0 / 29 ? value * value * value : (value - 4.0 / 29) * 3 * (6.0 / 29) * (6.0 / 29);
}

static void write_pixel(double lightness, double a, double b, uint8_t *out) {
    double level = (lightness + 16) / 116;
    double x = 0.96422 * cube(level + a / 500), y = cube(level), z = 0.82521 * cube(level - b / 200);
    // From D50 to the primaries of sRGB, adapted to D65 by the Bradford method.
    out[0] = encode(3.1338561 * x - 1.6168667 * y - 0.4906146 * z);
    out[1] = encode(-0.9787684 * x + 1.9161415 * y + 0.0334540 * z);
    out[2] = encode(0.0719453 * x - 0.2289914 * y + 1.4052427 * z);
}

static double axis(const eidetic_tiff *tiff, const uint8_t *source, size_t index, unsigned bits) {
    if (tiff->format == SAMPLEFORMAT_IEEEFP && bits == 32) return tiff_float_sample(source, index, bits);
    uint64_t value = tiff_sample(source, index, bits);
    double scale = bits == 8 ? 1 : tiff->lab.scale;
    if (tiff->lab.has_offset) return (double)value / scale - 128;
    return (bits == 8 ? (int8_t)value : (int16_t)value) / scale;
}

void tiff_convert_lab(const eidetic_tiff *tiff, const uint8_t *source, size_t count, size_t step, uint8_t *pixels) {
    pthread_once(&once, prepare);
    // The samples of separate planes have been reduced to 8 bits.
    bool is_reduced = tiff->planes == PLANARCONFIG_SEPARATE;
    unsigned bits = is_reduced ? 8 : tiff->bits;
    double largest = is_reduced ? 255 : tiff->lab.lightness;
    for (size_t i = 0; i < count; i++, pixels += 4) {
        size_t first = i * step;
        double lightness = tiff->format == SAMPLEFORMAT_IEEEFP && bits == 32
            ? tiff_float_sample(source, first, bits) : (double)tiff_sample(source, first, bits) * 100 / largest;
        bool has_axes = tiff->colors == 3;
        write_pixel(
            lightness, has_axes ? axis(tiff, source, first + 1, bits) : 0,
            has_axes ? axis(tiff, source, first + 2, bits) : 0, pixels);
    }
}
