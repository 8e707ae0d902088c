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

int eidetic_restrict_to_decoding(void) {
    struct sock_filter filter[] = {
        LOAD_CALL,
#ifdef __x86_64__
        ALLOW_CALL(poll),
#endif
        // Messages and descriptors that the process has.
        ALLOW_CALL(ppoll), ALLOW_CALL(recvmsg), ALLOW_CALL(sendmsg), ALLOW_CALL(read), ALLOW_CALL(write),
        ALLOW_CALL(writev), ALLOW_CALL(close), ALLOW_CALL(fstat), ALLOW_CALL(lseek),
        ALLOW_VALUES(fcntl, 1, F_GETFL, F_GET_SEALS),
        // Memory, none of it with new code.
        ALLOW_WITHOUT(mmap, 2, PROT_EXEC), ALLOW_WITHOUT(mprotect, 2, PROT_EXEC), ALLOW_CALL(munmap),
        ALLOW_CALL(mremap), ALLOW_CALL(madvise), ALLOW_CALL(brk),
        // Threads of this process.
        ALLOW_THREADS, ALLOW_OWN_SIGNALS, ALLOW_CALL(futex), ALLOW_CALL(set_robust_list), ALLOW_CALL(rseq),
        ALLOW_CALL(sched_yield), ALLOW_CALL(sched_getaffinity), ALLOW_CALL(gettid), ALLOW_CALL(getpid),
        ALLOW_CALL(exit), ALLOW_CALL(exit_group), ALLOW_CALL(rt_sigprocmask), ALLOW_CALL(rt_sigaction),
        ALLOW_CALL(rt_sigreturn), ALLOW_CALL(sigaltstack), ALLOW_CALL(restart_syscall),
        ALLOW_VALUES(prctl, 0, PR_SET_NAME, PR_SET_VMA),
        // Time, chance, and the machine.
        ALLOW_CALL(clock_gettime), ALLOW_CALL(clock_nanosleep), ALLOW_CALL(nanosleep), ALLOW_CALL(gettimeofday),
        ALLOW_CALL(getrandom), ALLOW_CALL(getrusage), ALLOW_CALL(sysinfo), ALLOW_CALL(uname), ALLOW_CALL(getcpu),
        // Everything else fails, and is not fatal: libraries ask for files that they can do without.
        FAIL(EPERM),
    };
    return APPLY_FILTER(filter);
}
