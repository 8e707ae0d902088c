// Libraries that are loaded when the first image needs them. An idle process does not hold 15 MB of unused decoders,
// and a machine without one of the libraries still decodes all other formats (docs/decisions/0001).
#pragma once
#include <pthread.h>
#include <stdbool.h>

// One function of a library, and the pointer that receives its address.
typedef struct {
    const char *name;
    void **address;
} eidetic_codec_symbol;

typedef struct {
    const char *name;             // the file's name, with its version
    pthread_once_t once;
    bool is_loaded;
    char message[120];            // the reason of a failed load
} eidetic_codec_library;

// Loads a library and resolves its functions. Returns false if one is missing. Only `pthread_once` may call it.
bool eidetic_codec_load(eidetic_codec_library *library, const eidetic_codec_symbol *symbols, unsigned count);
