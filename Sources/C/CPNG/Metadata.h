#pragma once

#include <png.h>

/// Makes the library skip chunks that do not affect the pixels. Otherwise it inflates and stores them.
void eidetic_png_ignore_metadata(png_structp library);

/// Ignores a warning, except that of a second palette: an error in browsers, which libpng 1.6.48 accepts beside colours
/// without an index.
void eidetic_png_ignore_warning(png_structp library, png_const_charp message);
