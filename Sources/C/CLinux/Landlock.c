#define _GNU_SOURCE
#include "CLinuxSandbox.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The headers of older kernels lack a part of this interface; the numbers are those of every architecture.
enum { create_ruleset = 444, add_rule = 445, restrict_self = 446, version_flag = 1, path_beneath = 1 };

struct ruleset {
    uint64_t files, network, scoped;
};

struct __attribute__((packed)) path_rule {
    uint64_t allowed;
    int32_t parent;
};

enum {
    execute = 1 << 0, write_file = 1 << 1, read_file = 1 << 2, read_directory = 1 << 3, remove_directory = 1 << 4,
    remove_file = 1 << 5, make_directory = 1 << 7, make_file = 1 << 8, refer = 1 << 13, truncate_file = 1 << 14,
};

int eidetic_forbid_new_privileges(void) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int eidetic_landlock_version(void) {
    long version = syscall(create_ruleset, NULL, 0, version_flag);
    return version > 0 ? (int)version : 0;
}

static uint64_t file_rights(int version) {
    // 13 rights in version 1, and one more in each of 2 (refer), 3 (truncate) and 5 (ioctl of devices).
    uint64_t rights = (1 << 13) - 1;
    if (version >= 2) rights |= refer;
    if (version >= 3) rights |= truncate_file;
    if (version >= 5) rights |= 1 << 15;
    return rights;
}

static int allow(int ruleset, const char *path, uint64_t rights, uint64_t handled) {
    int parent = open(path, O_PATH | O_CLOEXEC);
    if (parent < 0) return 0;
    struct stat status;
    if (fstat(parent, &status) == 0 && !S_ISDIR(status.st_mode)) rights &= read_file | write_file | truncate_file;
    struct path_rule rule = {.allowed = rights & handled, .parent = parent};
    long result = syscall(add_rule, ruleset, path_beneath, &rule, 0);
    close(parent);
    return (int)result;
}

int eidetic_landlock_restrict(const char *const *readable, size_t readable_count, const char *const *writable,
                              size_t writable_count) {
    int version = eidetic_landlock_version();
    struct ruleset rules = {.files = file_rights(version)};
    size_t size = sizeof(uint64_t);
    if (version >= 4) {
        rules.network = 1; // bind TCP
        size = 2 * sizeof(uint64_t);
    }
    if (version >= 6) {
        rules.scoped = 3; // abstract unix sockets, signals
        size = sizeof rules;
    }
    int ruleset = (int)syscall(create_ruleset, &rules, size, 0);
    if (ruleset < 0) return -1;
    const uint64_t reading = read_file | read_directory;
    const uint64_t writing = reading | write_file | remove_directory | remove_file | make_directory | make_file | refer |
                             truncate_file;
    int result = 0;
    for (size_t index = 0; index < readable_count; index++) result |= allow(ruleset, readable[index], reading, rules.files);
    for (size_t index = 0; index < writable_count; index++) result |= allow(ruleset, writable[index], writing, rules.files);
    if (result == 0) result = (int)syscall(restrict_self, ruleset, 0);
    close(ruleset);
    return result;
}
