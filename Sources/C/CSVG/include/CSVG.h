// librsvg and cairo, loaded on first use. In C because their functions are called through pointers.
#pragma once
#include <CCodec.h>

typedef struct eidetic_svg eidetic_svg;

// Parses a complete document. No file and no address that it names is read: only pictures within the document itself
// (`data:`) are shown. NULL on failure.
eidetic_svg *eidetic_svg_open(
    const void *bytes, size_t count, double *width, double *height, eidetic_codec_outcome *outcome);

void eidetic_svg_close(eidetic_svg *svg);

// Draws the document over transparent pixels of red, green, blue, alpha; colours are multiplied by alpha.
bool eidetic_svg_draw(
    eidetic_svg *svg, uint8_t *pixels, uint32_t width, uint32_t height, size_t bytes_per_row,
    eidetic_codec_outcome *outcome);
