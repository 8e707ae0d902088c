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
    X(JxlDecoderProcessInput) \
    X(JxlDecoderGetBasicInfo) \
    X(JxlDecoderGetColorAsEncodedProfile) \
    X(JxlDecoderSetPreferredColorProfile) \
    X(JxlDecoderGetICCProfileSize) \
    X(JxlDecoderGetColorAsICCProfile) \
    X(JxlDecoderGetFrameHeader) \
    X(JxlDecoderImageOutBufferSize) \
    X(JxlDecoderSetImageOutBuffer) \
    X(JxlDecoderFlushImage)

#define DECLARE(f) __typeof__(f) *f;
static struct {
    FUNCTIONS(DECLARE)
} lib;

// Every minor version is incompatible with the one before, and says so in the library's name.
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define LIBRARY_NAME "libjxl.so." TEXT(JPEGXL_MAJOR_VERSION) "." TEXT(JPEGXL_MINOR_VERSION)

// Since 0.9 the functions for profiles have one parameter less.
#if JPEGXL_NUMERIC_VERSION < JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
#define UNUSED_FORMAT NULL,
#else
#define UNUSED_FORMAT
#endif

static eidetic_codec_library library = {.name = LIBRARY_NAME, .once = PTHREAD_ONCE_INIT};

static void load(void) {
#define SYMBOL(f) {#f, (void **)&lib.f},
    static const eidetic_codec_symbol symbols[] = {FUNCTIONS(SYMBOL)};
    eidetic_codec_load(&library, symbols, sizeof symbols / sizeof *symbols);
}

// Alpha, depth, inks and the like.
enum { MOST_EXTRA_CHANNELS = 16 };

struct eidetic_jxl {
    JxlDecoder *decoder;
    JxlBasicInfo info;
    bool is_complete;
};

static const JxlPixelFormat format = {4, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};

// Colours that the library converts by itself come in linear light where the file tells no other curve by name, and eight
// bits of that are too coarse for what is dark. So sRGB is asked for.
static void avoid_linear_light(const eidetic_jxl *jxl) {
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

// Runs the decoder to an event.
static bool run(eidetic_jxl *jxl, JxlDecoderStatus wanted, eidetic_codec_outcome *outcome) {
    for (;;) {
        JxlDecoderStatus status = lib.JxlDecoderProcessInput(jxl->decoder);
        if (status == wanted) return true;
        switch (status) {
        case JXL_DEC_SUCCESS: return false;
        case JXL_DEC_COLOR_ENCODING: avoid_linear_light(jxl); continue;
        case JXL_DEC_BASIC_INFO:
        case JXL_DEC_FRAME:
        case JXL_DEC_FULL_IMAGE: continue;
        case JXL_DEC_NEED_MORE_INPUT:
            return jxl->is_complete
                ? eidetic_codec_fail(outcome, EIDETIC_CODEC_TRUNCATED, "the file ends too early")
                : eidetic_codec_fail(outcome, EIDETIC_CODEC_NEEDS_MORE, "more bytes are needed");
        default: return eidetic_codec_fail(outcome, EIDETIC_CODEC_CORRUPT, "the library refuses the file");
        }
    }
}

static bool read_info(eidetic_jxl *jxl, eidetic_jxl_info *info, eidetic_codec_outcome *outcome) {
    if (!run(jxl, JXL_DEC_BASIC_INFO, outcome) ||
        lib.JxlDecoderGetBasicInfo(jxl->decoder, &jxl->info) != JXL_DEC_SUCCESS) {
        return eidetic_codec_fail(outcome, EIDETIC_CODEC_CORRUPT, "there is no picture");
    }
    // Each is a plane of its own in memory, whether it is shown or not.
    if (jxl->info.num_extra_channels > MOST_EXTRA_CHANNELS) {
        return eidetic_codec_fail(
            outcome, EIDETIC_CODEC_LIMIT, "%u channels beside the colours; the limit is %d",
            jxl->info.num_extra_channels, MOST_EXTRA_CHANNELS);
    }
    info->width = jxl->info.xsize;
    info->height = jxl->info.ysize;
    info->has_alpha = jxl->info.alpha_bits > 0;
    info->is_premultiplied = info->has_alpha && jxl->info.alpha_premultiplied;
    info->is_animated = jxl->info.have_animation;
    info->plays = jxl->info.have_animation ? jxl->info.animation.num_loops : 1;
    return true;
}

eidetic_jxl *eidetic_jxl_open(
    const void *bytes, size_t count, bool is_complete, bool wants_pixels, eidetic_jxl_info *info,
    eidetic_codec_outcome *outcome) {
    memset(info, 0, sizeof *info);
    if (!eidetic_codec_is_ready(&library, load, outcome)) return NULL;
    eidetic_jxl *jxl = calloc(1, sizeof *jxl);
    if (jxl) jxl->decoder = lib.JxlDecoderCreate(NULL);
    if (!jxl || !jxl->decoder) {
        eidetic_codec_fail(outcome, EIDETIC_CODEC_NO_MEMORY, "no memory for a decoder");
        eidetic_jxl_close(jxl);
        return NULL;
    }
    jxl->is_complete = is_complete;
    int events = JXL_DEC_BASIC_INFO | JXL_DEC_FRAME | (wants_pixels ? JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE : 0);
    lib.JxlDecoderSubscribeEvents(jxl->decoder, events);
    // The input is never closed: the library would then call a file that ends too early broken, and say so on stderr.
    lib.JxlDecoderSetInput(jxl->decoder, bytes, count);
    if (read_info(jxl, info, outcome)) return jxl;
    eidetic_jxl_close(jxl);
    return NULL;
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
        return eidetic_codec_fail(outcome, EIDETIC_CODEC_CORRUPT, "a frame without a header");
    }
    const JxlAnimationHeader *time = &jxl->info.animation;
    bool is_timed = jxl->info.have_animation && time->tps_numerator > 0;
    *duration = is_timed ? (double)header.duration * time->tps_denominator / time->tps_numerator : 0;
    return true;
}

