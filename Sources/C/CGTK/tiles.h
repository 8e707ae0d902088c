#include "CGTK.h"

#if __has_include(<gtk/gtk.h>)
/// The greatest side of an image that every renderer of GTK draws: the limit of cairo's surfaces.
enum { eidetic_texture_limit = 32767 };

/// Returns a larger image, which is drawn in parts; its pixels have four bytes each.
GdkPaintable *eidetic_tiles_new(int width, int height, size_t stride, GdkMemoryFormat format, GBytes *bytes);
#endif
