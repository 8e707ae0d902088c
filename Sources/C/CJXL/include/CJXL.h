// libjxl, loaded on first use. This wrapper is in C because the library's functions are called through pointers and
// their parameters differ between versions.
#pragma once
#include <CCodec.h>

typedef struct eidetic_jxl eidetic_jxl;

// Loads the library, for a process that cannot open files later.
void eidetic_jxl_prepare(void);

typedef struct {
    uint32_t width, height;  // upright: the library applies the orientation
    bool has_alpha, is_premultiplied, is_animated;
    uint32_t loop_count;     // 0 for an endless animation
    uint32_t depth;          // bits per channel
} eidetic_jxl_info;

// Reads the size. The bytes must stay valid until `eidetic_jxl_close`. If `is_complete` is false, the outcome may be
// NEEDS_MORE. If `decodes_pixels` is false, only the headers of frames are read. Returns NULL on failure.
eidetic_jxl *eidetic_jxl_open(
    const void *bytes, size_t count, bool is_complete, bool decodes_pixels, eidetic_jxl_info *info,
    eidetic_codec_outcome *outcome);

void eidetic_jxl_close(eidetic_jxl *jxl);

// Replaces the bytes by those that have arrived: the same ones, at whatever address, and those that follow them. The
// earlier ones need not stay valid.
void eidetic_jxl_extend(eidetic_jxl *jxl, const void *bytes, size_t count, bool is_complete);

// Lets the decoder forget the address of the bytes until the next `eidetic_jxl_extend`; returns the number of bytes
// that it will not read again.
size_t eidetic_jxl_pause(eidetic_jxl *jxl);

// Leaves frames out: the next `eidetic_jxl_next` advances by one more for each.
void eidetic_jxl_skip(eidetic_jxl *jxl, size_t count);

// Advances to the next frame and sets `duration` to its display time, in seconds. Returns false after the last frame
// and on failure.
bool eidetic_jxl_next(eidetic_jxl *jxl, double *duration, eidetic_codec_outcome *outcome);

// Decodes the current frame to four bytes per pixel: red, green, blue, alpha. If the frame is truncated, the outcome is
// TRUNCATED, and `has_pixels` is true if the pixels are a coarse version of the image. With `is_deep`, there are 16
// bits per channel.
bool eidetic_jxl_read(
    eidetic_jxl *jxl, bool is_deep, uint8_t *pixels, size_t count, bool *has_pixels, eidetic_codec_outcome *outcome);

// Continues to decode the first frame with the bytes that have arrived since the call before, whose `pixels` must be
// the same. If bytes are missing, the outcome is NEEDS_MORE, and `has_pixels` is true if the pixels are a coarse
// version of the image.
bool eidetic_jxl_continue(
    eidetic_jxl *jxl, uint8_t *pixels, size_t count, bool *has_pixels, eidetic_codec_outcome *outcome);

// Returns the size of the colour profile of the decoded pixels, 0 for sRGB, and copies the profile unless `profile` is
// NULL. Call it after `eidetic_jxl_next`.
size_t eidetic_jxl_icc(eidetic_jxl *jxl, uint8_t *profile, size_t count);

// Returns true if the decoded pixels have a high dynamic range, and sets its code points of ITU-T H.273. Call it after
// `eidetic_jxl_next`.
bool eidetic_jxl_high_dynamic_range(eidetic_jxl *jxl, unsigned *primaries, unsigned *transfer);

// Copies the content of the first box of a type, which has four characters, to `target`, and decompresses it. Returns
// its size; 0 if there is none, if it is damaged, or if it is larger than `capacity`.
size_t eidetic_jxl_box(const void *bytes, size_t count, const char *type, uint8_t *target, size_t capacity);

// Returns the version of the library, which is loaded first: `major` · 1000000 + `minor` · 1000 + `patch`; 0 if it
// cannot be loaded.
unsigned eidetic_jxl_version(void);
