#include "CGTK.h"

#if __has_include(<gtk/gtk.h>)
#include <glib-unix.h>
#include <sys/eventfd.h>

// libdispatch exports both to run its main queue, which is also the main actor's, in another main loop.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *);

// Used on the main thread only.
static void (*watch)(gboolean begins);

void eidetic_set_watch(void (*function)(gboolean begins)) { watch = function; }

void eidetic_watch(gboolean begins) {
    if (watch) watch(begins);
}

static gboolean run_main_queue(gint fd, GIOCondition condition, gpointer data) {
    (void)condition, (void)data;
    eventfd_t count;
    // An unread event would keep the source ready for ever.
    eventfd_read(fd, &count);
    eidetic_watch(TRUE);
    _dispatch_main_queue_callback_4CF(NULL);
    eidetic_watch(FALSE);
    return G_SOURCE_CONTINUE;
}

guint eidetic_main_queue_attach(void) {
    // At the priority of drawing, endless jobs do not prevent drawing, and drawing does not delay jobs.
    return g_unix_fd_add_full(GDK_PRIORITY_REDRAW, _dispatch_get_main_queue_handle_4CF(), G_IO_IN, run_main_queue, NULL,
                              NULL);
}
#endif
