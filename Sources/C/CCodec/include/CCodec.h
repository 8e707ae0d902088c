// What all wrappers of decoding libraries answer: whether it worked, and what was wrong, in words. They are in C for the
// reasons that their own headers give; this is the part that would otherwise be in each of them.
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "CCodecLibrary.h"

typedef enum {
    EIDETIC_CODEC_OK,
    EIDETIC_CODEC_NEEDS_MORE,    // the bytes end within what was asked for
    EIDETIC_CODEC_TRUNCATED,
    EIDETIC_CODEC_CORRUPT,
    EIDETIC_CODEC_LIMIT,
    EIDETIC_CODEC_UNSUPPORTED,
    EIDETIC_CODEC_NO_MEMORY,
    EIDETIC_CODEC_STOPPED,       // the caller's `goes_on` said so
} eidetic_codec_status;

// The outcome of a call. `message` is one line without a full stop; the first failure stays.
typedef struct {
    eidetic_codec_status status;
    char message[200];
} eidetic_codec_outcome;

// Asked every few milliseconds whether the picture is still wanted; `context` is the caller's.
typedef struct {
    bool (*goes_on)(void *context);
    void *context;
} eidetic_codec_watch;

static inline bool eidetic_codec_goes_on(const eidetic_codec_watch *watch, eidetic_codec_outcome *outcome) {
    if (!watch->goes_on || watch->goes_on(watch->context)) return true;
    outcome->status = EIDETIC_CODEC_STOPPED;
    return false;
}

// Notes a failure, unless there was one before. Always false.
__attribute__((format(printf, 3, 4)))
static inline bool eidetic_codec_fail(
    eidetic_codec_outcome *outcome, eidetic_codec_status status, const char *format, ...) {
    if (outcome->status != EIDETIC_CODEC_OK) return false;
    outcome->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(outcome->message, sizeof outcome->message, format, arguments);
    va_end(arguments);
    return false;
}

// Loads a library by `load` when it is first needed; false, with the reason in `outcome`, where it is not there.
static inline bool eidetic_codec_is_ready(
    eidetic_codec_library *library, void (*load)(void), eidetic_codec_outcome *outcome) {
    pthread_once(&library->once, load);
    return library->is_loaded || eidetic_codec_fail(outcome, EIDETIC_CODEC_UNSUPPORTED, "%s", library->message);
}

// The module's umbrella: clean builds refuse a header that it leaves out.
#include "CCodecLibrary.h"
