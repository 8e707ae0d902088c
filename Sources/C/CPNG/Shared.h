#ifndef EIDETIC_PNG_SHARED_H
#define EIDETIC_PNG_SHARED_H

#include <png.h>

/// Leaves out chunks that do not change the pixels asked for. The library would inflate and store them.
void eidetic_png_ignore_metadata(png_structp library);

#endif
