#include <lcms2.h>

/// Pixel formats. Swift cannot import the macros that compose them.
static const cmsUInt32Number eidetic_type_rgba_8 = TYPE_RGBA_8;
static const cmsUInt32Number eidetic_type_rgba_16 = TYPE_RGBA_16;
static const cmsUInt32Number eidetic_type_cmyk_8 = TYPE_CMYK_8;
static const cmsUInt32Number eidetic_type_gray_rgba_8 =
    COLORSPACE_SH(PT_GRAY) | EXTRA_SH(3) | CHANNELS_SH(1) | BYTES_SH(1);
