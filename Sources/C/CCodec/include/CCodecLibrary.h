// Libraries that are loaded when the first picture needs them: an idle process should not carry 15 MB of decoders that
// it may never use, and a machine without one of them should show all other formats (docs/decisions/0022).
#pragma once
#include <pthread.h>
#include <stdbool.h>

// One function of a library, and where its address goes.
typedef struct {
    const char *name;
    void **address;
} eidetic_codec_symbol;

typedef struct {
    const char *name;             // the file's name, with its version
    pthread_once_t once;
    bool is_loaded;
    char message[120];            // why it is not
} eidetic_codec_library;

// Loads a library and finds all its functions; false where one is missing. To be called by `pthread_once` only.
bool eidetic_codec_load(eidetic_codec_library *library, const eidetic_codec_symbol *symbols, unsigned count);
