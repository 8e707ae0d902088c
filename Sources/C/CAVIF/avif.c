#include "CAVIF.h"

#ifdef TRAIT_AVIF
#include <stdlib.h>
#include <string.h>

#include "Library.h"

#define FUNCTIONS(X) \
    X(avifDecoderCreate) \
    X(avifDecoderDestroy) \
    X(avifDecoderSetIO) \
    X(avifDecoderParse) \
    X(avifDecoderNextImage) \
    X(avifDecoderNthImage) \
    X(avifDecoderNthImageMaxExtent) \
    X(avifResultToString) \
    X(avifRGBImageSetDefaults) \
    X(avifImageYUVToRGB) \
    X(avifCropRectConvertCleanApertureBox) \
    X(avifVersion)

EIDETIC_CODEC_LIBRARY(LIBRARY_NAME, FUNCTIONS)

const char *eidetic_avif_version(void) {
    eidetic_avif_prepare();
    return library.is_loaded ? lib.avifVersion() : NULL;
}

void eidetic_avif_prepare(void) {
    pthread_once(&library.once, load);
}

struct eidetic_avif {
    avifDecoder *decoder;
    bool reads_brightness;
    avifIO io;
    const uint8_t *bytes;
    size_t count;
    bool is_complete;
    avifCropRect crop;       // of the stored image
    unsigned turns;          // by 90 degrees, anti-clockwise
    bool flips, mirrors;     // top to bottom, left to right; after the turns
};

static avifResult io_read(avifIO *io, uint32_t flags, uint64_t offset, size_t size, avifROData *out) {
    (void)flags;
    eidetic_avif *avif = io->data;
    if (offset > avif->count) return avif->is_complete ? AVIF_RESULT_IO_ERROR : AVIF_RESULT_WAITING_ON_IO;
    size_t remaining = avif->count - (size_t)offset;
    if (size > remaining) {
        if (!avif->is_complete) return AVIF_RESULT_WAITING_ON_IO;
        size = remaining;
    }
    out->data = avif->bytes + offset;
    out->size = size;
    return AVIF_RESULT_OK;
}

static bool fail(eidetic_avif *avif, avifResult result, eidetic_codec_outcome *outcome) {
    eidetic_codec_status status = EIDETIC_CODEC_CORRUPT;
    if (result == AVIF_RESULT_WAITING_ON_IO) status = EIDETIC_CODEC_NEEDS_MORE;
    if (result == AVIF_RESULT_TRUNCATED_DATA || result == AVIF_RESULT_IO_ERROR) status = EIDETIC_CODEC_TRUNCATED;
    if (result == AVIF_RESULT_OUT_OF_MEMORY) status = EIDETIC_CODEC_NO_MEMORY;
    if (result == AVIF_RESULT_NOT_IMPLEMENTED || result == AVIF_RESULT_NO_CODEC_AVAILABLE ||
        result == AVIF_RESULT_UNSUPPORTED_DEPTH || result == AVIF_RESULT_REFORMAT_FAILED) {
        status = EIDETIC_CODEC_UNSUPPORTED;
    }
    const char *detail = avif->decoder->diag.error;
    // The library has no result code for limits.
    if (strstr(detail, "imageCountLimit") || strstr(detail, "imageSizeLimit")) status = EIDETIC_CODEC_LIMIT;
    return eidetic_codec_fail(
        outcome, status, "%s%s%s", lib.avifResultToString(result), detail[0] ? ": " : "", detail);
}

// Crop first, then rotation, then mirroring (ISO/IEC 23000-22, 7.3.6.7).
static void find_transforms(eidetic_avif *avif) {
    const avifImage *image = avif->decoder->image;
    avifDiagnostics ignored;
    memset(&ignored, 0, sizeof ignored);
    avifCropRect whole_image = {0, 0, image->width, image->height};
    avif->crop = whole_image;
    if (image->transformFlags & AVIF_TRANSFORM_CLAP) {
        avifCropRect crop;
        if (lib.avifCropRectConvertCleanApertureBox(
                &crop, &image->clap, image->width, image->height, image->yuvFormat, &ignored)) {
            avif->crop = crop;
        }
    }
    if (image->transformFlags & AVIF_TRANSFORM_IROT) avif->turns = image->irot.angle & 3;
    if (image->transformFlags & AVIF_TRANSFORM_IMIR) {
        avif->flips = MIRROR(image) == 0;
        avif->mirrors = MIRROR(image) != 0;
    }
}

static void describe(eidetic_avif *avif, eidetic_avif_info *info) {
    const avifDecoder *decoder = avif->decoder;
    find_transforms(avif);
    bool swaps = avif->turns & 1;
    info->width = swaps ? avif->crop.height : avif->crop.width;
    info->height = swaps ? avif->crop.width : avif->crop.height;
    info->has_alpha = decoder->alphaPresent;
    info->is_premultiplied = decoder->alphaPresent && decoder->image->alphaPremultiplied;
    info->frames = decoder->imageCount > 1 ? (uint32_t)decoder->imageCount : 1;
    info->depth = decoder->image->depth;
    info->icc = decoder->image->icc.size ? decoder->image->icc.data : NULL;
    info->icc_count = decoder->image->icc.size;
    info->primaries = decoder->image->colorPrimaries;
    info->transfer = decoder->image->transferCharacteristics;
}

