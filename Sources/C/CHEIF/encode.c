#include "CHEIF.h"

#ifdef TRAIT_HEIF
#include <libheif/heif.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(X) \
    X(heif_context_alloc) \
    X(heif_context_free) \
    X(heif_context_get_encoder_for_format) \
    X(heif_context_encode_image) \
    X(heif_context_add_exif_metadata) \
    X(heif_context_add_XMP_metadata) \
    X(heif_context_write) \
    X(heif_encoder_release) \
    X(heif_encoder_set_lossy_quality) \
    X(heif_encoder_set_parameter) \
    X(heif_encoding_options_alloc) \
    X(heif_encoding_options_free) \
    X(heif_image_create) \
    X(heif_image_add_plane) \
    X(heif_image_get_plane) \
    X(heif_image_set_raw_color_profile) \
    X(heif_image_release) \
    X(heif_image_handle_release)

EIDETIC_CODEC_LIBRARY("libheif.so.1", FUNCTIONS)

// What one call allocates.
struct work {
    struct heif_context *context;
    struct heif_encoder *encoder;
    struct heif_encoding_options *options;
    struct heif_image *image;
    struct heif_image_handle *handle;
};

struct output {
    uint8_t *bytes;
    size_t count;
};

static bool check(struct heif_error error, eidetic_codec_outcome *outcome) {
    if (error.code == heif_error_Ok) return true;
    bool is_memory = error.code == heif_error_Memory_allocation_error;
    return eidetic_codec_fail(
        outcome, is_memory ? EIDETIC_CODEC_NO_MEMORY : EIDETIC_CODEC_CORRUPT, "%s",
        error.message ? error.message : "unknown libheif error");
}

static bool make_encoder(struct work *work, const eidetic_heif_form *form, eidetic_codec_outcome *outcome) {
    work->context = lib.heif_context_alloc();
    work->options = lib.heif_encoding_options_alloc();
    if (!work->context || !work->options) {
        return eidetic_codec_fail(outcome, EIDETIC_CODEC_NO_MEMORY, "not enough memory for an encoder");
    }
    struct heif_error error =
        lib.heif_context_get_encoder_for_format(work->context, heif_compression_HEVC, &work->encoder);
    if (error.code != heif_error_Ok || !work->encoder) {
        return eidetic_codec_fail(
            outcome, EIDETIC_CODEC_UNSUPPORTED, "libheif has no encoder of HEVC; install libheif-plugin-x265");
    }
    return check(lib.heif_encoder_set_lossy_quality(work->encoder, form->quality), outcome) &&
        check(lib.heif_encoder_set_parameter(work->encoder, "chroma", form->has_full_chroma ? "444" : "420"), outcome);
}

static bool make_image(
    struct work *work, const eidetic_heif_frame *frame, const eidetic_heif_form *form,
    eidetic_codec_outcome *outcome) {
    int width = (int)frame->width, height = (int)frame->height, stride = 0;
    enum heif_chroma chroma = heif_chroma_interleaved_RGBA;
    if (!check(lib.heif_image_create(width, height, heif_colorspace_RGB, chroma, &work->image), outcome) ||
        !check(lib.heif_image_add_plane(work->image, heif_channel_interleaved, width, height, 8), outcome)) {
        return false;
    }
    uint8_t *plane = lib.heif_image_get_plane(work->image, heif_channel_interleaved, &stride);
    for (uint32_t y = 0; y < frame->height; y++) {
        memcpy(plane + (size_t)y * (size_t)stride, frame->pixels + y * frame->bytes_per_row, 4 * (size_t)frame->width);
    }
    work->options->save_alpha_channel = frame->has_alpha;
    return !form->icc_count ||
        check(lib.heif_image_set_raw_color_profile(work->image, "prof", form->icc, form->icc_count), outcome);
}

static bool encode(struct work *work, const eidetic_heif_form *form, eidetic_codec_outcome *outcome) {
    if (!check(lib.heif_context_encode_image(
            work->context, work->image, work->encoder, work->options, &work->handle), outcome)) {
        return false;
    }
    bool has_exif = !form->exif_count || check(
        lib.heif_context_add_exif_metadata(work->context, work->handle, form->exif, (int)form->exif_count), outcome);
    return has_exif && (!form->xmp_count || check(
        lib.heif_context_add_XMP_metadata(work->context, work->handle, form->xmp, (int)form->xmp_count), outcome));
}

static struct heif_error append(struct heif_context *context, const void *bytes, size_t count, void *target) {
    (void)context;
    struct output *output = target;
    uint8_t *larger = realloc(output->bytes, output->count + count);
    if (!larger) {
        return (struct heif_error){heif_error_Memory_allocation_error, heif_suberror_Unspecified, "not enough memory"};
    }
    memcpy(larger + output->count, bytes, count);
    output->bytes = larger;
    output->count += count;
    return (struct heif_error){heif_error_Ok, heif_suberror_Unspecified, "Success"};
}

static void release(struct work *work) {
    if (work->handle) lib.heif_image_handle_release(work->handle);
    if (work->image) lib.heif_image_release(work->image);
    if (work->encoder) lib.heif_encoder_release(work->encoder);
    if (work->options) lib.heif_encoding_options_free(work->options);
    if (work->context) lib.heif_context_free(work->context);
}

bool eidetic_heif_encode(
    eidetic_heif_frame frame, const eidetic_heif_form *form, uint8_t **encoded, size_t *count,
    eidetic_codec_outcome *outcome) {
    if (!eidetic_codec_ensure_loaded(&library, load, outcome)) return false;
    struct work work = {0};
    struct output output = {0};
    struct heif_writer writer = {.writer_api_version = 1, .write = append};
    bool is_encoded = make_encoder(&work, form, outcome) && make_image(&work, &frame, form, outcome) &&
        encode(&work, form, outcome) && check(lib.heif_context_write(work.context, &writer, &output), outcome);
    release(&work);
    if (!is_encoded) {
        free(output.bytes);
        return false;
    }
    *encoded = output.bytes;
    *count = output.count;
    return true;
}
#endif
