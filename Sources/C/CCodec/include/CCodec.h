// The result type, cancellation and loading that all wrappers of decoding libraries share. Each wrapper's own header
// states why it is written in C.
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "CCodecLibrary.h"

typedef enum {
    EIDETIC_CODEC_OK,
    EIDETIC_CODEC_NEEDS_MORE,    // the bytes so far do not contain the requested part
    EIDETIC_CODEC_TRUNCATED,
    EIDETIC_CODEC_CORRUPT,
    EIDETIC_CODEC_LIMIT,
    EIDETIC_CODEC_UNSUPPORTED,
    EIDETIC_CODEC_NO_MEMORY,
    EIDETIC_CODEC_CANCELLED,     // the caller's `should_continue` returned false
} eidetic_codec_status;

// The outcome of a call. `message` is one line without a full stop; it describes the first failure.
typedef struct {
    eidetic_codec_status status;
    char message[200];
} eidetic_codec_outcome;

// A cancellation check that decoders call every few milliseconds; `context` is passed through.
typedef struct {
    bool (*should_continue)(void *context);
    void *context;
} eidetic_codec_cancellation;

// Returns false, and sets the status, if the caller has cancelled the decoding.
static inline bool eidetic_codec_should_continue(
    const eidetic_codec_cancellation *cancellation, eidetic_codec_outcome *outcome) {
    if (!cancellation->should_continue || cancellation->should_continue(cancellation->context)) return true;
    outcome->status = EIDETIC_CODEC_CANCELLED;
    return false;
}

// Records a failure, unless one is recorded already. Always returns false.
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

// Loads a library with `load` on first use. Returns false, with the reason in `outcome`, if it cannot be loaded.
static inline bool eidetic_codec_ensure_loaded(
    eidetic_codec_library *library, void (*load)(void), eidetic_codec_outcome *outcome) {
    pthread_once(&library->once, load);
    return library->is_loaded || eidetic_codec_fail(outcome, EIDETIC_CODEC_UNSUPPORTED, "%s", library->message);
}

// This header is the module's umbrella. Clean builds fail if it leaves out a header of the target.
#include "CCodecLibrary.h"
