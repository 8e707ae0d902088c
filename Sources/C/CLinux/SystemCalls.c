#define _GNU_SOURCE
#include "CLinuxSandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
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

int eidetic_restrict_system_calls(void) {
#ifndef THIS_ARCHITECTURE
    errno = ENOTSUP;
    return -1;
#else
    struct sock_filter filter[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCHITECTURE, 1, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
#ifdef __x86_64__
        // The calls of the x32 interface have other numbers.
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        FAIL(ENOSYS),
        FORBID(fork), FORBID(vfork),
#endif
        // Programs and processes.
        FORBID(execve), FORBID(execveat), FORBID(ptrace), FORBID(process_vm_readv), FORBID(process_vm_writev),
        FORBID(kill), FORBID(tkill), FORBID(rt_sigqueueinfo), FORBID(rt_tgsigqueueinfo), FORBID(pidfd_send_signal),
        FORBID(pidfd_getfd), FORBID(setns), FORBID(unshare),
        // Listening.
        FORBID(listen),
        // The system.
        FORBID(mount), FORBID(umount2), FORBID(pivot_root), FORBID(chroot), FORBID(bpf), FORBID(perf_event_open),
        FORBID(kexec_load), FORBID(init_module), FORBID(finit_module), FORBID(delete_module), FORBID(reboot),
        FORBID(swapon), FORBID(swapoff), FORBID(keyctl), FORBID(add_key), FORBID(request_key), FORBID(userfaultfd),
        FORBID(io_uring_setup), FORBID(settimeofday), FORBID(clock_settime), FORBID(adjtimex), FORBID(quotactl),
        FORBID(open_by_handle_at), FORBID(name_to_handle_at), FORBID(fanotify_init), FORBID(acct), FORBID(syslog),
        // The C library uses clone instead, whose flags can be seen.
        UNLESS(clone3, 1), FAIL(ENOSYS),
        UNLESS(clone, 4), ARGUMENT(0), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1), ALLOW, FAIL(EPERM),
        UNLESS(tgkill, 4), ARGUMENT(0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 0, 1), ALLOW,
        FAIL(EPERM),
        // Datagrams of AF_UNIX lead to the journal of the system; the user's bus and other services have streams.
        UNLESS(socket, 10), ARGUMENT(0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 7, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 5, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 3),
        ARGUMENT(1), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_DGRAM, 1, 0),
        FAIL(EAFNOSUPPORT), ALLOW,
        ALLOW,
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
#endif
}
