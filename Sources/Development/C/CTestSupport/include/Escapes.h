#ifndef EIDETIC_ESCAPES_H
#define EIDETIC_ESCAPES_H

#include <stddef.h>

/// Tries what a decoding process must not be able to do, and writes the names of the attempts that succeeded.
///
/// In C because most are system calls without a function that Swift imports.
void eidetic_try_to_escape(char *list, size_t capacity);

/// Has the system deny the calls of namespaces, Landlock and seccomp to this process, as some containers do.
int eidetic_deny_restrictions(void);

#endif