static void configure(eidetic_avif *avif, uint32_t maximum_pixels, uint32_t maximum_frames) {
    avifDecoder *decoder = avif->decoder;
    decoder->ignoreExif = decoder->ignoreXMP = AVIF_TRUE;
    decoder->strictFlags = AVIF_STRICT_DISABLED;
    decoder->imageSizeLimit =
        maximum_pixels < AVIF_DEFAULT_IMAGE_SIZE_LIMIT ? maximum_pixels : AVIF_DEFAULT_IMAGE_SIZE_LIMIT;
    decoder->imageDimensionLimit = 0;
    decoder->imageCountLimit = maximum_frames;
    avif->io.read = io_read;
    avif->io.sizeHint = avif->is_complete ? avif->count : UINT32_MAX;
    avif->io.persistent = AVIF_TRUE;
    avif->io.data = avif;
    lib.avifDecoderSetIO(decoder, &avif->io);
}

// Tiles may reach beyond the image. Without a limit, an image that is announced as 64x64 may be coded as 16384x16384:
// the library decodes it at that size and scales it down.
void eidetic_avif_limit_frames(eidetic_avif *avif, uint64_t pixels) {
    if (pixels > UINT32_MAX) return;
    uint64_t limit = pixels < 1 << 14 ? 1 << 16 : 4 * pixels;
    if (limit < avif->decoder->imageSizeLimit) avif->decoder->imageSizeLimit = (uint32_t)limit;
}

eidetic_avif *eidetic_avif_open(
    const void *bytes, size_t count, bool is_complete, uint32_t maximum_pixels, uint32_t maximum_frames,
    eidetic_avif_info *info, eidetic_codec_outcome *outcome) {
    memset(info, 0, sizeof *info);
    if (!eidetic_codec_ensure_loaded(&library, load, outcome)) return NULL;
    eidetic_avif *avif = calloc(1, sizeof *avif);
    if (avif) avif->decoder = lib.avifDecoderCreate();
    if (!avif || !avif->decoder) {
        eidetic_codec_fail(outcome, EIDETIC_CODEC_NO_MEMORY, "not enough memory for a decoder");
        eidetic_avif_close(avif);
        return NULL;
    }
    avif->bytes = bytes, avif->count = count, avif->is_complete = is_complete;
    configure(avif, maximum_pixels, maximum_frames);
    avifResult result = lib.avifDecoderParse(avif->decoder);
    if (result == AVIF_RESULT_OK) {
        eidetic_avif_limit_frames(avif, (uint64_t)avif->decoder->image->width * avif->decoder->image->height);
        describe(avif, info);
        return avif;
    }
    info->has_invalid_grid = result == AVIF_RESULT_INVALID_IMAGE_GRID;
    fail(avif, result, outcome);
    eidetic_avif_close(avif);
    return NULL;
}

void eidetic_avif_close(eidetic_avif *avif) {
    if (!avif) return;
    if (avif->decoder) lib.avifDecoderDestroy(avif->decoder);
    free(avif);
}

static void copy_row(const uint8_t *source, ptrdiff_t step, uint8_t *out, uint32_t count, size_t size) {
    for (uint32_t x = 0; x < count; x++, source += step, out += size) {
        size == 8 ? memcpy(out, source, 8) : memcpy(out, source, 4);
    }
}

// Copies the cropped image, rotated and mirrored. `right` and `down` are the steps in the source for one pixel to the
// right and one row down in the result; `size` is that of a pixel.
static void transform(
    const eidetic_avif *avif, const uint8_t *source, size_t stride, uint8_t *pixels, size_t bytes_per_row,
    size_t size) {
    ptrdiff_t right = (ptrdiff_t)size, down = (ptrdiff_t)stride;
    uint32_t width = avif->crop.width, height = avif->crop.height;
    source += avif->crop.y * stride + (size_t)avif->crop.x * size;
    for (unsigned i = 0; i < avif->turns; i++) {
        // Anti-clockwise: the right edge becomes the top edge.
        source += right * (ptrdiff_t)(width - 1);
        ptrdiff_t previous_right = right;
        right = down, down = -previous_right;
        uint32_t previous_width = width;
        width = height, height = previous_width;
    }
    if (avif->flips) source += down * (ptrdiff_t)(height - 1), down = -down;
    if (avif->mirrors) source += right * (ptrdiff_t)(width - 1), right = -right;
    for (uint32_t y = 0; y < height; y++) {
        copy_row(source + down * (ptrdiff_t)y, right, pixels + y * bytes_per_row, width, size);
    }
}

static bool is_untransformed(const eidetic_avif *avif) {
    const avifImage *image = avif->decoder->image;
    return avif->turns == 0 && !avif->flips && !avif->mirrors && avif->crop.width == image->width &&
        avif->crop.height == image->height;
}

