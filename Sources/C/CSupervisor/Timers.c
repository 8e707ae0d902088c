#define _GNU_SOURCE
#include "CSupervisor.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int eidetic_open_timer(int is_wall_clock) {
    return timerfd_create(is_wall_clock ? CLOCK_REALTIME : CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
}

int eidetic_set_timer(int timer, int64_t seconds, int is_wall_clock) {
    struct itimerspec time = {.it_value = {.tv_sec = seconds, .tv_nsec = seconds > 0 ? 1 : 0}};
    int flags = TFD_TIMER_ABSTIME | (is_wall_clock && seconds > 0 ? TFD_TIMER_CANCEL_ON_SET : 0);
    return timerfd_settime(timer, flags, &time, NULL);
}

int eidetic_read_timer(int timer) {
    uint64_t count;
    if (read(timer, &count, sizeof count) > 0) return 1;
    return errno == ECANCELED ? -1 : 0;
}

void eidetic_schedule_time(int64_t *boot_seconds, int64_t *seconds, int64_t *offset) {
    struct timespec boot, wall;
    struct tm local;
    clock_gettime(CLOCK_BOOTTIME, &boot);
    clock_gettime(CLOCK_REALTIME, &wall);
    *boot_seconds = boot.tv_sec;
    *seconds = wall.tv_sec;
    // The zone may have changed while this process runs.
    tzset();
    *offset = localtime_r(&wall.tv_sec, &local) ? local.tm_gmtoff : 0;
}
