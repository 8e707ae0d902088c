#include "CJXL.h"

#ifdef TRAIT_JPEGXL
#include <jxl/decode.h>
#include <jxl/version.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(X) \
    X(JxlDecoderCreate) \
    X(JxlDecoderDestroy) \
    X(JxlDecoderSubscribeEvents) \
    X(JxlDecoderSetInput) \
    X(JxlDecoderReleaseInput) \
    X(JxlDecoderSkipFrames) \
    X(JxlDecoderProcessInput) \
    X(JxlDecoderGetBasicInfo) \
    X(JxlDecoderGetColorAsEncodedProfile) \
    X(JxlDecoderSetPreferredColorProfile) \
    X(JxlDecoderGetICCProfileSize) \
    X(JxlDecoderGetColorAsICCProfile) \
    X(JxlDecoderGetFrameHeader) \
    X(JxlDecoderImageOutBufferSize) \
    X(JxlDecoderSetImageOutBuffer) \
    X(JxlDecoderFlushImage) \
    X(JxlDecoderSetDecompressBoxes) \
    X(JxlDecoderGetBoxType) \
    X(JxlDecoderSetBoxBuffer) \
    X(JxlDecoderReleaseBoxBuffer) \
    X(JxlDecoderCloseInput) \
    X(JxlDecoderVersion)

// Every minor version is incompatible with the one before, so the library's file name contains it.
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define LIBRARY_NAME "libjxl.so." TEXT(JPEGXL_MAJOR_VERSION) "." TEXT(JPEGXL_MINOR_VERSION)

// From 0.9 on the profile functions have one parameter less.
#if JPEGXL_NUMERIC_VERSION < JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
#define UNUSED_FORMAT NULL,
#else
#define UNUSED_FORMAT
#endif

EIDETIC_CODEC_LIBRARY(LIBRARY_NAME, FUNCTIONS)

unsigned eidetic_jxl_version(void) {
    eidetic_jxl_prepare();
    return library.is_loaded ? lib.JxlDecoderVersion() : 0;
}

void eidetic_jxl_prepare(void) {
    pthread_once(&library.once, load);
}

// Channels for alpha, depth, inks and so on.
enum { MAXIMUM_EXTRA_CHANNELS = 16 };

struct eidetic_jxl {
    JxlDecoder *decoder;
    JxlBasicInfo info;
    size_t count, position;          // of the bytes, and of those that the decoder has read when it has no input
    bool is_complete, has_input;
    bool has_frame, has_buffer;      // in `eidetic_jxl_continue`
};

