#ifndef EIDETIC_BARE_JPEG_H
#define EIDETIC_BARE_JPEG_H

#include <stddef.h>

/// Decodes a JPEG as a plain C program does: with the library alone, to RGBA, at 1/`denominator` of its size (1, 2, 4
/// or 8). The caller frees the result. A JPEG that cannot be decoded aborts the program. For comparison in benchmarks
/// only.
unsigned char *eidetic_bare_jpeg_decode(const unsigned char *bytes, size_t count, unsigned int denominator);

/// Decodes a progressive JPEG that arrives in `pieces` parts of one length, to RGBA: after each part, a pass over what
/// has arrived, if it has a new scan. The caller frees the result, that of the last pass. For comparison in benchmarks
/// only.
unsigned char *eidetic_bare_jpeg_passes(const unsigned char *bytes, size_t count, unsigned int pieces);

/// Encodes RGBA pixels in the same way, with the library's defaults, in one scan or in several. The caller frees the
/// result.
unsigned char *eidetic_bare_jpeg_encode(const unsigned char *pixels, unsigned int width, unsigned int height,
                                        int quality, int is_progressive, size_t *count);

#endif
