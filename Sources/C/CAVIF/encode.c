#include "CAVIF.h"

#ifdef TRAIT_AVIF
#include <stdlib.h>
#include <string.h>

#include "Library.h"

#define FUNCTIONS(X) \
    X(avifEncoderCreate) \
    X(avifEncoderDestroy) \
    X(avifEncoderAddImage) \
    X(avifEncoderFinish) \
    X(avifRWDataFree) \
    X(avifImageCreate) \
    X(avifImageDestroy) \
    X(avifImageRGBToYUV) \
    X(avifImageSetMetadataExif) \
    X(avifImageSetMetadataXMP) \
    X(avifImageSetProfileICC) \
    X(avifRGBImageSetDefaults) \
    X(avifResultToString)

EIDETIC_CODEC_LIBRARY(LIBRARY_NAME, FUNCTIONS)

struct eidetic_avif_encoder {
    avifEncoder *library;
    eidetic_avif_form form;
    avifRWData file;
};

static bool fail(eidetic_avif_encoder *encoder, avifResult result, eidetic_codec_outcome *outcome) {
    eidetic_codec_status status = EIDETIC_CODEC_CORRUPT;
    if (result == AVIF_RESULT_OUT_OF_MEMORY) status = EIDETIC_CODEC_NO_MEMORY;
    if (result == AVIF_RESULT_NO_CODEC_AVAILABLE) {
        return eidetic_codec_fail(outcome, EIDETIC_CODEC_UNSUPPORTED, "libavif has no encoder of AV1; install libaom3");
    }
    const char *detail = encoder->library->diag.error;
    return eidetic_codec_fail(
        outcome, status, "%s%s%s", lib.avifResultToString(result), detail[0] ? ": " : "", detail);
}

eidetic_avif_encoder *eidetic_avif_encoder_create(eidetic_avif_form form, eidetic_codec_outcome *outcome) {
    if (!eidetic_codec_ensure_loaded(&library, load, outcome)) return NULL;
    eidetic_avif_encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder) encoder->library = lib.avifEncoderCreate();
    if (!encoder || !encoder->library) {
        eidetic_codec_fail(outcome, EIDETIC_CODEC_NO_MEMORY, "not enough memory for an encoder");
        free(encoder);
        return NULL;
    }
    encoder->form = form;
    avifEncoder *settings = encoder->library;
    settings->speed = 6;
    settings->timescale = 1000;
    settings->minQuantizer = settings->maxQuantizer = form.quantizer;
    settings->minQuantizerAlpha = settings->maxQuantizerAlpha = form.quantizer;
#if AVIF_VERSION >= 1000000
    settings->repetitionCount = form.loop_count ? form.loop_count - 1 : AVIF_REPETITION_COUNT_INFINITE;
#endif
    return encoder;
}

void eidetic_avif_encoder_destroy(eidetic_avif_encoder *encoder) {
    if (!encoder) return;
    lib.avifRWDataFree(&encoder->file);
    lib.avifEncoderDestroy(encoder->library);
    free(encoder);
}

// Colours are in sRGB, as in a JPEG: full range, and the matrix of BT.601; without one if nothing may be lost.
static void describe(avifImage *image, const eidetic_avif_form *form) {
    image->colorPrimaries = AVIF_COLOR_PRIMARIES_BT709;
    image->transferCharacteristics = AVIF_TRANSFER_CHARACTERISTICS_SRGB;
    image->matrixCoefficients =
        form->is_lossless ? AVIF_MATRIX_COEFFICIENTS_IDENTITY : AVIF_MATRIX_COEFFICIENTS_BT601;
    image->yuvRange = AVIF_RANGE_FULL;
    if (form->exif.count) (void)lib.avifImageSetMetadataExif(image, form->exif.bytes, form->exif.count);
    if (form->xmp.count) (void)lib.avifImageSetMetadataXMP(image, form->xmp.bytes, form->xmp.count);
    if (form->icc.count) (void)lib.avifImageSetProfileICC(image, form->icc.bytes, form->icc.count);
}

static avifResult convert(avifImage *image, const eidetic_avif_frame *frame) {
    avifRGBImage rgb;
    memset(&rgb, 0, sizeof rgb);
    lib.avifRGBImageSetDefaults(&rgb, image);
    rgb.format = AVIF_RGB_FORMAT_RGBA;
    rgb.depth = 8;
    rgb.ignoreAlpha = !frame->has_alpha;
    rgb.pixels = (uint8_t *)(uintptr_t)frame->pixels;
    rgb.rowBytes = (uint32_t)frame->bytes_per_row;
    return lib.avifImageRGBToYUV(image, &rgb);
}

bool eidetic_avif_encoder_add(
    eidetic_avif_encoder *encoder, eidetic_avif_frame frame, uint64_t milliseconds, eidetic_codec_outcome *outcome) {
    bool is_full = encoder->form.has_full_chroma || encoder->form.is_lossless;
    avifImage *image = lib.avifImageCreate(
        frame.width, frame.height, 8, is_full ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420);
    if (!image) return fail(encoder, AVIF_RESULT_OUT_OF_MEMORY, outcome);
    describe(image, &encoder->form);
    avifResult result = convert(image, &frame);
    if (result == AVIF_RESULT_OK) {
        result = lib.avifEncoderAddImage(
            encoder->library, image, milliseconds ? milliseconds : 1,
            milliseconds ? AVIF_ADD_IMAGE_FLAG_NONE : AVIF_ADD_IMAGE_FLAG_SINGLE);
    }
    lib.avifImageDestroy(image);
    return result == AVIF_RESULT_OK || fail(encoder, result, outcome);
}

const uint8_t *eidetic_avif_encoder_finish(
    eidetic_avif_encoder *encoder, size_t *count, eidetic_codec_outcome *outcome) {
    avifResult result = lib.avifEncoderFinish(encoder->library, &encoder->file);
    if (result != AVIF_RESULT_OK) {
        fail(encoder, result, outcome);
        return NULL;
    }
    *count = encoder->file.size;
    return encoder->file.data;
}
#endif
