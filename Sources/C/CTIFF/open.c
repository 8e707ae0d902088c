// Opens a file in memory, reports errors as values, and reads the tags.
#include <stdlib.h>
#include <string.h>

#include "tiff.h"

const char *eidetic_tiff_version(void) {
    return TIFFGetVersion();
}

static tmsize_t tiff_read(thandle_t handle, void *buffer, tmsize_t size) {
    eidetic_tiff *tiff = handle;
    uint64_t remaining = tiff->position < tiff->count ? tiff->count - tiff->position : 0;
    uint64_t count = (uint64_t)size < remaining ? (uint64_t)size : remaining;
    if (count < (uint64_t)size) tiff->reads_past_end = true;
    memcpy(buffer, tiff->bytes + (tiff->count - remaining), count);
    tiff->position += count;
    return (tmsize_t)count;
}

static tmsize_t tiff_write(thandle_t handle, void *buffer, tmsize_t size) {
    (void)handle, (void)buffer, (void)size;
    return -1;
}

static toff_t tiff_seek(thandle_t handle, toff_t offset, int whence) {
    eidetic_tiff *tiff = handle;
    uint64_t base = whence == SEEK_CUR ? tiff->position : whence == SEEK_END ? tiff->count : 0;
    tiff->position = base + offset;
    return tiff->position;
}

static int tiff_close(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t tiff_size(thandle_t handle) { return ((eidetic_tiff *)handle)->count; }

static int tiff_map(thandle_t handle, void **base, toff_t *size) {
    eidetic_tiff *tiff = handle;
    *base = (void *)tiff->bytes;
    *size = tiff->count;
    return 1;
}

static void tiff_unmap(thandle_t handle, void *base, toff_t size) { (void)handle, (void)base, (void)size; }

static int on_error(TIFF *file, void *user, const char *module, const char *format, va_list arguments) {
    (void)file, (void)module;
    eidetic_tiff *tiff = user;
    tiff->error.status = EIDETIC_CODEC_CORRUPT;
    vsnprintf(tiff->error.message, sizeof tiff->error.message, format, arguments);
    return 1;
}

static int on_warning(TIFF *file, void *user, const char *module, const char *format, va_list arguments) {
    (void)file, (void)user, (void)module, (void)format, (void)arguments;
    return 1;
}

// Error handlers are set for the handle, not for the process. An incomplete file is not mapped, so that every access
// uses `tiff_read`, which records reads past the end.
static TIFF *open_file(eidetic_tiff *tiff, bool is_complete) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)tiff->memory_limit);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, tiff);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, tiff);
    TIFF *file = TIFFClientOpenExt(
        "image", is_complete ? "r" : "rm", tiff, tiff_read, tiff_write, tiff_seek, tiff_close, tiff_size, tiff_map,
        tiff_unmap, options);
    TIFFOpenOptionsFree(options);
    return file;
}

static uint16_t field(eidetic_tiff *tiff, uint32_t tag, uint16_t absent) {
    uint16_t value = absent;
    return TIFFGetFieldDefaulted(tiff->file, tag, &value) ? value : absent;
}

