#define _GNU_SOURCE
#include "CGTK.h"

#if __has_include(<gtk/gtk.h>)
#include <sys/resource.h>
#include <time.h>

typedef struct {
    gint64 elapsed, processor;
} Times;

// All variables are used on the main thread only.
static gboolean is_watching = FALSE;
static int depth = 0;
static Times longest, start, excluded, exclusion_start;
static long switches = 0;

/// Returns the monotonic time and the processor time of this thread, in microseconds.
static Times now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (Times){g_get_monotonic_time(), (gint64)time.tv_sec * 1000000 + time.tv_nsec / 1000};
}

/// Returns the number of times that the processor was taken from this thread.
static long involuntary_switches(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

void eidetic_watch_start(void) { is_watching = TRUE; }

void eidetic_watch_begin(void) {
    if (!is_watching || depth++ > 0) return;
    excluded = (Times){0, 0};
    switches = involuntary_switches();
    start = now();
}

void eidetic_watch_end(void) {
    if (!is_watching || depth == 0 || --depth > 0) return;
    Times end = now();
    gint64 processor = end.processor - start.processor - excluded.processor;
    gint64 elapsed = end.elapsed - start.elapsed - excluded.elapsed;
    if (involuntary_switches() != switches) elapsed = processor;
    longest.processor = MAX(longest.processor, processor);
    longest.elapsed = MAX(longest.elapsed, elapsed);
}

void eidetic_watch_begin_exclusion(void) { exclusion_start = now(); }

void eidetic_watch_end_exclusion(void) {
    Times end = now();
    excluded.elapsed += end.elapsed - exclusion_start.elapsed;
    excluded.processor += end.processor - exclusion_start.processor;
}

gint64 eidetic_watch_take_longest(gint64 *processor) {
    Times result = longest;
    longest = (Times){0, 0};
    *processor = result.processor;
    return result.elapsed;
}
#endif
