#define _GNU_SOURCE
#include "CLinuxHelpers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

int eidetic_start_helper(const char *path, char *const arguments[], char *const environment[], int descriptor,
                         int32_t *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, descriptor, 3);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&actions, 4);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    pid_t child = 0;
    int error = posix_spawn(&child, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    *process = child;
    return error;
}

int eidetic_end_with_parent(void) {
    pid_t parent = getppid();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return -1;
    return getppid() == parent ? 0 : -1;
}

static int set_limit(int resource, rlim_t value) {
    struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
    return setrlimit(resource, &limit);
}

int eidetic_limit_own_files(void) { return set_limit(RLIMIT_NOFILE, 64) | set_limit(RLIMIT_CORE, 0); }

static int set_soft_limit(int32_t process, enum __rlimit_resource resource, rlim_t value) {
    struct rlimit limit;
    if (prlimit(process, resource, NULL, &limit) != 0) return -1;
    limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
    return prlimit(process, resource, &limit, NULL);
}

int eidetic_limit_memory(int32_t process, size_t bytes) { return set_soft_limit(process, RLIMIT_AS, bytes); }

int eidetic_limit_processor_time(int32_t process, int64_t seconds) {
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return -1;
    return set_soft_limit(process, RLIMIT_CPU, (rlim_t)(used.tv_sec + 1 + seconds));
}

/// Returns whether the limit on the sizes of files, which holds for shared memory too, allows a size.
///
/// Beyond it the kernel ends a process that does not handle SIGXFSZ.
static int is_allowed_size(size_t bytes) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

int eidetic_create_memory(size_t bytes) {
    if (!is_allowed_size(bytes)) {
        errno = EFBIG;
        return -1;
    }
    int memory = memfd_create("eidetic", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    // Before Linux 6.3.
    if (memory < 0 && errno == EINVAL) memory = memfd_create("eidetic", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0) return -1;
    // Its size is fixed, so that no access to a mapping can fail.
    if (ftruncate(memory, (off_t)bytes) == 0 && fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) {
        return memory;
    }
    int error = errno;
    close(memory);
    errno = error;
    return -1;
}

int eidetic_seal_memory(int memory) {
    if (fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL) != 0) return -1;
    const int needed = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    int seals = fcntl(memory, F_GET_SEALS);
    return seals >= 0 && (seals & needed) == needed ? 0 : -1;
}

int eidetic_forbid_writers(int memory) { return fcntl(memory, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL); }

int eidetic_reopen_memory(int memory, int is_writable) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    return open(path, (is_writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
}

int eidetic_has_no_writers(int memory) {
    // A lease for reading is granted only if no description of the file is open for writing, mappings included.
    if (fcntl(memory, F_SETLEASE, F_RDLCK) != 0) return 0;
    return fcntl(memory, F_SETLEASE, F_UNLCK) == 0;
}
