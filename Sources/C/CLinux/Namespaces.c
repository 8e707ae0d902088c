#define _GNU_SOURCE
#include "CLinuxSandbox.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void write_line(const char *path, const char *line, int count) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    (void)!write(file, line, (size_t)count);
    close(file);
}

/// Maps the user and the group of the process to themselves, as files of the namespace need them.
static void map_user(unsigned user, unsigned group) {
    char line[64];
    write_line("/proc/self/setgroups", "deny", 4);
    write_line("/proc/self/uid_map", line, snprintf(line, sizeof line, "%u %u 1", user, user));
    write_line("/proc/self/gid_map", line, snprintf(line, sizeof line, "%u %u 1", group, group));
}

enum { maximum_visible = 16 };

/// Shows a directory in the new root, at the path that it has in the old one.
static void show(int directory, const char *root, const char *path) {
    char target[PATH_MAX];
    if (snprintf(target, sizeof target, "%s%s", root, path) >= (int)sizeof target) return;
    for (char *end = target + strlen(root) + 1; *end; end++) {
        if (*end != '/') continue;
        *end = 0;
        mkdir(target, 0555);
        *end = '/';
    }
    mkdir(target, 0555);
    if (fchdir(directory) == 0) mount(".", target, NULL, MS_BIND | MS_REC, NULL);
}

/// Replaces the root by a file system that has nothing but some directories, and that nothing can be written to.
static int empty_root(const char *const *visible, size_t visible_count) {
    const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return -1;
    const char *places[] = {"/tmp", "/proc", "/usr"};
    // Opened before one of the places hides them.
    int directories[maximum_visible];
    if (visible_count > maximum_visible) visible_count = maximum_visible;
    for (size_t index = 0; index < visible_count; index++) {
        directories[index] = open(visible[index], O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    for (size_t index = 0; index < sizeof places / sizeof places[0]; index++) {
        if (mount("none", places[index], "tmpfs", flags, "size=4k,mode=555") != 0) continue;
        for (size_t number = 0; number < visible_count; number++) {
            if (directories[number] < 0) continue;
            show(directories[number], places[index], visible[number]);
            close(directories[number]);
        }
        if (chdir(places[index]) != 0 || syscall(SYS_pivot_root, ".", ".") != 0) return -1;
        if (umount2(".", MNT_DETACH) != 0 || chdir("/") != 0) return -1;
        return mount("none", "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, NULL);
    }
    return -1;
}

int eidetic_leave_namespaces(const char *const *visible, size_t visible_count) {
    const int spaces = CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
    unsigned user = geteuid(), group = getegid();
    int left = 0;
    if (unshare(CLONE_NEWUSER | spaces) == 0) {
        map_user(user, group);
        left = EIDETIC_NAMESPACE_USER;
    } else if (unshare(spaces) != 0) {
        return 0;
    }
    left |= EIDETIC_NAMESPACE_NETWORK;
    if (empty_root(visible, visible_count) == 0) left |= EIDETIC_NAMESPACE_FILES;
    return left;
}

int eidetic_drop_capabilities(void) {
    for (int capability = 0; capability < 64; capability++) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    return (int)syscall(SYS_capset, &header, none);
}
