// libheif, loaded on first use. This wrapper is in C because the library's functions are called through pointers.
#pragma once
#include <CCodec.h>

typedef struct eidetic_heif eidetic_heif;

// Loads the library, for a process that cannot open files later.
void eidetic_heif_prepare(void);

typedef struct {
    uint32_t width, height;  // after crop, rotation and mirroring
    bool has_alpha, is_premultiplied;
    unsigned depth;          // bits per channel
    size_t icc_count;        // 0 without a profile
    unsigned primaries, transfer;  // code points of ITU-T H.273; 0 if the container has none
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
// With `is_deep` channels have 16 bits.
bool eidetic_heif_read(
    eidetic_heif *heif, uint32_t maximum_side, bool is_deep, uint8_t *pixels, size_t bytes_per_row,
    eidetic_codec_outcome *outcome);

typedef struct {
    int quality;             // 0 to 100
    bool has_full_chroma;    // 4:4:4 instead of 4:2:0
    const uint8_t *exif, *xmp, *icc;
    size_t exif_count, xmp_count, icc_count;
} eidetic_heif_form;

// Four bytes per pixel, straight alpha: red, green, blue, alpha.
typedef struct {
    const uint8_t *pixels;
    size_t bytes_per_row;
    uint32_t width, height;
    bool has_alpha;
} eidetic_heif_frame;

// Encodes an image as HEIC to memory that the caller frees with `free`. The status is UNSUPPORTED if the library has no
// encoder of HEVC.
bool eidetic_heif_encode(
    eidetic_heif_frame frame, const eidetic_heif_form *form, uint8_t **encoded, size_t *count,
    eidetic_codec_outcome *outcome);

// Returns the version of the library, which is loaded first; NULL if it cannot be loaded.
const char *eidetic_heif_version(void);
