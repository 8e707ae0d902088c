#ifndef EIDETIC_LINUX_H
#define EIDETIC_LINUX_H

#include <pthread.h>

/// `pthread_setname_np`, which Swift's Glibc does not import.
void eidetic_set_thread_name(pthread_t thread, const char *name);

#endif
