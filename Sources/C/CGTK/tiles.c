#include "tiles.h"

#if __has_include(<gtk/gtk.h>)
#include <math.h>

typedef struct {
    GObject parent;
    GBytes *bytes;
    size_t stride;
    GdkMemoryFormat format;
    int width, height;
} EideticTiles;

typedef GObjectClass EideticTilesClass;
static void implement_paintable(GdkPaintableInterface *interface);
static GType eidetic_tiles_get_type(void);
G_DEFINE_TYPE_WITH_CODE(EideticTiles, eidetic_tiles, G_TYPE_OBJECT,
                        G_IMPLEMENT_INTERFACE(GDK_TYPE_PAINTABLE, implement_paintable))

/// The side of a tile in pixels, and the pixels around it that it may share with others, for smooth edges.
enum { tile_side = 8192, tile_margin = 4096 };

/// One side of a tile: the part of the area that it covers, and its pixels.
typedef struct {
    double start, end;
    int from, to;
} Span;

/// Returns one side of the tile of a number, whose edges are whole units of the area, so that no gap is drawn.
static Span tile_span(int number, int length, double scale) {
    int first = number * tile_side, last = MIN(length, first + tile_side);
    Span span = {.start = round(first * scale), .end = last == length ? length * scale : round(last * scale)};
    double margin = 1 / scale + 1;
    span.from = (int)fmax(fmax(0, first - tile_margin), floor(span.start / scale - margin));
    span.to = (int)fmin(fmin(length, last + tile_margin), ceil(span.end / scale + margin));
    return span;
}

static void draw_tile(EideticTiles *self, GtkSnapshot *snapshot, Span x, Span y, double across, double down) {
    int width = x.to - x.from, height = y.to - y.from;
    if (x.end <= x.start || y.end <= y.start || width <= 0 || height <= 0) return;
    size_t offset = (size_t)y.from * self->stride + (size_t)x.from * 4;
    size_t count = (size_t)(height - 1) * self->stride + (size_t)width * 4;
    GBytes *bytes = g_bytes_new_from_bytes(self->bytes, offset, count);
    GdkTexture *texture = gdk_memory_texture_new(width, height, self->format, bytes, self->stride);
    graphene_rect_t area = GRAPHENE_RECT_INIT((float)x.start, (float)y.start, (float)(x.end - x.start),
                                              (float)(y.end - y.start));
    graphene_rect_t place = GRAPHENE_RECT_INIT((float)(x.from * across), (float)(y.from * down),
                                               (float)(width * across), (float)(height * down));
    gtk_snapshot_push_clip(snapshot, &area);
    gtk_snapshot_append_texture(snapshot, texture, &place);
    gtk_snapshot_pop(snapshot);
    g_object_unref(texture);
    g_bytes_unref(bytes);
}

static void snapshot(GdkPaintable *paintable, GdkSnapshot *target, double width, double height) {
    EideticTiles *self = (EideticTiles *)paintable;
    double across = width / self->width, down = height / self->height;
    for (int row = 0; row * tile_side < self->height; row++) {
        Span y = tile_span(row, self->height, down);
        for (int column = 0; column * tile_side < self->width; column++)
            draw_tile(self, GTK_SNAPSHOT(target), tile_span(column, self->width, across), y, across, down);
    }
}

static int intrinsic_width(GdkPaintable *paintable) { return ((EideticTiles *)paintable)->width; }

static int intrinsic_height(GdkPaintable *paintable) { return ((EideticTiles *)paintable)->height; }

static GdkPaintableFlags flags(GdkPaintable *paintable) {
    (void)paintable;
    return GDK_PAINTABLE_STATIC_CONTENTS | GDK_PAINTABLE_STATIC_SIZE;
}

static void finalize(GObject *object) {
    g_bytes_unref(((EideticTiles *)object)->bytes);
    G_OBJECT_CLASS(eidetic_tiles_parent_class)->finalize(object);
}

static void eidetic_tiles_class_init(EideticTilesClass *class) { class->finalize = finalize; }

static void eidetic_tiles_init(EideticTiles *self) { (void)self; }

static void implement_paintable(GdkPaintableInterface *interface) {
    interface->snapshot = snapshot;
    interface->get_intrinsic_width = intrinsic_width;
    interface->get_intrinsic_height = intrinsic_height;
    interface->get_flags = flags;
}

GdkPaintable *eidetic_tiles_new(int width, int height, size_t stride, GdkMemoryFormat format, GBytes *bytes) {
    EideticTiles *self = g_object_new(eidetic_tiles_get_type(), NULL);
    self->bytes = g_bytes_ref(bytes);
    self->stride = stride;
    self->format = format;
    self->width = width;
    self->height = height;
    return GDK_PAINTABLE(self);
}
#endif
