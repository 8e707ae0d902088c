// The library's name and its properties that differ between versions.
#pragma once
#include <avif/avif.h>

// The headers state the library's version. The number in its file name counts incompatible changes.
#if AVIF_VERSION >= 1000000
#define LIBRARY_NAME "libavif.so.16"
#define MIRROR(image) (image)->imir.axis
#else
#define LIBRARY_NAME "libavif.so.15"
#define MIRROR(image) (image)->imir.mode
#endif
