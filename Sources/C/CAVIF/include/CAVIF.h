// libavif, loaded on first use. In C because its functions are called through pointers, its structs differ between
// versions, and the pixel loops would be slow in Swift's debug builds.
#pragma once
#include <CCodec.h>

typedef struct eidetic_avif eidetic_avif;

typedef struct {
    uint32_t width, height;  // after crop, rotation and mirroring
    bool has_alpha, is_premultiplied;
    uint32_t frames;
    int plays;               // 0 for ever
    const uint8_t *icc;      // belongs to the picture; NULL without a profile
    size_t icc_count;
} eidetic_avif_info;

// Reads everything but pixels. The bytes must stay until `eidetic_avif_close`. With `is_complete` false the outcome may
// be NEEDS_MORE. NULL on failure.
eidetic_avif *eidetic_avif_open(
    const void *bytes, size_t count, bool is_complete, uint32_t most_pixels, uint32_t most_frames,
    eidetic_avif_info *info, eidetic_codec_outcome *outcome);

void eidetic_avif_close(eidetic_avif *avif);

// Decodes the next frame to four bytes a pixel: red, green, blue, alpha.
bool eidetic_avif_next(eidetic_avif *avif, uint8_t *pixels, size_t bytes_per_row, eidetic_codec_outcome *outcome);
