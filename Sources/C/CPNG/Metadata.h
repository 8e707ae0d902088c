#ifndef EIDETIC_PNG_METADATA_H
#define EIDETIC_PNG_METADATA_H

#include <png.h>

/// Makes the library skip chunks that do not affect the pixels. Otherwise it inflates and stores them.
void eidetic_png_ignore_metadata(png_structp library);

#endif
