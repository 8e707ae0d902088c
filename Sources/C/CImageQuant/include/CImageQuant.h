// Reduces the colours of images with libimagequant, which is loaded when the first image needs it. Written in C because
// the package manager would link the library, whose licence is the GPL, with every program.
#pragma once
#include <CCodec.h>

// Writes an image of at most `colours` colours, 2 to 256, with dithering, and without gaps between rows. Both images
// have four bytes a pixel: red, green, blue and straight alpha, which is ignored with `is_opaque`.
bool eidetic_quantise(
    const uint8_t *pixels, size_t bytes_per_row, uint32_t width, uint32_t height, bool is_opaque, int colours,
    uint8_t *target, eidetic_codec_outcome *outcome);
