// The bytes of a file that a library has not read.
#pragma once
#include <string.h>

#include <gif_lib.h>

struct source {
    const unsigned char *next, *end;
};

static inline int read_gif(GifFileType *file, GifByteType *target, int count) {
    struct source *source = file->UserData;
    if (count > source->end - source->next) count = (int)(source->end - source->next);
    memcpy(target, source->next, (size_t)count);
    source->next += count;
    return count;
}
