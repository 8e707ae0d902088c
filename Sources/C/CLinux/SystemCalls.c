#define _GNU_SOURCE
#include "CLinuxSandbox.h"

#include "SystemCallFilter.h"

#include <sys/socket.h>

int eidetic_restrict_system_calls(void) {
    struct sock_filter filter[] = {
        LOAD_CALL,
#ifdef __x86_64__
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
        ALLOW_THREADS, ALLOW_OWN_SIGNALS,
        // Datagrams of AF_UNIX lead to the journal of the system; the user's bus and other services have streams.
        UNLESS(socket, 10), ARGUMENT(0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 7, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 5, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 3),
        ARGUMENT(1), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_DGRAM, 1, 0),
        FAIL(EAFNOSUPPORT), ALLOW,
        ALLOW,
    };
    return APPLY_FILTER(filter);
}
