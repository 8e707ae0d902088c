#include "CGTK.h"

#if __has_include(<gtk/gtk.h>)
#include <math.h>

struct _EideticPaintable {
    GObject parent;
    GdkPaintable *image;
    double scale;
    /// What is visible where an incomplete image, or the one that fades out, has no pixels; `NULL` without one.
    GdkPaintable *background;
    /// The image that fades out; `NULL` without a transition.
    GdkPaintable *previous;
    double fade;
    gboolean covers;
    EideticIndicator indicator;
    double value;
};

typedef GObjectClass EideticPaintableClass;
static void implement_paintable(GdkPaintableInterface *interface);
static GType eidetic_paintable_get_type(void);
G_DEFINE_TYPE_WITH_CODE(EideticPaintable, eidetic_paintable, G_TYPE_OBJECT,
                        G_IMPLEMENT_INTERFACE(GDK_TYPE_PAINTABLE, implement_paintable))

// MARK: Drawing

/// Draws an earlier image in its own proportions at the centre of an area.
static void draw_earlier(EideticPaintable *self, GdkPaintable *image, GtkSnapshot *snapshot, double width,
                         double height) {
    if (!image) return;
    double inner_width = gdk_paintable_get_intrinsic_width(image);
    double inner_height = gdk_paintable_get_intrinsic_height(image);
    if (inner_width <= 0 || inner_height <= 0) return;
    double across = width / inner_width, down = height / inner_height;
    double factor = self->covers ? fmax(across, down) : fmin(across, down);
    double drawn_width = inner_width * factor, drawn_height = inner_height * factor;
    gtk_snapshot_push_clip(snapshot, &GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height));
    gtk_snapshot_save(snapshot);
    gtk_snapshot_translate(snapshot, &GRAPHENE_POINT_INIT((float)((width - drawn_width) / 2),
                                                          (float)((height - drawn_height) / 2)));
    gdk_paintable_snapshot(image, GDK_SNAPSHOT(snapshot), drawn_width, drawn_height);
    gtk_snapshot_restore(snapshot);
    gtk_snapshot_pop(snapshot);
}

static void stroke(cairo_t *cairo, double radius, double from, double to, double light, double alpha) {
    cairo_set_source_rgba(cairo, light, light, light, alpha);
    cairo_arc(cairo, 0, 0, radius, from, to);
    cairo_stroke(cairo);
}

/// Draws a ring at the centre of the area, which is visible on light and on dark.
static void draw_indicator(EideticPaintable *self, GtkSnapshot *snapshot, double width, double height) {
    double radius = fmin(16, fmin(width, height) / 4);
    if (self->indicator == EIDETIC_INDICATOR_NONE || radius < 2) return;
    double line = fmax(2, radius / 4), edge = radius + 2 * line;
    graphene_rect_t area = GRAPHENE_RECT_INIT((float)(width / 2 - edge), (float)(height / 2 - edge), (float)(2 * edge),
                                              (float)(2 * edge));
    cairo_t *cairo = gtk_snapshot_append_cairo(snapshot, &area);
    cairo_translate(cairo, width / 2, height / 2);
    cairo_set_source_rgba(cairo, 0, 0, 0, 0.35);
    cairo_arc(cairo, 0, 0, radius + line * 1.5, 0, 2 * G_PI);
    cairo_fill(cairo);
    cairo_set_line_width(cairo, line);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
    stroke(cairo, radius, 0, 2 * G_PI, 1, 0.25);
    double turn = 2 * G_PI * self->value, top = -G_PI / 2;
    if (self->indicator == EIDETIC_INDICATOR_SPINNER) stroke(cairo, radius, top + turn, top + turn + G_PI / 2, 1, 0.95);
    else if (self->value > 0) stroke(cairo, radius, top, top + turn, 1, 0.95);
    cairo_destroy(cairo);
}

static void snapshot(GdkPaintable *paintable, GdkSnapshot *target, double width, double height) {
    EideticPaintable *self = (EideticPaintable *)paintable;
    GtkSnapshot *snapshot = GTK_SNAPSHOT(target);
    if (self->previous) {
        gtk_snapshot_push_cross_fade(snapshot, self->fade);
        draw_earlier(self, self->background, snapshot, width, height);
        draw_earlier(self, self->previous, snapshot, width, height);
        gtk_snapshot_pop(snapshot);
    } else {
        draw_earlier(self, self->background, snapshot, width, height);
    }
    if (self->image) gdk_paintable_snapshot(self->image, target, width, height);
    if (self->previous) gtk_snapshot_pop(snapshot);
    draw_indicator(self, snapshot, width, height);
}

