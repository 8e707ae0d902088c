#include <math.h>
#include <string.h>

#include "CPixels.h"
#include "Clones.h"

/// One half of a row, from its outer end to the middle.
typedef struct {
    /// The outermost pixel, and the step to the next one in bytes.
    uint8_t *outermost;
    ptrdiff_t step;
    size_t count;
    /// The radius of the corner, and the distance of the row from the upper or lower edge.
    double radius, depth;
} half_row;

/// Returns the distance of a point to the edge, negative inside.
EIDETIC_INLINE double distance(double across, double down, double radius) {
    double x = radius - across, y = radius - down;
    if (x > 0 && y > 0) return sqrt(x * x + y * y) - radius;
    return (x > y ? x : y) - radius;
}

/// Returns the part of a pixel inside an edge at this distance, from 0 to 256.
EIDETIC_INLINE uint32_t coverage(double distance) {
    double part = 0.5 - distance;
    return part <= 0 ? 0 : part >= 1 ? 256 : (uint32_t)(part * 256 + 0.5);
}

/// Blends the border over a pixel where it is not inside, and fades what is outside.
EIDETIC_INLINE void draw_pixel(uint8_t *pixel, const uint8_t *colour, uint32_t inside, uint32_t covered) {
    uint32_t rest = 256 * 255 - (256 - inside) * colour[3];
    for (int channel = 0; channel < 4; channel++) {
        uint32_t value = (pixel[channel] * rest + colour[channel] * (256 - inside) * 255 + 255 * 128) / (255 * 256);
        pixel[channel] = (uint8_t)((value * covered + 128) >> 8);
    }
}

/// Returns the number of pixels of a row that lie outside of the corner by more than a pixel.
EIDETIC_INLINE size_t outside_count(half_row row) {
    double y = row.radius - row.depth, reach = row.radius + 1;
    if (y <= 0 || reach * reach <= y * y) return 0;
    double count = row.radius - sqrt(reach * reach - y * y) - 1;
    return count > 0 ? (size_t)count : 0;
}

EIDETIC_INLINE void draw_half_row(half_row row, const eidetic_frame *frame) {
    size_t x = 0, outside = outside_count(row);
    for (; x < outside && x < row.count; x++) memset(row.outermost + (ptrdiff_t)x * row.step, 0, 4);
    for (; x < row.count; x++) {
        double edge = distance((double)x + 0.5, row.depth, row.radius);
        uint32_t inside = coverage(edge + frame->border), covered = coverage(edge);
        // Further in, a row that is inside stays inside.
        if (inside == 256 && covered == 256) return;
        draw_pixel(row.outermost + (ptrdiff_t)x * row.step, frame->colour, inside, covered);
    }
}

EIDETIC_CLONES void eidetic_pixels_frame(
    eidetic_pixels_target target, size_t width, size_t height, const eidetic_frame *frame) {
    for (size_t y = 0; y < height; y++) {
        int is_lower = 2 * y >= height;
        double depth = (double)(is_lower ? height - 1 - y : y) + 0.5;
        uint8_t *row = target.pixels + y * target.stride;
        const double *radii = frame->radii + (is_lower ? 2 : 0);
        draw_half_row((half_row){row, 4, (width + 1) / 2, radii[0], depth}, frame);
        draw_half_row((half_row){row + 4 * (width - 1), -4, width / 2, radii[1], depth}, frame);
    }
}
