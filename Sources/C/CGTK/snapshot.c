#include "CGTK.h"

#if __has_include(<gtk/gtk.h>)

void *eidetic_window_paintable_new(void *window) { return gtk_widget_paintable_new(GTK_WIDGET(window)); }

void *eidetic_window_current_image(void *paintable) {
    GtkWidget *widget = gtk_widget_paintable_get_widget(GTK_WIDGET_PAINTABLE(paintable));
    if (!widget || !gtk_widget_get_mapped(widget)) return NULL;
    return gdk_paintable_get_current_image(GDK_PAINTABLE(paintable));
}

/// Lays the window out as its next frame will: while nobody sees it, there is none.
static void lay_out(GtkWidget *window) {
    GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(window));
    if (!surface) return;
    const GtkAllocation all = {0, 0, gdk_surface_get_width(surface), gdk_surface_get_height(surface)};
    int least;
    // It must be asked for its size before it is given one.
    gtk_widget_measure(window, GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
    gtk_widget_measure(window, GTK_ORIENTATION_VERTICAL, all.width, &least, NULL, NULL, NULL);
    gtk_widget_size_allocate(window, &all, -1);
}

/// Draws the window as it is now, which may be later than its last frame.
static void draw_window(GtkWidget *window, GtkSnapshot *snapshot, double width, double height) {
    // Deprecated since GTK 4.10, which has nothing else that draws a background.
    G_GNUC_BEGIN_IGNORE_DEPRECATIONS
    gtk_snapshot_render_background(snapshot, gtk_widget_get_style_context(window), 0, 0, width, height);
    G_GNUC_END_IGNORE_DEPRECATIONS
    for (GtkWidget *child = gtk_widget_get_first_child(window); child; child = gtk_widget_get_next_sibling(child)) {
        // Popovers have surfaces of their own.
        if (!GTK_IS_NATIVE(child)) gtk_widget_snapshot_child(window, child, snapshot);
    }
}

/// Covers a widget of the window; the whole window, if its place is not known.
static void cover(GtkWidget *window, GtkWidget *widget, GtkSnapshot *snapshot, const graphene_rect_t *all) {
    const GdkRGBA colour = {0.5f, 0.5f, 0.5f, 1};
    graphene_rect_t bounds;
    if (gtk_widget_get_root(widget) != GTK_ROOT(window)) return;
    if (gtk_widget_get_mapped(window) && !gtk_widget_get_mapped(widget)) return;
    if (!gtk_widget_compute_bounds(widget, window, &bounds)) bounds = *all;
    gtk_snapshot_append_color(snapshot, &colour, &bounds);
}

/// Draws a node by the processor: in the background the graphics processor is not used.
static GBytes *render(GskRenderNode *node, const graphene_rect_t *bounds) {
    GBytes *bytes = NULL;
    GskRenderer *renderer = gsk_cairo_renderer_new();
    if (gsk_renderer_realize(renderer, NULL, NULL)) {
        GdkTexture *texture = gsk_renderer_render_texture(renderer, node, bounds);
        bytes = gdk_texture_save_to_png_bytes(texture);
        g_object_unref(texture);
        gsk_renderer_unrealize(renderer);
    }
    g_object_unref(renderer);
    return bytes;
}

GBytes *eidetic_window_draw(void *object, void *image, void **covered, size_t count, double limit) {
    GtkWidget *window = GTK_WIDGET(object);
    if (gtk_widget_get_mapped(window)) lay_out(window);
    const double width = gtk_widget_get_width(window), height = gtk_widget_get_height(window);
    if (width < 1 || height < 1 || (!gtk_widget_get_mapped(window) && !image)) return NULL;
    const double scale = MIN(1, limit / MAX(width, height));
    const graphene_rect_t all = GRAPHENE_RECT_INIT(0, 0, width, height);
    const graphene_rect_t scaled = GRAPHENE_RECT_INIT(0, 0, MAX(1, width * scale), MAX(1, height * scale));
    GtkSnapshot *snapshot = gtk_snapshot_new();
    gtk_snapshot_scale(snapshot, scale, scale);
    if (gtk_widget_get_mapped(window)) draw_window(window, snapshot, width, height);
    else gdk_paintable_snapshot(GDK_PAINTABLE(image), snapshot, width, height);
    for (size_t index = 0; index < count; index++) cover(window, covered[index], snapshot, &all);
    GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
    if (!node) return NULL;
    GBytes *bytes = render(node, &scaled);
    gsk_render_node_unref(node);
    return bytes;
}

#endif