// MARK: Size

static int scaled(EideticPaintable *self, int pixels) { return pixels > 0 ? MAX(1, (int)lround(pixels / self->scale)) : 0; }

static int intrinsic_width(GdkPaintable *paintable) {
    EideticPaintable *self = (EideticPaintable *)paintable;
    return self->image ? scaled(self, gdk_paintable_get_intrinsic_width(self->image)) : 0;
}

static int intrinsic_height(GdkPaintable *paintable) {
    EideticPaintable *self = (EideticPaintable *)paintable;
    return self->image ? scaled(self, gdk_paintable_get_intrinsic_height(self->image)) : 0;
}

static double aspect_ratio(GdkPaintable *paintable) {
    EideticPaintable *self = (EideticPaintable *)paintable;
    return self->image ? gdk_paintable_get_intrinsic_aspect_ratio(self->image) : 0;
}

static GdkPaintable *current_image(GdkPaintable *paintable) {
    EideticPaintable *self = (EideticPaintable *)paintable;
    return self->image ? gdk_paintable_get_current_image(self->image) : gdk_paintable_new_empty(0, 0);
}

// MARK: Class

static void dispose(GObject *object) {
    EideticPaintable *self = (EideticPaintable *)object;
    g_clear_object(&self->image);
    g_clear_object(&self->background);
    g_clear_object(&self->previous);
    G_OBJECT_CLASS(eidetic_paintable_parent_class)->dispose(object);
}

static void eidetic_paintable_class_init(EideticPaintableClass *class) { class->dispose = dispose; }

static void eidetic_paintable_init(EideticPaintable *self) { self->scale = 1; }

static void implement_paintable(GdkPaintableInterface *interface) {
    interface->snapshot = snapshot;
    interface->get_intrinsic_width = intrinsic_width;
    interface->get_intrinsic_height = intrinsic_height;
    interface->get_intrinsic_aspect_ratio = aspect_ratio;
    interface->get_current_image = current_image;
}

GdkPaintable *eidetic_paintable_new(void) { return g_object_new(eidetic_paintable_get_type(), NULL); }

// MARK: Changes

static void set_image(EideticPaintable *self, void *image, double scale) {
    GdkPaintable *paintable = GDK_PAINTABLE(self);
    int width = intrinsic_width(paintable), height = intrinsic_height(paintable);
    g_set_object(&self->image, image);
    self->scale = scale > 0 ? scale : 1;
    gboolean fits = width == intrinsic_width(paintable) && height == intrinsic_height(paintable);
    fits ? gdk_paintable_invalidate_contents(paintable) : gdk_paintable_invalidate_size(paintable);
    // A change of size alone does not redraw the contents.
    if (!fits) gdk_paintable_invalidate_contents(paintable);
}

void eidetic_paintable_show(void *object, void *image, double scale) {
    eidetic_paintable_show_over(object, image, NULL, scale, FALSE);
}

void eidetic_paintable_show_over(void *object, void *image, void *background, double scale, gboolean covers) {
    EideticPaintable *self = object;
    g_clear_object(&self->previous);
    g_set_object(&self->background, background);
    self->covers = covers;
    set_image(self, image, scale);
}

GdkPaintable *eidetic_paintable_image(void *object) { return ((EideticPaintable *)object)->image; }

void eidetic_paintable_begin_fade(void *object, void *image, double scale, gboolean covers) {
    EideticPaintable *self = object;
    GdkPaintable *previous = self->image ? g_object_ref(self->image) : gdk_paintable_new_empty(0, 0);
    g_set_object(&self->previous, previous);
    g_object_unref(previous);
    self->fade = 0;
    self->covers = covers;
    set_image(self, image, scale);
}

void eidetic_paintable_set_fade(void *object, double opacity) {
    EideticPaintable *self = object;
    if (!self->previous) return;
    self->fade = CLAMP(opacity, 0, 1);
    if (opacity >= 1) {
        g_clear_object(&self->background);
        g_clear_object(&self->previous);
    }
    gdk_paintable_invalidate_contents(GDK_PAINTABLE(self));
}

void eidetic_paintable_set_indicator(void *object, EideticIndicator indicator, double value) {
    EideticPaintable *self = object;
    if (self->indicator == indicator && self->value == value) return;
    self->indicator = indicator;
    self->value = value;
    gdk_paintable_invalidate_contents(GDK_PAINTABLE(self));
}
#endif