// Sets `kind` and `colors`. Returns false for colours that only TIFFRGBAImage converts.
static bool find_kind(eidetic_tiff *tiff) {
    switch (tiff->photometric) {
    case PHOTOMETRIC_MINISBLACK: tiff->kind = GREY, tiff->colors = 1; return true;
    case PHOTOMETRIC_MINISWHITE: tiff->kind = INVERTED_GREY, tiff->colors = 1; return true;
    case PHOTOMETRIC_RGB: tiff->kind = RGB, tiff->colors = 3; return tiff->samples >= 3;
    case PHOTOMETRIC_SEPARATED:
        tiff->kind = CMYK, tiff->colors = 4;
        return tiff->samples >= 4 && field(tiff, TIFFTAG_INKSET, INKSET_CMYK) == INKSET_CMYK;
    case PHOTOMETRIC_YCBCR:
        if (tiff->compression != COMPRESSION_JPEG) return false;
        if (tiff->planes != PLANARCONFIG_CONTIG || tiff->samples != 3) return false;
        TIFFSetField(tiff->file, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        tiff->kind = RGB, tiff->colors = 3;
        return true;
    default: return false;
    }
}

static bool has_known_samples(const eidetic_tiff *tiff) {
    bool is_integer = tiff->format == SAMPLEFORMAT_UINT || tiff->format == SAMPLEFORMAT_INT ||
        tiff->format == SAMPLEFORMAT_VOID;
    return is_integer && (tiff->bits == 8 || tiff->bits == 16);
}

// Finds the first extra sample that is alpha. TIFFRGBAImage uses the first extra sample only.
static eidetic_tiff_pixels find_alpha(eidetic_tiff *tiff) {
    uint16_t count = 0, *kinds = NULL, kind = EXTRASAMPLE_UNSPECIFIED;
    TIFFGetFieldDefaulted(tiff->file, TIFFTAG_EXTRASAMPLES, &count, &kinds);
    for (unsigned i = 0; kinds && i < count && (i == 0 || tiff->is_direct) && !tiff->has_alpha; i++) {
        kind = kinds[i];
        tiff->alpha = tiff->colors + i;
        tiff->has_alpha = (kind == EXTRASAMPLE_ASSOCALPHA || kind == EXTRASAMPLE_UNASSALPHA) &&
            (!tiff->is_direct || tiff->alpha < tiff->samples);
    }
    if (tiff->is_direct && tiff->kind == CMYK) {
        tiff->has_alpha = false;
        return EIDETIC_TIFF_CMYK;
    }
    if (!tiff->has_alpha) return EIDETIC_TIFF_OPAQUE;
    // TIFFRGBAImage premultiplies.
    return kind == EXTRASAMPLE_ASSOCALPHA || !tiff->is_direct ? EIDETIC_TIFF_PREMULTIPLIED : EIDETIC_TIFF_STRAIGHT;
}

static bool describe(eidetic_tiff *tiff, eidetic_tiff_info *info, eidetic_codec_outcome *outcome) {
    TIFFGetField(tiff->file, TIFFTAG_IMAGEWIDTH, &tiff->width);
    TIFFGetField(tiff->file, TIFFTAG_IMAGELENGTH, &tiff->height);
    if (tiff->width == 0 || tiff->height == 0) {
        return eidetic_codec_fail(
            outcome, EIDETIC_CODEC_CORRUPT, "the image has %ux%u pixels", tiff->width, tiff->height);
    }
    tiff->bits = field(tiff, TIFFTAG_BITSPERSAMPLE, 1);
    tiff->samples = field(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    tiff->format = field(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
    tiff->planes = field(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    tiff->compression = field(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    if (tiff->compression == COMPRESSION_JBIG) {
        // libjbig allocates as much memory as the file declares, and aborts the process if the allocation fails.
        return eidetic_codec_fail(outcome, EIDETIC_CODEC_UNSUPPORTED, "JBIG compression is not supported");
    }
    tiff->photometric = field(
        tiff, TIFFTAG_PHOTOMETRIC, tiff->samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    tiff->is_tiled = TIFFIsTiled(tiff->file);
    tiff->is_direct = has_known_samples(tiff) && find_kind(tiff);

    info->width = tiff->width;
    info->height = tiff->height;
    info->orientation = field(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    info->pixels = find_alpha(tiff);
    uint32_t icc_count = 0;
    void *icc = NULL;
    if (TIFFGetField(tiff->file, TIFFTAG_ICCPROFILE, &icc_count, &icc)) {
        info->icc = icc;
        info->icc_count = icc_count;
    }
    return true;
}

// The reason why a file cannot be opened: corrupt or truncated. A mapped file does not record reads past the end, so it
// is opened once more without mapping.
static eidetic_codec_status open_failure_status(eidetic_tiff *tiff) {
    tiff->position = 0;
    TIFF *file = tiff->reads_past_end ? NULL : open_file(tiff, false);
    if (file) TIFFClose(file);
    return tiff->reads_past_end ? EIDETIC_CODEC_TRUNCATED : EIDETIC_CODEC_CORRUPT;
}

eidetic_tiff *eidetic_tiff_open(
    const void *bytes, size_t count, bool is_complete, size_t memory_limit, eidetic_tiff_info *info,
    eidetic_codec_outcome *outcome) {
    memset(info, 0, sizeof *info);
    eidetic_tiff *tiff = calloc(1, sizeof *tiff);
    if (!tiff) {
        eidetic_codec_fail(outcome, EIDETIC_CODEC_NO_MEMORY, "not enough memory for a decoder");
        return NULL;
    }
    tiff->bytes = bytes;
    tiff->count = count;
    tiff->memory_limit = memory_limit;
    tiff->file = open_file(tiff, is_complete);
    if (!is_complete && tiff->reads_past_end) {
        eidetic_codec_fail(outcome, EIDETIC_CODEC_NEEDS_MORE, "the image file directory is incomplete");
    } else if (!tiff->file) {
        eidetic_codec_fail(outcome, open_failure_status(tiff), "%s", tiff->error.message);
    } else if (describe(tiff, info, outcome)) {
        return tiff;
    }
    eidetic_tiff_close(tiff);
    return NULL;
}

void eidetic_tiff_close(eidetic_tiff *tiff) {
    if (!tiff) return;
    if (tiff->file) TIFFClose(tiff->file);
    free(tiff);
}
