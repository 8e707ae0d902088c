#define _GNU_SOURCE
#include "Escapes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *names;
static size_t remaining;

static void note(const char *name, long result) {
    size_t length = strlen(name);
    if (result < 0 || remaining < length + 3) return;
    if (*names) strcat(names, ", ");
    strcat(names, name);
    remaining -= length + 2;
}

static long new_code(void) {
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? -1 : 0;
}

static long raise_limit(void) {
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    return setrlimit(RLIMIT_AS, &limit);
}

static long inherited_descriptor(void) {
    for (int number = 4; number < 64; number++) {
        if (fcntl(number, F_GETFL) >= 0) return number;
    }
    return -1;
}

void eidetic_try_to_escape(char *list, size_t capacity) {
    char *const words[] = {"true", NULL}, *const variables[] = {NULL};
    (names = list)[0] = 0;
    remaining = capacity;
    // First, as others open descriptors where they succeed.
    note("inherited descriptor", inherited_descriptor());
    note("open", open("/etc/passwd", O_RDONLY));
    note("create", open("/tmp/eidetic-decode-probe", O_WRONLY | O_CREAT, 0600));
    note("list", opendir("/") ? 0 : -1);
    note("socket", socket(AF_INET, SOCK_STREAM, 0));
    note("unix socket", socket(AF_UNIX, SOCK_STREAM, 0));
    // A child executes the program, so that the process goes on where that succeeds.
    long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child <= 0) {
        long result = syscall(SYS_execve, "/bin/true", words, variables);
        if (child == 0) _exit(1);
        note("exec", result);
    }
    note("fork", child);
    note("trace", syscall(SYS_ptrace, 0x4206, getppid(), 0, 0));
    note("memory of the parent", syscall(SYS_process_vm_readv, getppid(), 0, 0, 0, 0, 0));
    note("signal to the parent", kill(getppid(), 0));
    note("signal to a thread of the parent", syscall(SYS_tgkill, getppid(), getppid(), 0));
    note("signal by descriptor", syscall(SYS_pidfd_open, getppid(), 0));
    note("limit", raise_limit());
    note("new code", new_code());
    note("namespace", syscall(SYS_unshare, 0x10000000));
    note("mount", mount("none", "/", "tmpfs", 0, NULL));
    note("shared memory", syscall(SYS_memfd_create, "x", 0));
    note("io_uring", syscall(SYS_io_uring_setup, 1, 0));
    note("bpf", syscall(SYS_bpf, 0, 0, 0));
    note("keys", syscall(SYS_keyctl, 0, -1, 0, 0, 0));
    note("privileges", syscall(SYS_setuid, 0));
}

int eidetic_deny_restrictions(void) {
#define DENY(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), DENY(SYS_unshare), DENY(SYS_seccomp), DENY(444),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
