/// What Swift cannot do with GTK by itself: cast with macros, call variadic functions, define a GObject class.
///
/// All parameters that are objects are `void *`, because Swift imports some of GTK's types as opaque pointers and others
/// as structures. Everything is called on the thread that runs GLib's main loop.
///
/// Without the trait `GTK` the library's headers are not on the search path, and this header is empty.
#pragma once

#if __has_include(<gtk/gtk.h>)
#include <gtk/gtk.h>

// MARK: Main loop

/// Lets the default main context run the jobs of the main actor; gives the number of the source, which is to be removed
/// with `g_source_remove`. Call it on the main thread.
guint eidetic_main_queue_attach(void);

/// Notes how long the thread is held between `begin` and `end`, while `eidetic_watch_start` was called before.
///
/// Where the system gave the processor to others meanwhile, the thread's own time counts.
void eidetic_watch_start(void);
void eidetic_watch_begin(void);
void eidetic_watch_end(void);
/// What happens in between is not counted: it is not Eidetic's.
void eidetic_watch_begin_exclusion(void);
void eidetic_watch_end_exclusion(void);
/// The longest such time in microseconds since the last call, and the longest processor time.
gint64 eidetic_watch_take_longest(gint64 *own);

// MARK: Objects

/// Kinds of widgets that can show a picture.
typedef enum {
    EIDETIC_WIDGET_UNKNOWN,
    EIDETIC_WIDGET_PICTURE,
    EIDETIC_WIDGET_IMAGE,
    EIDETIC_WIDGET_BUTTON,
    /// Something else that has a child, as a marker on a map has.
    EIDETIC_WIDGET_PARENT,
} EideticWidgetKind;

static inline GtkWidget *eidetic_widget(void *object) { return GTK_WIDGET(object); }
EideticWidgetKind eidetic_widget_kind(void *object);

/// The widget in the property "child"; `NULL` where there is none.
GtkWidget *eidetic_widget_child(void *parent);
void eidetic_widget_set_child(void *parent, void *child);

/// Connects a handler that is called after the default one, with `data` first, then the arguments, then the object;
/// `data` is released with `destroy`.
gulong eidetic_connect(void *object, const char *signal, GCallback handler, void *data, GClosureNotify destroy);
void eidetic_disconnect(void *object, gulong handler);

gboolean eidetic_get_boolean(void *object, const char *property);
void eidetic_set_boolean(void *object, const char *property, gboolean value);

/// What a screen reader calls a widget.
void eidetic_set_accessible_name(void *widget, const char *name);

// MARK: Pictures

/// A texture of pixels that are kept by `owner` until `release` is called with it, on whichever thread.
GdkPaintable *eidetic_texture_new(int width, int height, size_t stride, gboolean straight, const void *pixels,
                                  void *owner, GDestroyNotify release);

/// What is drawn over a picture.
typedef enum { EIDETIC_INDICATOR_NONE, EIDETIC_INDICATOR_SPINNER, EIDETIC_INDICATOR_RING } EideticIndicator;

/// A picture that changes: it can fade from one to another, and shows an indicator over it.
typedef struct _EideticPaintable EideticPaintable;
GdkPaintable *eidetic_paintable_new(void);

/// Shows `picture`, or nothing where it is `NULL`; `scale` pixels of it are one of the toolkit's.
void eidetic_paintable_show(void *self, void *picture, double scale);
/// What is shown now; `NULL` where nothing is. Not retained.
GdkPaintable *eidetic_paintable_picture(void *self);
/// Shows `picture` over what is shown now, which is to fade away as `eidetic_paintable_set_fade` says.
void eidetic_paintable_begin_fade(void *self, void *picture, double scale, gboolean covers);
/// How much of the new picture is seen: 0 … 1, where 1 ends the transition.
void eidetic_paintable_set_fade(void *self, double part);
/// `value` is the spinner's turn or the ring's part: 0 … 1.
void eidetic_paintable_set_indicator(void *self, EideticIndicator indicator, double value);

#endif
