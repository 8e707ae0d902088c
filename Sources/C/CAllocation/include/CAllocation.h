#ifndef EIDETIC_ALLOCATION_H
#define EIDETIC_ALLOCATION_H

/// Lets glibc return freed memory to the system, with `mallopt`, which Swift's Glibc does not import; to be called
/// before other threads begin.
///
/// Otherwise the first large block that is freed raises the size from which blocks are mapped on their own, and tables
/// that have grown leave their earlier storage in the heap.
void eidetic_return_freed_memory(void);

/// Lets glibc use freed memory again, up to 8 MiB of each heap, instead of returning it to the system, for programs
/// that allocate large blocks again and again, such as the bodies of responses.
///
/// Otherwise each body is written to new pages: a fifth of the processor time of loading many small files.
void eidetic_keep_freed_memory(void);

#endif
