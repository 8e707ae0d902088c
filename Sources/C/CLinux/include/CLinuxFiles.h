#ifndef EIDETIC_LINUX_FILES_H
#define EIDETIC_LINUX_FILES_H

/// Copies a file from its beginning with `copy_file_range`, which shares blocks where the file system can, or with
/// `read` and `write`; returns the number of bytes, -1 on failure.
///
/// Swift's Glibc does not import `copy_file_range`.
long eidetic_copy_file(int source, int target);

/// Opens a new file without a name in a directory, for writing, with `O_TMPFILE`, which Swift's Glibc does not import;
/// returns -1 on failure.
int eidetic_open_unnamed(const char *directory, unsigned mode);

/// Gives an open file without a name this one, with `linkat`, by way of `/proc`; returns -1 on failure.
int eidetic_link_file(int descriptor, const char *path);

#endif
