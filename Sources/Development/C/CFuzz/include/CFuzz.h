#ifndef EIDETIC_FUZZ_H
#define EIDETIC_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/// The entry point of libFuzzer, which clang's runtime has and no header declares.
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*run)(const uint8_t *bytes, size_t size));

#endif
