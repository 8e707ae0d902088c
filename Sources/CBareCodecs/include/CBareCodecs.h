#ifndef EIDETIC_BARE_CODECS_H
#define EIDETIC_BARE_CODECS_H

#include <stddef.h>

// What a C program would write: decodes with the library alone, to RGBA. The result is to be freed. A picture that cannot
// be decoded ends the program. For comparison in benchmarks only.

unsigned char *eidetic_bare_png_decode(const unsigned char *bytes, size_t count);
unsigned char *eidetic_bare_webp_decode(const unsigned char *bytes, size_t count);

/// With giflib: the first frame, all frames being read into memory as the library does.
unsigned char *eidetic_bare_gif_decode(const unsigned char *bytes, size_t count);

#endif
