#ifndef EIDETIC_CLONES_H
#define EIDETIC_CLONES_H

// Copies of a function for newer processors; the loader picks one when the program starts.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer) \
    && !__has_feature(thread_sanitizer)
#define EIDETIC_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
// The loader picks before a sanitizer is ready.
#define EIDETIC_CLONES
#endif

#define EIDETIC_INLINE static inline __attribute__((always_inline))

#endif
