#ifndef EIDETIC_BARE_CODECS_H
#define EIDETIC_BARE_CODECS_H

#include <stddef.h>
#include <stdint.h>

// Decoders as a plain C program has them: the library alone, with output to RGBA. The caller frees the result. An image
// that cannot be decoded aborts the program. For comparison in benchmarks only.

/// With libpng.
unsigned char *eidetic_bare_png_decode(const unsigned char *bytes, size_t count);
/// With libwebp.
unsigned char *eidetic_bare_webp_decode(const unsigned char *bytes, size_t count);

/// With giflib: returns the first frame; the library reads all frames into memory.
unsigned char *eidetic_bare_gif_decode(const unsigned char *bytes, size_t count);

/// Decodes all frames with giflib, and composes and copies each to RGBA; returns their number.
size_t eidetic_bare_gif_play(const unsigned char *bytes, size_t count);
/// Decodes all frames with libwebp's own decoder of animations, and copies each; returns their number.
size_t eidetic_bare_webp_play(const unsigned char *bytes, size_t count);

/// With libtiff's own conversion to RGBA.
unsigned char *eidetic_bare_tiff_decode(const unsigned char *bytes, size_t count);
/// With libavif, one thread.
unsigned char *eidetic_bare_avif_decode(const unsigned char *bytes, size_t count);
/// With libheif, without threads of its own.
unsigned char *eidetic_bare_heif_decode(const unsigned char *bytes, size_t count);
/// The same with 16 bits per channel, of which those of the file are used.
unsigned char *eidetic_bare_heif_decode_deep(const unsigned char *bytes, size_t count);
/// With libjxl, one thread; only with the trait JPEGXL.
unsigned char *eidetic_bare_jxl_decode(const unsigned char *bytes, size_t count);
/// With librsvg, at the document's own size. Requires `eidetic_bare_has_svg`.
unsigned char *eidetic_bare_svg_decode(const unsigned char *bytes, size_t count);
/// With gdk-pixbuf; returns the first pixel only. Requires `eidetic_bare_has_pixbuf`.
unsigned char *eidetic_bare_pixbuf_decode(const unsigned char *bytes, size_t count);

/// Returns 1 if librsvg is installed.
int eidetic_bare_has_svg(void);
/// Returns 1 if gdk-pixbuf is installed.
int eidetic_bare_has_pixbuf(void);

/// Writes a profile of Display P3; returns its size.
size_t eidetic_bare_display_p3(unsigned char *bytes, size_t capacity);
/// Converts RGBA to sRGB with LittleCMS.
void eidetic_bare_lcms_convert(
    const unsigned char *profile, size_t profile_size, const unsigned char *pixels, size_t count,
    unsigned char *target);

// Encoders that make the input of the decoders above from RGBA. The caller frees the result.

/// Encodes Deflate-compressed RGB in strips.
unsigned char *eidetic_bare_tiff_encode(const unsigned char *pixels, uint32_t width, uint32_t height, size_t *count);
/// Encodes at the library's highest speed.
unsigned char *eidetic_bare_avif_encode(const unsigned char *pixels, uint32_t width, uint32_t height, size_t *count);
/// Encodes with low effort; only with the trait JPEGXL.
unsigned char *eidetic_bare_jxl_encode(const unsigned char *pixels, uint32_t width, uint32_t height, size_t *count);

#endif
