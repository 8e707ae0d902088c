#ifndef EIDETIC_LINUX_FILES_H
#define EIDETIC_LINUX_FILES_H

/// Copies a file from its beginning with `copy_file_range`, which shares blocks where the file system can, or with
/// `read` and `write`; returns the number of bytes, -1 on failure.
///
/// Swift's Glibc does not import `copy_file_range`.
long eidetic_copy_file(int source, int target);

#endif
