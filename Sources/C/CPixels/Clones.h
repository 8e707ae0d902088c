#pragma once

// A fused multiplication and addition rounds once instead of twice, so copies for newer processors would have other
// results.
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif
#ifndef __has_feature
#define __has_feature(name) 0
#endif

// Compiles a function several times, for newer processors. The dynamic loader selects one copy at program start.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer) \
    && !__has_feature(thread_sanitizer)
#define EIDETIC_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
// The loader selects before a sanitizer is initialised.
#define EIDETIC_CLONES
#endif

#define EIDETIC_INLINE static inline __attribute__((always_inline))
