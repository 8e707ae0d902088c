// libjxl, loaded on first use. In C because its functions are called through pointers, whose parameters differ between
// versions.
#pragma once
#include <CCodec.h>

typedef struct eidetic_jxl eidetic_jxl;

typedef struct {
    uint32_t width, height;  // upright: the library turns by itself
    bool has_alpha, is_premultiplied, is_animated;
    uint32_t plays;          // 0 for ever
} eidetic_jxl_info;

// Reads the size. The bytes must stay until `eidetic_jxl_close`. With `is_complete` false the outcome may be NEEDS_MORE.
// `wants_pixels` false is for looking at frames without decoding them. NULL on failure.
eidetic_jxl *eidetic_jxl_open(
    const void *bytes, size_t count, bool is_complete, bool wants_pixels, eidetic_jxl_info *info,
    eidetic_codec_outcome *outcome);

void eidetic_jxl_close(eidetic_jxl *jxl);

// Goes to the next frame and tells how long it is shown, in seconds. False after the last one, and on failure.
bool eidetic_jxl_next(eidetic_jxl *jxl, double *duration, eidetic_codec_outcome *outcome);

// Decodes the frame that `eidetic_jxl_next` found, to four bytes a pixel: red, green, blue, alpha. Where it ends too
// early, the outcome is TRUNCATED, and `is_shown` tells whether the pixels are a coarse form of the picture.
bool eidetic_jxl_read(
    eidetic_jxl *jxl, uint8_t *pixels, size_t count, bool *is_shown, eidetic_codec_outcome *outcome);

// The profile of the pixels that `eidetic_jxl_read` gives; known after `eidetic_jxl_next`. Returns its size, and copies it
// where `profile` is given. 0 for sRGB.
size_t eidetic_jxl_icc(eidetic_jxl *jxl, uint8_t *profile, size_t count);
