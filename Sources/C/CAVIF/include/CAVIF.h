// libavif, loaded on first use. This wrapper is in C because the library's functions are called through pointers, its
// structs differ between versions, and pixel loops are slow in Swift's debug builds.
#pragma once
#include <CCodec.h>

typedef struct eidetic_avif eidetic_avif;

// Loads the library, for a process that cannot open files later.
void eidetic_avif_prepare(void);

typedef struct {
    uint32_t width, height;  // after crop, rotation and mirroring
    bool has_alpha, is_premultiplied;
    uint32_t frames, depth;  // bits per channel
    const uint8_t *icc;      // owned by the decoder; NULL without a profile
    size_t icc_count;
    unsigned primaries, transfer;  // code points of ITU-T H.273; 2 if the file has none
    bool has_invalid_grid;   // the reason why the file cannot be opened
} eidetic_avif_info;

// Reads everything but the pixels. The bytes must stay valid until `eidetic_avif_close`. If `is_complete` is false, the
// outcome may be NEEDS_MORE. Returns NULL on failure.
eidetic_avif *eidetic_avif_open(
    const void *bytes, size_t count, bool is_complete, uint32_t maximum_pixels, uint32_t maximum_frames,
    eidetic_avif_info *info, eidetic_codec_outcome *outcome);

void eidetic_avif_close(eidetic_avif *avif);

// Lets the red, green and blue of all frames be the stored brightness, whatever range the file announces.
void eidetic_avif_read_brightness(eidetic_avif *avif);

// Limits what is coded as one frame or tile to four times this number of pixels, which is at first that of the image.
void eidetic_avif_limit_frames(eidetic_avif *avif, uint64_t pixels);

// Decodes the next frame to four bytes per pixel: red, green, blue, alpha.
// With `is_deep` channels have 16 bits, not multiplied by alpha.
bool eidetic_avif_next(
    eidetic_avif *avif, bool is_deep, uint8_t *pixels, size_t bytes_per_row, eidetic_codec_outcome *outcome);

// Decodes the frame with this index, from the last frame before it that stands alone unless it follows the one that was
// decoded before.
bool eidetic_avif_frame_at(
    eidetic_avif *avif, uint32_t index, uint8_t *pixels, size_t bytes_per_row, eidetic_codec_outcome *outcome);

// Returns the number of frames that can be decoded from the bytes; `first` of them are known to be.
uint32_t eidetic_avif_available_frames(const eidetic_avif *avif, uint32_t first);

typedef struct eidetic_avif_encoder eidetic_avif_encoder;

// Bytes that a file carries unchanged; none if `count` is 0.
typedef struct {
    const uint8_t *bytes;
    size_t count;
} eidetic_avif_block;

typedef struct {
    int quantizer;           // 0, best, to 63
    bool has_full_chroma;    // 4:4:4 instead of 4:2:0
    bool is_lossless;
    int loop_count;          // 0 for an endless animation; libavif before 1.0 does not store it
    eidetic_avif_block exif, xmp, icc;
} eidetic_avif_form;

// Four bytes per pixel, straight alpha: red, green, blue, alpha.
typedef struct {
    const uint8_t *pixels;
    size_t bytes_per_row;
    uint32_t width, height;
    bool has_alpha;
} eidetic_avif_frame;

// Creates an encoder; the blocks of the form must outlive it. Returns NULL on failure.
eidetic_avif_encoder *eidetic_avif_encoder_create(eidetic_avif_form form, eidetic_codec_outcome *outcome);
void eidetic_avif_encoder_destroy(eidetic_avif_encoder *encoder);

// Encodes a frame; a duration of 0 is that of a still image, and ends the file.
bool eidetic_avif_encoder_add(
    eidetic_avif_encoder *encoder, eidetic_avif_frame frame, uint64_t milliseconds, eidetic_codec_outcome *outcome);

// Returns the file, which the encoder owns; NULL on failure.
const uint8_t *eidetic_avif_encoder_finish(
    eidetic_avif_encoder *encoder, size_t *count, eidetic_codec_outcome *outcome);

// Returns the version of the library, which is loaded first; NULL if it cannot be loaded.
const char *eidetic_avif_version(void);