bool eidetic_jxl_read(
    eidetic_jxl *jxl, uint8_t *pixels, size_t count, bool *is_shown, eidetic_codec_outcome *outcome) {
    size_t needed = 0;
    *is_shown = false;
    if (!run(jxl, JXL_DEC_NEED_IMAGE_OUT_BUFFER, outcome) ||
        lib.JxlDecoderImageOutBufferSize(jxl->decoder, &format, &needed) != JXL_DEC_SUCCESS || needed > count ||
        lib.JxlDecoderSetImageOutBuffer(jxl->decoder, &format, pixels, count) != JXL_DEC_SUCCESS) {
        return eidetic_codec_fail(outcome, EIDETIC_CODEC_CORRUPT, "a frame without pixels");
    }
    *is_shown = run(jxl, JXL_DEC_FULL_IMAGE, outcome);
    if (*is_shown) return true;
    if (outcome->status == EIDETIC_CODEC_TRUNCATED) {
        *is_shown = lib.JxlDecoderFlushImage(jxl->decoder) == JXL_DEC_SUCCESS;
    }
    return eidetic_codec_fail(outcome, EIDETIC_CODEC_CORRUPT, "a frame without pixels");
}

static bool is_srgb(eidetic_jxl *jxl) {
    JxlColorEncoding color;
    return lib.JxlDecoderGetColorAsEncodedProfile(
               jxl->decoder, UNUSED_FORMAT JXL_COLOR_PROFILE_TARGET_DATA, &color) == JXL_DEC_SUCCESS &&
        color.transfer_function == JXL_TRANSFER_FUNCTION_SRGB && color.white_point == JXL_WHITE_POINT_D65 &&
        (color.color_space == JXL_COLOR_SPACE_GRAY ||
            (color.color_space == JXL_COLOR_SPACE_RGB && color.primaries == JXL_PRIMARIES_SRGB));
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
#endif
