#define _GNU_SOURCE
#include "CGTK.h"

#if __has_include(<gtk/gtk.h>)
#include <sys/resource.h>
#include <time.h>

typedef struct {
    gint64 clock, own;
} Moment;

// All of this is used on the main thread only.
static gboolean is_watching = FALSE;
static int depth = 0;
static Moment longest, began, excluded, exclusion;
static long switches = 0;

/// The time by the clock, and the processor time of this thread, in microseconds.
static Moment now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (Moment){g_get_monotonic_time(), (gint64)time.tv_sec * 1000000 + time.tv_nsec / 1000};
}

/// How often the processor was taken from this thread.
static long involuntary_switches(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

void eidetic_watch_start(void) { is_watching = TRUE; }

void eidetic_watch_begin(void) {
    if (!is_watching || depth++ > 0) return;
    excluded = (Moment){0, 0};
    switches = involuntary_switches();
    began = now();
}

void eidetic_watch_end(void) {
    if (!is_watching || depth == 0 || --depth > 0) return;
    Moment end = now();
    gint64 own = end.own - began.own - excluded.own;
    gint64 held = involuntary_switches() == switches ? end.clock - began.clock - excluded.clock : own;
    longest.own = MAX(longest.own, own);
    longest.clock = MAX(longest.clock, held);
}

void eidetic_watch_begin_exclusion(void) { exclusion = now(); }

void eidetic_watch_end_exclusion(void) {
    Moment end = now();
    excluded.clock += end.clock - exclusion.clock;
    excluded.own += end.own - exclusion.own;
}

gint64 eidetic_watch_take_longest(gint64 *own) {
    Moment taken = longest;
    longest = (Moment){0, 0};
    *own = taken.own;
    return taken.clock;
}
#endif
