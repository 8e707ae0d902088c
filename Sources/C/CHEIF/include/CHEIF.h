// libheif, loaded on first use. In C because its functions are called through pointers.
#pragma once
#include <CCodec.h>

typedef struct eidetic_heif eidetic_heif;

typedef struct {
    uint32_t width, height;  // after crop, rotation and mirroring
    bool has_alpha, is_premultiplied;
    size_t icc_count;        // 0 without a profile
} eidetic_heif_info;

// Reads everything but pixels of the primary picture. The bytes must stay until `eidetic_heif_close`. NULL on failure.
eidetic_heif *eidetic_heif_open(
    const void *bytes, size_t count, eidetic_heif_info *info, eidetic_codec_outcome *outcome);

void eidetic_heif_close(eidetic_heif *heif);

// Copies the profile, which has `icc_count` bytes.
bool eidetic_heif_icc(eidetic_heif *heif, uint8_t *profile);

// Decodes the primary picture to four bytes a pixel: red, green, blue, alpha. `longest_side` bounds what the library
// allocates.
bool eidetic_heif_read(
    eidetic_heif *heif, uint32_t longest_side, uint8_t *pixels, size_t bytes_per_row, eidetic_codec_outcome *outcome);
