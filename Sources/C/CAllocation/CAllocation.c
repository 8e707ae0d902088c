#include "CAllocation.h"

#include <malloc.h>

void eidetic_return_freed_memory(void) {
    mallopt(M_MMAP_THRESHOLD, 64 << 10);
    mallopt(M_TRIM_THRESHOLD, 64 << 10);
    mallopt(M_ARENA_MAX, 2);
}

void eidetic_keep_freed_memory(void) {
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 8 << 20);
    mallopt(M_TOP_PAD, 256 << 10);
}
