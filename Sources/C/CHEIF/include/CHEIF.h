// libheif, loaded on first use. This wrapper is in C because the library's functions are called through pointers.
#pragma once
#include <CCodec.h>

typedef struct eidetic_heif eidetic_heif;

typedef struct {
    uint32_t width, height;  // after crop, rotation and mirroring
    bool has_alpha, is_premultiplied;
    size_t icc_count;        // 0 without a profile
} eidetic_heif_info;

// Reads everything but the pixels of the primary image. The bytes must stay valid until `eidetic_heif_close`. Returns
// NULL on failure.
eidetic_heif *eidetic_heif_open(
    const void *bytes, size_t count, eidetic_heif_info *info, eidetic_codec_outcome *outcome);

void eidetic_heif_close(eidetic_heif *heif);

// Copies the colour profile, which has `icc_count` bytes.
bool eidetic_heif_icc(eidetic_heif *heif, uint8_t *profile);

// Decodes the primary image to four bytes per pixel: red, green, blue, alpha. `maximum_side` is the largest width and
// height that the library allocates.
bool eidetic_heif_read(
    eidetic_heif *heif, uint32_t maximum_side, uint8_t *pixels, size_t bytes_per_row, eidetic_codec_outcome *outcome);
