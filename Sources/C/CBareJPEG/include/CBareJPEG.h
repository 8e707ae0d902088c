#ifndef EIDETIC_BARE_JPEG_H
#define EIDETIC_BARE_JPEG_H

#include <stddef.h>

/// What a C program would write: decodes a JPEG with the library alone, to RGBA, at 1/`denominator` of its size (1, 2, 4
/// or 8). The result is to be freed. A JPEG that cannot be decoded ends the program. For comparison in benchmarks only.
unsigned char *eidetic_bare_jpeg_decode(const unsigned char *bytes, size_t count, unsigned int denominator);

/// Encodes RGBA pixels the same way, with the library's defaults, in one scan or in several. The result is to be freed.
unsigned char *eidetic_bare_jpeg_encode(const unsigned char *pixels, unsigned int width, unsigned int height,
                                        int quality, int is_progressive, size_t *count);

#endif
