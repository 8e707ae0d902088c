#pragma once

#include "PixelAreas.h"

// Transforms of pixels that are opaque or premultiplied. Each result is the same on every processor: integers, and
// floating-point operations whose rounding IEEE 754 determines.

/// A box blur whose ends count in part. One pass sums `radius` pixels on both sides with the weight `whole`, and the
/// next ones with the weight `part`; the weights of all pixels sum to 1 << 24 or less.
typedef struct {
    size_t radius;
    uint32_t whole, part;
} eidetic_box;

/// Blurs three times along rows, in place. `scratch` holds 32 * width bytes.
void eidetic_pixels_blur_rows(
    eidetic_pixels_target target, size_t width, size_t height, eidetic_box box, void *scratch);

/// Blurs three times along columns, in place. `scratch` holds 128 * height bytes.
void eidetic_pixels_blur_columns(
    eidetic_pixels_target target, size_t width, size_t height, eidetic_box box, void *scratch);

/// Adds `amount` / 256 times the difference to `blurred`, in place. Colours stay between 0 and alpha.
void eidetic_pixels_sharpen(eidetic_pixels_target target, eidetic_pixels_source blurred, uint32_t amount);

/// Mixes colours with a premultiplied colour, where the image is not transparent; alpha stays. In place if both are the
/// same memory.
void eidetic_pixels_tint(eidetic_pixels_source source, eidetic_pixels_target target, const uint8_t colour[4]);

/// Replaces colours by their luma (ITU-R BT.601).
void eidetic_pixels_desaturate(eidetic_pixels_source source, eidetic_pixels_target target);

/// A rectangle with round corners: top left, top right, bottom left, bottom right, and a border inside its edge.
typedef struct {
    double radii[4];
    double border;
    uint8_t colour[4];
} eidetic_frame;

/// Draws the border, and makes what is outside of the corners transparent, in place.
void eidetic_pixels_frame(eidetic_pixels_target target, size_t width, size_t height, const eidetic_frame *frame);

/// An affine map from target to source positions, in 1 / 2^32 of a pixel: that of the first pixel, and the
/// step to the pixel on the right. The step down is (-right_y, right_x).
typedef struct {
    int64_t x, y, right_x, right_y;
} eidetic_rotation;

/// Fills the target with bilinear samples of the source; outside of it with `background`, which is premultiplied.
void eidetic_pixels_rotate(
    eidetic_pixels_source source, eidetic_rotation rotation, const uint8_t background[4], size_t width, size_t height,
    eidetic_pixels_target target);

/// Blends premultiplied pixels over an opaque colour.
void eidetic_pixels_flatten(eidetic_pixels_source source, eidetic_pixels_target target, const uint8_t colour[3]);
