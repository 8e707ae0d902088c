#define _GNU_SOURCE
#include "CSupervisor.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Takes the pages of the segments that are never written out of the page table; they stay in the page cache.
static int release_segments(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size, (void)unused;
    if (strncmp(object->dlpi_name, "linux-vdso", 10) == 0) return 0;
    uintptr_t page = (uintptr_t)getpagesize();
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
        uintptr_t first = (object->dlpi_addr + segment->p_vaddr + page - 1) / page * page;
        uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_filesz) / page * page;
        if (first < end) madvise((void *)first, end - first, MADV_DONTNEED);
    }
    return 0;
}

void eidetic_release_code(void) { dl_iterate_phdr(release_segments, NULL); }
