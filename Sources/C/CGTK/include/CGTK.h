/// The parts of GTK that Swift cannot use by itself: casts by macros, variadic functions, the definition of a class.
///
/// All parameters that are objects are `void *`, because Swift imports some of GTK's types as opaque pointers and
/// others as structures. All functions must be called on the thread of GLib's main loop.
///
/// Without the trait `GTK` the library's headers are not on the search path, and this header is empty.
#pragma once

#if __has_include(<gtk/gtk.h>)
#include <gtk/gtk.h>

// MARK: For applications

/// Returns the object as a widget, with GTK's warning if it is none.
static inline GtkWidget *eidetic_widget(void *object) { return GTK_WIDGET(object); }

/// Returns the value of a property of type `gboolean`.
gboolean eidetic_get_boolean(void *object, const char *property);
/// Sets a property of type `gboolean`.
void eidetic_set_boolean(void *object, const char *property, gboolean value);

/// Sets the name of a widget for screen readers.
void eidetic_set_accessible_name(void *widget, const char *name);

/// Returns whether a window is on the screen: mapped, and neither minimised nor reported as suspended.
gboolean eidetic_window_is_visible(void *window);

/// Adds a style sheet to all windows of the default display; nothing without a display.
void eidetic_add_style(const char *css, guint priority);

// What follows serves EideticGTK itself, and may change.

// MARK: Main loop

/// Makes the default main context run the jobs of the main actor.
///
/// Returns the identifier of the source, for `g_source_remove`. Call it on the main thread.
guint eidetic_main_queue_attach(void);

/// Sets a function that is called with TRUE before work of Eidetic on the main thread, and with FALSE after it, for
/// benchmarks.
void eidetic_set_watch(void (*function)(gboolean begins));
/// Calls that function, if there is one.
void eidetic_watch(gboolean begins);

// MARK: Objects

/// The kinds of widgets that can show an image.
typedef enum {
    EIDETIC_WIDGET_UNKNOWN,
    EIDETIC_WIDGET_GTK_PICTURE,
    EIDETIC_WIDGET_GTK_IMAGE,
    EIDETIC_WIDGET_BUTTON,
    /// Any other widget with a property "child", such as a marker on a map.
    EIDETIC_WIDGET_PARENT,
} EideticWidgetKind;

EideticWidgetKind eidetic_widget_kind(void *object);

/// Returns the widget in the property "child"; `NULL` if there is none.
GtkWidget *eidetic_widget_child(void *parent);
void eidetic_widget_set_child(void *parent, void *child);

/// Returns whether an object has a signal whose result and first arguments have the given types; the object follows the
/// arguments.
///
/// `v` is none, and others are letters of `GTypeValueTable`: `i` for 32 bits, `d` for double, `p` for pointers.
gboolean eidetic_signal_has_types(void *object, const char *signal, const char *types);
/// Connects a handler that is called after the default one, with `data`, then the arguments, then the object.
///
/// `data` is released with `destroy`.
gulong eidetic_connect(void *object, const char *signal, GCallback handler, void *data, GClosureNotify destroy);
void eidetic_disconnect(void *object, gulong handler);

/// Returns the number of pixels of the screen for one pixel of the toolkit, a fraction from GTK 4.12 on.
double eidetic_widget_scale(GtkWidget *widget);
/// Returns the surface that reports changes of this fraction with a reference; `NULL` before GTK 4.12, or without one.
void *eidetic_scaled_surface(GtkWidget *widget);

/// Returns the surface of a window without a reference; `NULL` if it has none.
void *eidetic_window_surface(void *window);

// MARK: Snapshots

/// Returns a paintable with the contents of a window, which the caller owns.
void *eidetic_window_paintable_new(void *window);
/// Returns the contents of the window of such a paintable, which the caller owns; `NULL` if it is not on the screen.
void *eidetic_window_current_image(void *paintable);
/// Draws a window, or `image`, if it is not on the screen, and covers widgets; returns a PNG file, or `NULL`.
///
/// The longer side has at most `limit` pixels.
GBytes *eidetic_window_draw(void *window, void *image, void **covered, size_t count, double limit);

// MARK: Images

/// Returns a texture of pixels that `owner` keeps alive; `release` is called with it later, on any thread.
GdkPaintable *eidetic_texture_new(int width, int height, size_t stride, gboolean straight, const void *pixels,
                                  void *owner, GDestroyNotify release);

/// The indicator that is drawn over an image.
typedef enum { EIDETIC_INDICATOR_NONE, EIDETIC_INDICATOR_SPINNER, EIDETIC_INDICATOR_RING } EideticIndicator;

/// A paintable that can fade from one image to another, and draws an indicator over them.
typedef struct _EideticPaintable EideticPaintable;
GdkPaintable *eidetic_paintable_new(void);

/// Shows `image`, or nothing if it is `NULL`; `scale` of its pixels are one pixel of the toolkit.
void eidetic_paintable_show(void *self, void *image, double scale);
/// Shows `image`, which is incomplete, over `background`, until another image is shown completely; `background` may be
/// `NULL`. It is drawn in its own proportions, and covers the area if `covers`.
void eidetic_paintable_show_over(void *self, void *image, void *background, double scale, gboolean covers);
/// Returns the current image without a reference; `NULL` if there is none.
GdkPaintable *eidetic_paintable_image(void *self);
/// Starts a transition from the current image to `image`, which `eidetic_paintable_set_fade` advances.
void eidetic_paintable_begin_fade(void *self, void *image, double scale, gboolean covers);
/// Sets the opacity of the new image: 0 … 1, where 1 ends the transition.
void eidetic_paintable_set_fade(void *self, double opacity);
/// Sets the indicator; `value` is the phase of the spinner or the filled fraction of the ring: 0 … 1.
void eidetic_paintable_set_indicator(void *self, EideticIndicator indicator, double value);

#endif