static const JxlPixelFormat format = {4, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
static const JxlPixelFormat deep_format = {4, JXL_TYPE_UINT16, JXL_NATIVE_ENDIAN, 0};

// The library converts some images to linear light by default. Eight bits of linear light are too coarse for dark
// colours, so this function requests sRGB instead.
static void request_srgb(const eidetic_jxl *jxl) {
    if (jxl->info.uses_original_profile) return;
    JxlColorEncoding color;
    bool is_named = lib.JxlDecoderGetColorAsEncodedProfile(
                        jxl->decoder, UNUSED_FORMAT JXL_COLOR_PROFILE_TARGET_ORIGINAL, &color) == JXL_DEC_SUCCESS;
    if (is_named && color.transfer_function != JXL_TRANSFER_FUNCTION_LINEAR) return;
    memset(&color, 0, sizeof color);
    color.color_space = jxl->info.num_color_channels == 1 ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB;
    color.white_point = JXL_WHITE_POINT_D65;
    color.primaries = JXL_PRIMARIES_SRGB;
    color.transfer_function = JXL_TRANSFER_FUNCTION_SRGB;
    color.rendering_intent = JXL_RENDERING_INTENT_RELATIVE;
    lib.JxlDecoderSetPreferredColorProfile(jxl->decoder, &color);
}

// Runs the decoder until it reports the event `target`.
static bool run(eidetic_jxl *jxl, JxlDecoderStatus target, eidetic_codec_outcome *outcome) {
    for (;;) {
        JxlDecoderStatus status = lib.JxlDecoderProcessInput(jxl->decoder);
        if (status == target) return true;
        switch (status) {
        case JXL_DEC_SUCCESS: return false;
        case JXL_DEC_COLOR_ENCODING: request_srgb(jxl); continue;
        case JXL_DEC_BASIC_INFO:
        case JXL_DEC_FRAME:
        case JXL_DEC_FULL_IMAGE: continue;
        case JXL_DEC_NEED_MORE_INPUT:
            return jxl->is_complete
                ? eidetic_codec_fail(outcome, EIDETIC_CODEC_TRUNCATED, "the file is truncated")
                : eidetic_codec_fail(outcome, EIDETIC_CODEC_NEEDS_MORE, "the header is incomplete");
        default: return eidetic_codec_fail(outcome, EIDETIC_CODEC_CORRUPT, "the file is corrupt");
        }
    }
}

static bool read_info(eidetic_jxl *jxl, eidetic_jxl_info *info, eidetic_codec_outcome *outcome) {
    if (!run(jxl, JXL_DEC_BASIC_INFO, outcome) ||
        lib.JxlDecoderGetBasicInfo(jxl->decoder, &jxl->info) != JXL_DEC_SUCCESS) {
        return eidetic_codec_fail(outcome, EIDETIC_CODEC_CORRUPT, "the image header cannot be read");
    }
    // The library allocates a plane for each channel, visible or not.
    if (jxl->info.num_extra_channels > MAXIMUM_EXTRA_CHANNELS) {
        return eidetic_codec_fail(
            outcome, EIDETIC_CODEC_LIMIT, "the image has %u extra channels; the limit is %d",
            jxl->info.num_extra_channels, MAXIMUM_EXTRA_CHANNELS);
    }
    info->width = jxl->info.xsize;
    info->height = jxl->info.ysize;
    info->depth = jxl->info.bits_per_sample;
    info->has_alpha = jxl->info.alpha_bits > 0;
    info->is_premultiplied = info->has_alpha && jxl->info.alpha_premultiplied;
    info->is_animated = jxl->info.have_animation;
    info->loop_count = jxl->info.have_animation ? jxl->info.animation.num_loops : 1;
    return true;
}

eidetic_jxl *eidetic_jxl_open(
    const void *bytes, size_t count, bool is_complete, bool decodes_pixels, eidetic_jxl_info *info,
    eidetic_codec_outcome *outcome) {
    memset(info, 0, sizeof *info);
    if (!eidetic_codec_ensure_loaded(&library, load, outcome)) return NULL;
    eidetic_jxl *jxl = calloc(1, sizeof *jxl);
    if (jxl) jxl->decoder = lib.JxlDecoderCreate(NULL);
    if (!jxl || !jxl->decoder) {
        eidetic_codec_fail(outcome, EIDETIC_CODEC_NO_MEMORY, "not enough memory for a decoder");
        eidetic_jxl_close(jxl);
        return NULL;
    }
    int events = JXL_DEC_BASIC_INFO | JXL_DEC_FRAME;
    if (decodes_pixels) events |= JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE;
    lib.JxlDecoderSubscribeEvents(jxl->decoder, events);
    eidetic_jxl_extend(jxl, bytes, count, is_complete);
    if (read_info(jxl, info, outcome)) return jxl;
    eidetic_jxl_close(jxl);
    return NULL;
}

void eidetic_jxl_extend(eidetic_jxl *jxl, const void *bytes, size_t count, bool is_complete) {
    eidetic_jxl_pause(jxl);
    jxl->count = count, jxl->is_complete = is_complete;
    // The input is never closed. With a closed input the library reports a truncated file as corrupt, also on stderr.
    lib.JxlDecoderSetInput(jxl->decoder, (const uint8_t *)bytes + jxl->position, count - jxl->position);
    jxl->has_input = true;
}

size_t eidetic_jxl_pause(eidetic_jxl *jxl) {
    if (jxl->has_input) jxl->position = jxl->count - lib.JxlDecoderReleaseInput(jxl->decoder);
    jxl->has_input = false;
    return jxl->position;
}

void eidetic_jxl_skip(eidetic_jxl *jxl, size_t count) {
    if (count > 0) lib.JxlDecoderSkipFrames(jxl->decoder, count);
}

void eidetic_jxl_close(eidetic_jxl *jxl) {
    if (!jxl) return;
    if (jxl->decoder) lib.JxlDecoderDestroy(jxl->decoder);
    free(jxl);
}

bool eidetic_jxl_next(eidetic_jxl *jxl, double *duration, eidetic_codec_outcome *outcome) {
    if (!run(jxl, JXL_DEC_FRAME, outcome)) return false;
    JxlFrameHeader header;
    if (lib.JxlDecoderGetFrameHeader(jxl->decoder, &header) != JXL_DEC_SUCCESS) {
        return eidetic_codec_fail(outcome, EIDETIC_CODEC_CORRUPT, "a frame header cannot be read");
    }
    const JxlAnimationHeader *animation = &jxl->info.animation;
    bool is_timed = jxl->info.have_animation && animation->tps_numerator > 0;
    *duration = is_timed ? (double)header.duration * animation->tps_denominator / animation->tps_numerator : 0;
    return true;
}

static bool fail_pixels(eidetic_codec_outcome *outcome) {
    return eidetic_codec_fail(outcome, EIDETIC_CODEC_CORRUPT, "the pixels of a frame cannot be read");
}

static bool set_buffer(
    eidetic_jxl *jxl, bool is_deep, uint8_t *pixels, size_t count, eidetic_codec_outcome *outcome) {
    const JxlPixelFormat *target = is_deep ? &deep_format : &format;
    size_t required = 0;
    return run(jxl, JXL_DEC_NEED_IMAGE_OUT_BUFFER, outcome) &&
        ((lib.JxlDecoderImageOutBufferSize(jxl->decoder, target, &required) == JXL_DEC_SUCCESS && required <= count &&
             lib.JxlDecoderSetImageOutBuffer(jxl->decoder, target, pixels, count) == JXL_DEC_SUCCESS) ||
            fail_pixels(outcome));
}

// Decodes the pixels; if the bytes end before them, as the status `ended` says, keeps those that are there.
static bool read_pixels(
    eidetic_jxl *jxl, eidetic_codec_status ended, bool *has_pixels, eidetic_codec_outcome *outcome) {
    *has_pixels = run(jxl, JXL_DEC_FULL_IMAGE, outcome);
    if (*has_pixels) return true;
    if (outcome->status == ended) *has_pixels = lib.JxlDecoderFlushImage(jxl->decoder) == JXL_DEC_SUCCESS;
    return fail_pixels(outcome);
}

bool eidetic_jxl_read(
    eidetic_jxl *jxl, bool is_deep, uint8_t *pixels, size_t count, bool *has_pixels, eidetic_codec_outcome *outcome) {
    *has_pixels = false;
    if (!set_buffer(jxl, is_deep, pixels, count, outcome)) return fail_pixels(outcome);
    return read_pixels(jxl, EIDETIC_CODEC_TRUNCATED, has_pixels, outcome);
}

bool eidetic_jxl_continue(
    eidetic_jxl *jxl, uint8_t *pixels, size_t count, bool *has_pixels, eidetic_codec_outcome *outcome) {
    *has_pixels = false;
    if (!jxl->has_frame && !run(jxl, JXL_DEC_FRAME, outcome)) return false;
    jxl->has_frame = true;
    if (!jxl->has_buffer && !set_buffer(jxl, false, pixels, count, outcome)) return false;
    jxl->has_buffer = true;
    return read_pixels(jxl, EIDETIC_CODEC_NEEDS_MORE, has_pixels, outcome);
}

static bool is_srgb(eidetic_jxl *jxl) {
    JxlColorEncoding color;
    return lib.JxlDecoderGetColorAsEncodedProfile(
               jxl->decoder, UNUSED_FORMAT JXL_COLOR_PROFILE_TARGET_DATA, &color) == JXL_DEC_SUCCESS &&
        color.transfer_function == JXL_TRANSFER_FUNCTION_SRGB && color.white_point == JXL_WHITE_POINT_D65 &&
        (color.color_space == JXL_COLOR_SPACE_GRAY ||
            (color.color_space == JXL_COLOR_SPACE_RGB && color.primaries == JXL_PRIMARIES_SRGB));
}

bool eidetic_jxl_high_dynamic_range(eidetic_jxl *jxl, unsigned *primaries, unsigned *transfer) {
    JxlColorEncoding color;
    if (lib.JxlDecoderGetColorAsEncodedProfile(
            jxl->decoder, UNUSED_FORMAT JXL_COLOR_PROFILE_TARGET_DATA, &color) != JXL_DEC_SUCCESS ||
        color.white_point != JXL_WHITE_POINT_D65 ||
        (color.transfer_function != JXL_TRANSFER_FUNCTION_PQ && color.transfer_function != JXL_TRANSFER_FUNCTION_HLG)) {
        return false;
    }
    // The library's numbers are those of the standard, but that of P3 stands for another white there.
    *primaries = color.primaries == JXL_PRIMARIES_P3 ? 12 : (unsigned)color.primaries;
    if (color.color_space == JXL_COLOR_SPACE_GRAY) *primaries = JXL_PRIMARIES_SRGB;
    *transfer = (unsigned)color.transfer_function;
    return true;
}

size_t eidetic_jxl_icc(eidetic_jxl *jxl, uint8_t *profile, size_t count) {
    size_t size = 0;
    if (is_srgb(jxl) || lib.JxlDecoderGetICCProfileSize(
                            jxl->decoder, UNUSED_FORMAT JXL_COLOR_PROFILE_TARGET_DATA, &size) != JXL_DEC_SUCCESS) {
        return 0;
    }
    if (!profile) return size;
    bool is_copied = size <= count &&
        lib.JxlDecoderGetColorAsICCProfile(
            jxl->decoder, UNUSED_FORMAT JXL_COLOR_PROFILE_TARGET_DATA, profile, size) == JXL_DEC_SUCCESS;
    return is_copied ? size : 0;
}

size_t eidetic_jxl_box(const void *bytes, size_t count, const char *type, uint8_t *target, size_t capacity) {
    eidetic_jxl_prepare();
    JxlDecoder *decoder = library.is_loaded ? lib.JxlDecoderCreate(NULL) : NULL;
    if (!decoder) return 0;
    size_t size = 0;
    bool is_found = false;
    if (lib.JxlDecoderSubscribeEvents(decoder, JXL_DEC_BOX) == JXL_DEC_SUCCESS &&
        lib.JxlDecoderSetDecompressBoxes(decoder, JXL_TRUE) == JXL_DEC_SUCCESS &&
        lib.JxlDecoderSetInput(decoder, bytes, count) == JXL_DEC_SUCCESS) {
        lib.JxlDecoderCloseInput(decoder);
        JxlDecoderStatus status;
        while ((status = lib.JxlDecoderProcessInput(decoder)) == JXL_DEC_BOX && !is_found) {
            JxlBoxType name;
            if (lib.JxlDecoderGetBoxType(decoder, name, JXL_TRUE) != JXL_DEC_SUCCESS) break;
            is_found = memcmp(name, type, sizeof name) == 0 &&
                lib.JxlDecoderSetBoxBuffer(decoder, target, capacity) == JXL_DEC_SUCCESS;
        }
        // The next box, or the end, follows a whole one.
        if (is_found && (status == JXL_DEC_BOX || status == JXL_DEC_SUCCESS)) {
            size = capacity - lib.JxlDecoderReleaseBoxBuffer(decoder);
        }
    }
    lib.JxlDecoderDestroy(decoder);
    return size;
}
#endif
