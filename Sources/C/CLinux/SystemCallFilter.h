#pragma once

// The words of a filter of system calls, for the transfer process and for the decoding processes.

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define THIS_ARCHITECTURE 0
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ARGUMENT(index) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[index]))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define FAIL(error) RETURN(SECCOMP_RET_ERRNO | (error))
#define ALLOW RETURN(SECCOMP_RET_ALLOW)
/// Fails a call with EPERM.
#define FORBID(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), FAIL(EPERM)
/// Skips `count` instructions unless the loaded number is that of a call.
#define UNLESS(name, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, (count))
#define CHECK_ARCHITECTURE \
    LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCHITECTURE, 1, 0), RETURN(SECCOMP_RET_KILL_PROCESS), LOAD(nr)
/// Fails calls of the x32 interface, which have other numbers.
#define FAIL_X32 BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), FAIL(ENOSYS)
/// The head of each filter: ends the process unless its calls have the numbers of this architecture, and loads the
/// number of the call.
#ifdef __x86_64__
#define LOAD_CALL CHECK_ARCHITECTURE, FAIL_X32
#else
#define LOAD_CALL CHECK_ARCHITECTURE
#endif
/// Allows a call whatever its arguments are.
#define ALLOW_CALL(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ALLOW
/// Allows threads, but no processes; the C library uses `clone` instead of `clone3`, whose flags cannot be seen.
#define ALLOW_THREADS                                                                                                  \
    UNLESS(clone3, 1), FAIL(ENOSYS), UNLESS(clone, 4), ARGUMENT(0),                                                    \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1), ALLOW, FAIL(EPERM)
/// Allows signals to threads of this process, such as that of `abort`.
#define ALLOW_OWN_SIGNALS                                                                                              \
    UNLESS(tgkill, 4), ARGUMENT(0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 0, 1), ALLOW, FAIL(EPERM)

/// Applies a filter to all threads of the process; returns -1 on failure, as on other architectures.
static inline int apply_filter(struct sock_filter *filter, size_t count) {
    if (THIS_ARCHITECTURE == 0) {
        errno = ENOTSUP;
        return -1;
    }
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
                        &(struct sock_fprog){.len = (unsigned short)count, .filter = filter});
}

#define APPLY_FILTER(filter) apply_filter((filter), sizeof(filter) / sizeof(filter)[0])
