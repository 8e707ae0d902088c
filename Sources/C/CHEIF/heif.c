#include "CHEIF.h"

#ifdef TRAIT_HEIF
#include <libheif/heif.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(X) \
    X(heif_context_alloc) \
    X(heif_context_free) \
    X(heif_context_read_from_memory_without_copy) \
    X(heif_context_get_primary_image_handle) \
    X(heif_context_set_maximum_image_size_limit) \
    X(heif_context_set_max_decoding_threads) \
    X(heif_image_handle_release) \
    X(heif_image_handle_get_width) \
    X(heif_image_handle_get_height) \
    X(heif_image_handle_has_alpha_channel) \
    X(heif_image_handle_is_premultiplied_alpha) \
    X(heif_image_handle_get_raw_color_profile_size) \
    X(heif_image_handle_get_raw_color_profile) \
    X(heif_image_handle_get_color_profile_type) \
    X(heif_image_handle_get_nclx_color_profile) \
    X(heif_nclx_color_profile_free) \
    X(heif_decoding_options_alloc) \
    X(heif_decoding_options_free) \
    X(heif_decode_image) \
    X(heif_image_get_width) \
    X(heif_image_get_height) \
    X(heif_image_get_plane_readonly) \
    X(heif_image_get_bits_per_pixel_range) \
    X(heif_image_handle_get_luma_bits_per_pixel) \
    X(heif_image_release) \
    X(heif_get_version)

EIDETIC_CODEC_LIBRARY("libheif.so.1", FUNCTIONS)

const char *eidetic_heif_version(void) {
    eidetic_heif_prepare();
    return library.is_loaded ? lib.heif_get_version() : NULL;
}

void eidetic_heif_prepare(void) {
    pthread_once(&library.once, load);
    // The library looks for its plug-ins when it is first used.
    if (library.is_loaded) lib.heif_context_free(lib.heif_context_alloc());
}

struct eidetic_heif {
    struct heif_context *context;
    struct heif_image_handle *image;
    eidetic_heif_info info;
};

static bool fail(struct heif_error error, eidetic_codec_outcome *outcome) {
    eidetic_codec_status status = EIDETIC_CODEC_CORRUPT;
    if (error.subcode == heif_suberror_End_of_data) status = EIDETIC_CODEC_TRUNCATED;
    if (error.subcode == heif_suberror_Security_limit_exceeded) status = EIDETIC_CODEC_LIMIT;
    if (error.code == heif_error_Unsupported_filetype || error.code == heif_error_Unsupported_feature) {
        status = EIDETIC_CODEC_UNSUPPORTED;
    }
    // Version 1.23 fails to allocate an image without pixels.
    if (error.code == heif_error_Memory_allocation_error && error.subcode != heif_suberror_Invalid_image_size &&
        status != EIDETIC_CODEC_LIMIT) {
        status = EIDETIC_CODEC_NO_MEMORY;
    }
    return eidetic_codec_fail(outcome, status, "%s", error.message ? error.message : "unknown libheif error");
}

static void read_code_points(eidetic_heif *heif, eidetic_heif_info *info) {
    struct heif_color_profile_nclx *points = NULL;
    // The library refuses code points that it does not know.
    if (lib.heif_image_handle_get_nclx_color_profile(heif->image, &points).code != heif_error_Ok || !points) return;
    info->primaries = points->color_primaries;
    info->transfer = points->transfer_characteristics;
    lib.heif_nclx_color_profile_free(points);
}

static bool describe(eidetic_heif *heif, eidetic_heif_info *info, eidetic_codec_outcome *outcome) {
    int width = lib.heif_image_handle_get_width(heif->image), height = lib.heif_image_handle_get_height(heif->image);
    if (width <= 0 || height <= 0) {
        return eidetic_codec_fail(outcome, EIDETIC_CODEC_CORRUPT, "the image has %dx%d pixels", width, height);
    }
    info->width = (uint32_t)width;
    info->height = (uint32_t)height;
    info->has_alpha = lib.heif_image_handle_has_alpha_channel(heif->image);
    info->is_premultiplied = info->has_alpha && lib.heif_image_handle_is_premultiplied_alpha(heif->image);
    int depth = lib.heif_image_handle_get_luma_bits_per_pixel(heif->image);
    info->depth = depth > 0 ? (unsigned)depth : 8;
    enum heif_color_profile_type type = lib.heif_image_handle_get_color_profile_type(heif->image);
    if (type == heif_color_profile_type_rICC || type == heif_color_profile_type_prof) {
        info->icc_count = lib.heif_image_handle_get_raw_color_profile_size(heif->image);
    }
    read_code_points(heif, info);
    heif->info = *info;
    return true;
}

static bool open_primary(eidetic_heif *heif, const void *bytes, size_t count, eidetic_codec_outcome *outcome) {
    struct heif_error error = lib.heif_context_read_from_memory_without_copy(heif->context, bytes, count, NULL);
    if (error.code == heif_error_Ok) error = lib.heif_context_get_primary_image_handle(heif->context, &heif->image);
    return error.code == heif_error_Ok || fail(error, outcome);
}

