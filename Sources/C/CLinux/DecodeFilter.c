#define _GNU_SOURCE
#include "CLinuxSandbox.h"

#include "SystemCallFilter.h"

#include <fcntl.h>
#include <sys/mman.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/// Allows a call if an argument has none of these bits.
#define ALLOW_WITHOUT(name, index, bits) \
    UNLESS(name, 4), ARGUMENT(index), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 1, 0), ALLOW, FAIL(EPERM)
/// Allows a call if an argument has one of two values.
#define ALLOW_VALUES(name, index, first, second)                                                      \
    UNLESS(name, 5), ARGUMENT(index), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (first), 1, 0),            \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (second), 0, 1), ALLOW, FAIL(EPERM)

// Messages and descriptors that the process has; memory, none of it with new code; threads of this process; time,
// chance, and the machine.
#define ALLOW_DECODING                                                                                                 \
    ALLOW_POLL ALLOW_CALL(ppoll), ALLOW_CALL(recvmsg), ALLOW_CALL(sendmsg), ALLOW_CALL(read), ALLOW_CALL(write),       \
        ALLOW_CALL(writev), ALLOW_CALL(close), ALLOW_CALL(fstat), ALLOW_CALL(lseek),                                   \
        ALLOW_VALUES(fcntl, 1, F_GETFL, F_GET_SEALS), ALLOW_WITHOUT(mmap, 2, PROT_EXEC),                               \
        ALLOW_WITHOUT(mprotect, 2, PROT_EXEC), ALLOW_CALL(munmap), ALLOW_CALL(mremap), ALLOW_CALL(madvise),            \
        ALLOW_CALL(brk), ALLOW_THREADS, ALLOW_OWN_SIGNALS, ALLOW_CALL(futex), ALLOW_CALL(set_robust_list),             \
        ALLOW_CALL(rseq), ALLOW_CALL(sched_yield), ALLOW_CALL(sched_getaffinity), ALLOW_CALL(gettid),                  \
        ALLOW_CALL(getpid), ALLOW_CALL(exit), ALLOW_CALL(exit_group), ALLOW_CALL(rt_sigprocmask),                      \
        ALLOW_CALL(rt_sigaction), ALLOW_CALL(rt_sigreturn), ALLOW_CALL(sigaltstack), ALLOW_CALL(restart_syscall),      \
        ALLOW_VALUES(prctl, 0, PR_SET_NAME, PR_SET_VMA), ALLOW_CALL(clock_gettime), ALLOW_CALL(clock_nanosleep),       \
        ALLOW_CALL(nanosleep), ALLOW_CALL(gettimeofday), ALLOW_CALL(getrandom), ALLOW_CALL(getrusage),                 \
        ALLOW_CALL(sysinfo), ALLOW_CALL(uname), ALLOW_CALL(getcpu)

// Files that exist, and their names; none is created or changed.
static const int changes = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
#ifdef __x86_64__
#define ALLOW_OLD_READING \
    ALLOW_WITHOUT(open, 1, changes), ALLOW_CALL(stat), ALLOW_CALL(lstat), ALLOW_CALL(access), ALLOW_CALL(readlink),
#define ALLOW_POLL ALLOW_CALL(poll),
#else
#define ALLOW_OLD_READING
#define ALLOW_POLL
#endif
#define ALLOW_READING                                                                                                  \
    ALLOW_OLD_READING ALLOW_WITHOUT(openat, 2, changes), ALLOW_CALL(newfstatat), ALLOW_CALL(statx),                    \
        ALLOW_CALL(faccessat), ALLOW_CALL(readlinkat), ALLOW_CALL(getdents64), ALLOW_CALL(pread64), ALLOW_CALL(fstatfs)

int eidetic_restrict_to_decoding(int reads_files) {
    if (reads_files) {
        struct sock_filter filter[] = {LOAD_CALL, ALLOW_READING, ALLOW_DECODING, FAIL(EPERM)};
        return APPLY_FILTER(filter);
    }
    // Everything else fails, and is not fatal: libraries ask for files that they can do without.
    struct sock_filter filter[] = {LOAD_CALL, ALLOW_DECODING, FAIL(EPERM)};
    return APPLY_FILTER(filter);
}
