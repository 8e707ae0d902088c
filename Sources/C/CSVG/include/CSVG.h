// librsvg and cairo, loaded on first use. This wrapper is in C because their functions are called through pointers.
#pragma once
#include <CCodec.h>

typedef struct eidetic_svg eidetic_svg;

// Loads the library, for a process that cannot open files later.
void eidetic_svg_prepare(void);

// Parses a complete document. Files and URLs that it references are not read. Only embedded images (`data:`) are drawn.
// Returns NULL on failure.
eidetic_svg *eidetic_svg_open(
    const void *bytes, size_t count, double *width, double *height, eidetic_codec_outcome *outcome);

void eidetic_svg_close(eidetic_svg *svg);

// Draws the document, and a document behind it unless `background` is NULL, on transparent pixels of red, green, blue,
// alpha; colours are premultiplied.
bool eidetic_svg_draw(
    eidetic_svg *svg, eidetic_svg *background, uint8_t *pixels, uint32_t width, uint32_t height, size_t bytes_per_row,
    eidetic_codec_outcome *outcome);

// Returns the version of the library, which is loaded first: `major` · 1000000 + `minor` · 1000 + `patch`; 0 if it
// cannot be loaded.
unsigned eidetic_svg_version(void);
