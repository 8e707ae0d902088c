#define _GNU_SOURCE
#include "CLinuxHelpers.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <unistd.h>

/// Decodes images until its socket is closed. Defined by EideticSandbox; NULL in programs without it.
extern void eidetic_decode_until_end(int count, char *const formats[]) __attribute__((weak));

static int option(int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(EIDETIC_DECODE_DESCRIPTOR, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

/// Returns whether the socket was made by the process that has started this one.
static int is_socket_of_parent(void) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(EIDETIC_DECODE_DESCRIPTOR, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           peer.pid == getppid() && peer.uid == geteuid();
}

// Runs before `main`, which the process never reaches if it was started for decoding. glibc passes the arguments.
__attribute__((constructor)) static void start(int count, char **arguments) {
    if (count < 2 || !eidetic_decode_until_end || strcmp(arguments[1], EIDETIC_DECODE_ARGUMENT) != 0) return;
    if (getauxval(AT_SECURE) || option(SO_DOMAIN) != AF_UNIX || option(SO_TYPE) != SOCK_SEQPACKET) return;
    if (is_socket_of_parent()) eidetic_decode_until_end(count - 2, arguments + 2);
    _exit(0);
}

/// Returns 1 if the first object, which is the program, contains an address, and -1 otherwise, which ends the search.
static int contains(struct dl_phdr_info *object, size_t size, void *address) {
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        ElfW(Addr) distance = (ElfW(Addr))address - (object->dlpi_addr + part->p_vaddr);
        if (part->p_type == PT_LOAD && distance < part->p_memsz) return 1;
    }
    return -1;
}

int eidetic_can_start_again(void) {
    if (getauxval(AT_SECURE) || !eidetic_decode_until_end) return 0;
    if (dl_iterate_phdr(contains, (void *)start) == 1) return 1;
    // A library that the program is linked with; the symbols of one that it opens later are not found.
    return dlsym(RTLD_DEFAULT, "eidetic_can_start_again") != NULL;
}
