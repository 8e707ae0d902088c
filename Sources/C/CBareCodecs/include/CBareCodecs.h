#ifndef EIDETIC_BARE_CODECS_H
#define EIDETIC_BARE_CODECS_H

#include <stddef.h>
#include <stdint.h>

// What a C program would write: decodes with the library alone, to RGBA. The result is to be freed. A picture that cannot
// be decoded ends the program. For comparison in benchmarks only.

unsigned char *eidetic_bare_png_decode(const unsigned char *bytes, size_t count);
unsigned char *eidetic_bare_webp_decode(const unsigned char *bytes, size_t count);

/// With giflib: the first frame, all frames being read into memory as the library does.
unsigned char *eidetic_bare_gif_decode(const unsigned char *bytes, size_t count);

/// With libtiff's own conversion to RGBA.
unsigned char *eidetic_bare_tiff_decode(const unsigned char *bytes, size_t count);
/// With libavif, one thread.
unsigned char *eidetic_bare_avif_decode(const unsigned char *bytes, size_t count);
/// With libheif, no threads of its own.
unsigned char *eidetic_bare_heif_decode(const unsigned char *bytes, size_t count);
/// With libjxl, one thread; only with the trait JPEGXL.
unsigned char *eidetic_bare_jxl_decode(const unsigned char *bytes, size_t count);
/// With librsvg, at the document's own size, if `eidetic_bare_has_svg`.
unsigned char *eidetic_bare_svg_decode(const unsigned char *bytes, size_t count);
/// With gdk-pixbuf, if `eidetic_bare_has_pixbuf`; the result is one pixel only.
unsigned char *eidetic_bare_pixbuf_decode(const unsigned char *bytes, size_t count);

/// Whether the library is installed.
int eidetic_bare_has_svg(void);
int eidetic_bare_has_pixbuf(void);

// Pictures to decode, from RGBA; the result is to be freed.

/// Deflated RGB in strips.
unsigned char *eidetic_bare_tiff_encode(const unsigned char *pixels, uint32_t width, uint32_t height, size_t *count);
/// At the library's highest speed.
unsigned char *eidetic_bare_avif_encode(const unsigned char *pixels, uint32_t width, uint32_t height, size_t *count);
/// With little effort; only with the trait JPEGXL.
unsigned char *eidetic_bare_jxl_encode(const unsigned char *pixels, uint32_t width, uint32_t height, size_t *count);

#endif
