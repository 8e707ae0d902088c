#define _GNU_SOURCE
#include "CLinux.h"

void eidetic_set_thread_name(pthread_t thread, const char *name) { pthread_setname_np(thread, name); }
