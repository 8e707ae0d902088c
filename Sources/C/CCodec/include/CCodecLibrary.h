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

// Declares `lib`, pointers to some functions of a library, and `library` and `load`, by which they are loaded. The
// functions are a list `F(X)` of `X(name)` that the library's header declares, or of `X(result, name, parameters)`.
#define EIDETIC_CODEC_LIBRARY(file, F) EIDETIC_CODEC_LOAD(file, F(EIDETIC_CODEC_DECLARED), F(EIDETIC_CODEC_NAME))
#define EIDETIC_CODEC_PLAIN_LIBRARY(file, F) EIDETIC_CODEC_LOAD(file, F(EIDETIC_CODEC_TYPED), F(EIDETIC_CODEC_NAME_OF))
#define EIDETIC_CODEC_DECLARED(f) __typeof__(f) *f;
#define EIDETIC_CODEC_TYPED(result, f, parameters) result(*f) parameters;
#define EIDETIC_CODEC_NAME(f) {#f, (void **)&lib.f},
#define EIDETIC_CODEC_NAME_OF(result, f, parameters) {#f, (void **)&lib.f},
#define EIDETIC_CODEC_LOAD(file, pointers, ...)                                       \
    static struct { pointers } lib;                                                   \
    static eidetic_codec_library library = {.name = file, .once = PTHREAD_ONCE_INIT}; \
    static void load(void) {                                                          \
        static const eidetic_codec_symbol symbols[] = {__VA_ARGS__};                  \
        eidetic_codec_load(&library, symbols, sizeof symbols / sizeof *symbols);      \
    }