void eidetic_avif_read_brightness(eidetic_avif *avif) {
    avif->reads_brightness = true;
}

// Returns the matrix by which the library converts: it has none for constant luminance, and as in browsers, numbers
// beyond the last one mean an unspecified one.
static avifMatrixCoefficients known_matrix(unsigned matrix) {
    switch (matrix) {
        case AVIF_MATRIX_COEFFICIENTS_BT2020_CL: return AVIF_MATRIX_COEFFICIENTS_BT2020_NCL;
        case AVIF_MATRIX_COEFFICIENTS_CHROMA_DERIVED_CL: return AVIF_MATRIX_COEFFICIENTS_CHROMA_DERIVED_NCL;
        default: return matrix > AVIF_MATRIX_COEFFICIENTS_ICTCP ? AVIF_MATRIX_COEFFICIENTS_UNSPECIFIED : matrix;
    }
}

static bool convert(
    eidetic_avif *avif, uint8_t *pixels, size_t stride, size_t size, eidetic_codec_outcome *outcome) {
    avifRGBImage rgb;
    memset(&rgb, 0, sizeof rgb);
    avif->decoder->image->matrixCoefficients = known_matrix(avif->decoder->image->matrixCoefficients);
    if (avif->reads_brightness) {
        avif->decoder->image->yuvRange = AVIF_RANGE_FULL;
        avif->decoder->image->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_BT601;
    }
    lib.avifRGBImageSetDefaults(&rgb, avif->decoder->image);
    rgb.format = AVIF_RGB_FORMAT_RGBA;
    rgb.depth = size == 8 ? 16 : 8;
    rgb.alphaPremultiplied = size == 4 && avif->decoder->image->alphaPremultiplied;
    rgb.pixels = pixels;
    rgb.rowBytes = (uint32_t)stride;
    avifResult result = lib.avifImageYUVToRGB(avif->decoder->image, &rgb);
    if (result == AVIF_RESULT_REFORMAT_FAILED || result == AVIF_RESULT_NOT_IMPLEMENTED) {
        unsigned matrix = avif->decoder->image->matrixCoefficients;
        return eidetic_codec_fail(outcome, EIDETIC_CODEC_UNSUPPORTED, "the colours have matrix %u", matrix);
    }
    return result == AVIF_RESULT_OK || fail(avif, result, outcome);
}

static bool read_image(
    eidetic_avif *avif, avifResult result, uint32_t width, uint32_t height, uint8_t *pixels, size_t bytes_per_row,
    size_t size, eidetic_codec_outcome *outcome) {
    if (result != AVIF_RESULT_OK) return fail(avif, result, outcome);
    const avifImage *image = avif->decoder->image;
    if (image->width != width || image->height != height) {
        return eidetic_codec_fail(
            outcome, EIDETIC_CODEC_CORRUPT, "a frame has %ux%u pixels, but the header declares %ux%u", image->width,
            image->height, width, height);
    }
    if (is_untransformed(avif)) return convert(avif, pixels, bytes_per_row, size, outcome);
    size_t stride = (size_t)width * size;
    uint8_t *copy = malloc(stride * height);
    if (!copy) {
        return eidetic_codec_fail(
            outcome, EIDETIC_CODEC_NO_MEMORY, "not enough memory for %ux%u pixels", width, height);
    }
    bool is_converted = convert(avif, copy, stride, size, outcome);
    if (is_converted) transform(avif, copy, stride, pixels, bytes_per_row, size);
    free(copy);
    return is_converted;
}

bool eidetic_avif_next(
    eidetic_avif *avif, bool is_deep, uint8_t *pixels, size_t bytes_per_row, eidetic_codec_outcome *outcome) {
    uint32_t width = avif->decoder->image->width, height = avif->decoder->image->height;
    avifResult result = lib.avifDecoderNextImage(avif->decoder);
    return read_image(avif, result, width, height, pixels, bytes_per_row, is_deep ? 8 : 4, outcome);
}

bool eidetic_avif_frame_at(
    eidetic_avif *avif, uint32_t index, uint8_t *pixels, size_t bytes_per_row, eidetic_codec_outcome *outcome) {
    uint32_t width = avif->decoder->image->width, height = avif->decoder->image->height;
    avifResult result = lib.avifDecoderNthImage(avif->decoder, index);
    return read_image(avif, result, width, height, pixels, bytes_per_row, 4, outcome);
}

uint32_t eidetic_avif_available_frames(const eidetic_avif *avif, uint32_t first) {
    uint32_t count = (uint32_t)(avif->decoder->imageCount > 0 ? avif->decoder->imageCount : 0);
    while (first < count) {
        avifExtent extent;
        if (lib.avifDecoderNthImageMaxExtent(avif->decoder, first, &extent) != AVIF_RESULT_OK) break;
        if (extent.size > avif->count || extent.offset > avif->count - extent.size) break;
        first++;
    }
    return first;
}
#endif
