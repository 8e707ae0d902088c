#define _GNU_SOURCE
#include "tiles.h"

#include <dlfcn.h>

#if __has_include(<gtk/gtk.h>)

static GParamSpec *child_property(void *object) {
    GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(object), "child");
    return spec && g_type_is_a(spec->value_type, GTK_TYPE_WIDGET) && (spec->flags & G_PARAM_WRITABLE) ? spec : NULL;
}

EideticWidgetKind eidetic_widget_kind(void *object) {
    if (!GTK_IS_WIDGET(object)) return EIDETIC_WIDGET_UNKNOWN;
    if (GTK_IS_PICTURE(object)) return EIDETIC_WIDGET_GTK_PICTURE;
    if (GTK_IS_IMAGE(object)) return EIDETIC_WIDGET_GTK_IMAGE;
    if (GTK_IS_BUTTON(object)) return EIDETIC_WIDGET_BUTTON;
    return child_property(object) ? EIDETIC_WIDGET_PARENT : EIDETIC_WIDGET_UNKNOWN;
}

GtkWidget *eidetic_widget_child(void *parent) {
    GtkWidget *child = NULL;
    if (!child_property(parent)) return NULL;
    g_object_get(parent, "child", &child, NULL);
    // The parent retains the child.
    if (child) g_object_unref(child);
    return child;
}

void eidetic_widget_set_child(void *parent, void *child) { g_object_set(parent, "child", child, NULL); }

static char letter_of(GType type) {
    type &= ~G_SIGNAL_TYPE_STATIC_SCOPE;
    if (type == G_TYPE_NONE) return 'v';
    if (G_TYPE_IS_INTERFACE(type)) return 'p';
    // A float is passed as it is, although it is collected like a double.
    GTypeValueTable *table = type == G_TYPE_FLOAT ? NULL : g_type_value_table_peek(type);
    return table && table->collect_format ? table->collect_format[0] : '?';
}

gboolean eidetic_signal_has_types(void *object, const char *signal, const char *types) {
    guint identifier;
    GQuark detail;
    GSignalQuery query;
    if (!g_signal_parse_name(signal, G_OBJECT_TYPE(object), &identifier, &detail, TRUE)) return FALSE;
    g_signal_query(identifier, &query);
    if (letter_of(query.return_type) != types[0]) return FALSE;
    for (guint i = 0; types[i + 1]; i++) {
        if (i > query.n_params) return FALSE;
        GType type = i < query.n_params ? query.param_types[i] : G_OBJECT_TYPE(object);
        if (letter_of(type) != types[i + 1]) return FALSE;
    }
    return TRUE;
}

gulong eidetic_connect(void *object, const char *signal, GCallback handler, void *data, GClosureNotify destroy) {
    return g_signal_connect_data(object, signal, handler, data, destroy, G_CONNECT_AFTER | G_CONNECT_SWAPPED);
}

void eidetic_disconnect(void *object, gulong handler) {
    if (g_signal_handler_is_connected(object, handler)) g_signal_handler_disconnect(object, handler);
}

gboolean eidetic_get_boolean(void *object, const char *property) {
    gboolean value = FALSE;
    g_object_get(object, property, &value, NULL);
    return value;
}

void eidetic_set_boolean(void *object, const char *property, gboolean value) {
    g_object_set(object, property, value, NULL);
}

static GdkSurface *surface_of(GtkWidget *widget) {
    GtkNative *native = gtk_widget_get_native(widget);
    return native ? gtk_native_get_surface(native) : NULL;
}

double eidetic_widget_scale(GtkWidget *widget) {
    // Looked up, because this is compiled with GTK 4.8 too.
    static double (*surface_scale)(GdkSurface *);
    static gboolean is_looked_up;
    if (!is_looked_up) {
        surface_scale = (double (*)(GdkSurface *))dlsym(RTLD_DEFAULT, "gdk_surface_get_scale");
        is_looked_up = TRUE;
    }
    GdkSurface *surface = surface_scale ? surface_of(widget) : NULL;
    double scale = surface ? surface_scale(surface) : 0;
    return scale > 0 ? scale : gtk_widget_get_scale_factor(widget);
}

void *eidetic_scaled_surface(GtkWidget *widget) {
    GdkSurface *surface = surface_of(widget);
    gboolean reports = surface && g_object_class_find_property(G_OBJECT_GET_CLASS(surface), "scale");
    return reports ? g_object_ref(surface) : NULL;
}

void *eidetic_window_surface(void *window) { return gtk_native_get_surface(GTK_NATIVE(window)); }

gboolean eidetic_window_is_visible(void *window) {
    // GDK_TOPLEVEL_STATE_SUSPENDED of GTK 4.12; earlier versions never set this bit.
    const unsigned suspended = 1U << 16;
    GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(window));
    if (!surface || !gtk_widget_get_mapped(window)) return FALSE;
    if (!GDK_IS_TOPLEVEL(surface)) return TRUE;
    return (gdk_toplevel_get_state(GDK_TOPLEVEL(surface)) & (GDK_TOPLEVEL_STATE_MINIMIZED | suspended)) == 0;
}

void eidetic_set_accessible_name(void *widget, const char *name) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

GdkPaintable *eidetic_texture_new(int width, int height, size_t stride, gboolean straight, const void *pixels,
                                  void *owner, GDestroyNotify release) {
    GBytes *bytes = g_bytes_new_with_free_func(pixels, stride * (size_t)height, release, owner);
    GdkMemoryFormat format = straight ? GDK_MEMORY_R8G8B8A8 : GDK_MEMORY_R8G8B8A8_PREMULTIPLIED;
    GdkPaintable *texture = MAX(width, height) > eidetic_texture_limit
                                ? eidetic_tiles_new(width, height, stride, format, bytes)
                                : GDK_PAINTABLE(gdk_memory_texture_new(width, height, format, bytes, stride));
    g_bytes_unref(bytes);
    return texture;
}

void eidetic_add_style(const char *css, guint priority) {
    GdkDisplay *display = gdk_display_get_default();
    if (!display) return;
    GtkCssProvider *provider = gtk_css_provider_new();
#if GTK_CHECK_VERSION(4, 12, 0)
    gtk_css_provider_load_from_string(provider, css);
#else
    gtk_css_provider_load_from_data(provider, css, -1);
#endif
    gtk_style_context_add_provider_for_display(display, GTK_STYLE_PROVIDER(provider), priority);
    g_object_unref(provider);
}
#endif
