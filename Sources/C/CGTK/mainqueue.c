#include "CGTK.h"

#if __has_include(<gtk/gtk.h>)
#include <glib-unix.h>
#include <sys/eventfd.h>

// Exported by libdispatch for exactly this: running its main queue, which is the main actor's, in another main loop.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *);

static gboolean run_main_queue(gint fd, GIOCondition condition, gpointer data) {
    eventfd_t wakes;
    // What is not read stays readable: the source would be ready for ever.
    eventfd_read(fd, &wakes);
    eidetic_watch_begin();
    _dispatch_main_queue_callback_4CF(NULL);
    eidetic_watch_end();
    return G_SOURCE_CONTINUE;
}

guint eidetic_main_queue_attach(void) {
    // With the priority of drawing: jobs that never end keep no window black, nor does drawing keep jobs waiting.
    return g_unix_fd_add_full(GDK_PRIORITY_REDRAW, _dispatch_get_main_queue_handle_4CF(), G_IO_IN, run_main_queue, NULL,
                              NULL);
}
#endif