eidetic_heif *eidetic_heif_open(
    const void *bytes, size_t count, eidetic_heif_info *info, eidetic_codec_outcome *outcome) {
    memset(info, 0, sizeof *info);
    if (!eidetic_codec_ensure_loaded(&library, load, outcome)) return NULL;
    eidetic_heif *heif = calloc(1, sizeof *heif);
    if (heif) heif->context = lib.heif_context_alloc();
    if (!heif || !heif->context) {
        eidetic_codec_fail(outcome, EIDETIC_CODEC_NO_MEMORY, "not enough memory for a decoder");
    } else if (open_primary(heif, bytes, count, outcome) && describe(heif, info, outcome)) {
        return heif;
    }
    eidetic_heif_close(heif);
    return NULL;
}

void eidetic_heif_close(eidetic_heif *heif) {
    if (!heif) return;
    if (heif->image) lib.heif_image_handle_release(heif->image);
    if (heif->context) lib.heif_context_free(heif->context);
    free(heif);
}

bool eidetic_heif_icc(eidetic_heif *heif, uint8_t *profile) {
    return lib.heif_image_handle_get_raw_color_profile(heif->image, profile).code == heif_error_Ok;
}

static struct heif_error decode(eidetic_heif *heif, bool is_deep, struct heif_image **image) {
    struct heif_decoding_options *options = lib.heif_decoding_options_alloc();
    if (!options) {
        return (struct heif_error){heif_error_Memory_allocation_error, heif_suberror_Unspecified, "not enough memory"};
    }
    options->convert_hdr_to_8bit = !is_deep;
    static const uint16_t one = 1;
    enum heif_chroma deep = *(const uint8_t *)&one
        ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBBAA_BE;
    enum heif_chroma chroma = is_deep ? deep : heif_chroma_interleaved_RGBA;
    // Otherwise version 1.20 and later leave out tiles of a grid that cannot be decoded.
    options->strict_decoding = 1;
    struct heif_error error = lib.heif_decode_image(heif->image, image, heif_colorspace_RGB, chroma, options);
    if (error.subcode >= heif_suberror_Unknown_NCLX_color_primaries
        && error.subcode <= heif_suberror_Unknown_NCLX_matrix_coefficients) {
        // Reserved code points are no damage: they state nothing.
        options->strict_decoding = 0;
        error = lib.heif_decode_image(heif->image, image, heif_colorspace_RGB, chroma, options);
    }
    lib.heif_decoding_options_free(options);
    return error;
}

// Widens samples of `bits` bits to 16.
static void widen(const uint16_t *source, uint16_t *out, size_t count, int bits) {
    uint32_t maximum = (1u << bits) - 1;
    for (size_t i = 0; i < count; i++) {
        uint32_t sample = source[i] < maximum ? source[i] : maximum;
        out[i] = (uint16_t)((sample * 65535 + maximum / 2) / maximum);
    }
}

static bool copy_pixels(
    eidetic_heif *heif, const struct heif_image *image, bool is_deep, uint8_t *pixels, size_t bytes_per_row,
    eidetic_codec_outcome *outcome) {
    int stride = 0;
    const uint8_t *plane = lib.heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride);
    int width = lib.heif_image_get_width(image, heif_channel_interleaved);
    int height = lib.heif_image_get_height(image, heif_channel_interleaved);
    // The coded video may have another size than the header declares.
    if (!plane || width < 0 || height < 0 || (uint32_t)width != heif->info.width ||
        (uint32_t)height != heif->info.height) {
        return eidetic_codec_fail(
            outcome, EIDETIC_CODEC_CORRUPT, "the video has %dx%d pixels, but the header declares %ux%u", width, height,
            heif->info.width, heif->info.height);
    }
    int bits = lib.heif_image_get_bits_per_pixel_range(image, heif_channel_interleaved);
    if (is_deep && (bits < 8 || bits > 16)) {
        return eidetic_codec_fail(outcome, EIDETIC_CODEC_UNSUPPORTED, "the image has %d bits per channel", bits);
    }
    for (int y = 0; y < height; y++) {
        const uint8_t *from = plane + (size_t)y * (size_t)stride;
        uint8_t *to = pixels + (size_t)y * bytes_per_row;
        if (is_deep) {
            widen((const void *)from, (void *)to, (size_t)width * 4, bits);
        } else {
            memcpy(to, from, (size_t)width * 4);
        }
    }
    return true;
}

bool eidetic_heif_read(
    eidetic_heif *heif, uint32_t maximum_side, bool is_deep, uint8_t *pixels, size_t bytes_per_row,
    eidetic_codec_outcome *outcome) {
    lib.heif_context_set_maximum_image_size_limit(
        heif->context, maximum_side < INT32_MAX ? (int)maximum_side : INT32_MAX);
    // The caller already decodes several images in parallel. Threads within one image would only add memory.
    lib.heif_context_set_max_decoding_threads(heif->context, 0);
    struct heif_image *image = NULL;
    struct heif_error error = decode(heif, is_deep, &image);
    bool is_read = error.code == heif_error_Ok
        ? copy_pixels(heif, image, is_deep, pixels, bytes_per_row, outcome) : fail(error, outcome);
    if (image) lib.heif_image_release(image);
    return is_read;
}
#endif
