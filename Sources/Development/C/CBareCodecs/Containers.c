#include "CBareCodecs.h"

#include <stdlib.h>
#include <string.h>

#include <avif/avif.h>
#include <libheif/heif.h>
#include <tiffio.h>

static void require(int condition) {
    if (!condition) abort();
}

// A file in memory, for libtiff.
struct file {
    unsigned char *bytes;
    size_t count, capacity, position;
};

static tmsize_t tiff_read(thandle_t handle, void *buffer, tmsize_t size) {
    struct file *file = handle;
    size_t remaining = file->count - file->position;
    size_t count = (size_t)size < remaining ? (size_t)size : remaining;
    memcpy(buffer, file->bytes + file->position, count);
    file->position += count;
    return (tmsize_t)count;
}

static tmsize_t tiff_write(thandle_t handle, void *buffer, tmsize_t size) {
    struct file *file = handle;
    size_t end = file->position + (size_t)size;
    if (end > file->capacity) {
        file->bytes = realloc(file->bytes, file->capacity = 2 * end);
        require(file->bytes != NULL);
    }
    memcpy(file->bytes + file->position, buffer, (size_t)size);
    file->position = end;
    if (end > file->count) file->count = end;
    return size;
}

static toff_t tiff_seek(thandle_t handle, toff_t offset, int whence) {
    struct file *file = handle;
    size_t base = whence == SEEK_CUR ? file->position : whence == SEEK_END ? file->count : 0;
    return file->position = base + offset;
}

static int tiff_close(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t tiff_size(thandle_t handle) { return ((struct file *)handle)->count; }

static TIFF *open_tiff(struct file *file, const char *mode) {
    TIFF *tiff =
        TIFFClientOpen("image", mode, file, tiff_read, tiff_write, tiff_seek, tiff_close, tiff_size, NULL, NULL);
    require(tiff != NULL);
    return tiff;
}

unsigned char *eidetic_bare_tiff_encode(const unsigned char *pixels, uint32_t width, uint32_t height, size_t *count) {
    struct file file = {0};
    TIFF *tiff = open_tiff(&file, "w");
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 64);
    unsigned char *row = malloc(3 * (size_t)width);
    require(row != NULL);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) memcpy(row + 3 * x, pixels + 4 * ((size_t)y * width + x), 3);
        require(TIFFWriteScanline(tiff, row, y, 0) == 1);
    }
    free(row);
    TIFFClose(tiff);
    *count = file.count;
    return file.bytes;
}

unsigned char *eidetic_bare_tiff_decode(const unsigned char *bytes, size_t count) {
    struct file file = {.bytes = (unsigned char *)bytes, .count = count};
    TIFF *tiff = open_tiff(&file, "r");
    uint32_t width, height;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    unsigned char *pixels = malloc(4 * (size_t)width * height);
    require(pixels != NULL);
    uint32_t *raster = (uint32_t *)(void *)pixels;
    require(TIFFReadRGBAImageOriented(tiff, width, height, raster, ORIENTATION_TOPLEFT, 1));
    TIFFClose(tiff);
    return pixels;
}

unsigned char *eidetic_bare_avif_encode(const unsigned char *pixels, uint32_t width, uint32_t height, size_t *count) {
    avifImage *image = avifImageCreate(width, height, 8, AVIF_PIXEL_FORMAT_YUV420);
    avifEncoder *encoder = avifEncoderCreate();
    require(image && encoder);
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, image);
    rgb.ignoreAlpha = AVIF_TRUE;
    rgb.pixels = (uint8_t *)pixels;
    rgb.rowBytes = 4 * width;
    require(avifImageRGBToYUV(image, &rgb) == AVIF_RESULT_OK);
    encoder->speed = AVIF_SPEED_FASTEST;
    encoder->minQuantizer = 10, encoder->maxQuantizer = 40;
    avifRWData output = AVIF_DATA_EMPTY;
    require(avifEncoderWrite(encoder, image, &output) == AVIF_RESULT_OK);
    avifEncoderDestroy(encoder);
    avifImageDestroy(image);
    unsigned char *bytes = malloc(output.size);
    require(bytes != NULL);
    memcpy(bytes, output.data, output.size);
    *count = output.size;
    avifRWDataFree(&output);
    return bytes;
}

unsigned char *eidetic_bare_avif_decode(const unsigned char *bytes, size_t count) {
    avifDecoder *decoder = avifDecoderCreate();
    require(decoder && avifDecoderSetIOMemory(decoder, bytes, count) == AVIF_RESULT_OK);
    require(avifDecoderParse(decoder) == AVIF_RESULT_OK && avifDecoderNextImage(decoder) == AVIF_RESULT_OK);
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, decoder->image);
    rgb.depth = 8;
    rgb.rowBytes = 4 * rgb.width;
    rgb.pixels = malloc((size_t)rgb.rowBytes * rgb.height);
    require(rgb.pixels && avifImageYUVToRGB(decoder->image, &rgb) == AVIF_RESULT_OK);
    avifDecoderDestroy(decoder);
    return rgb.pixels;
}

static unsigned char *heif_decode(const unsigned char *bytes, size_t count, enum heif_chroma chroma) {
    struct heif_context *context = heif_context_alloc();
    heif_context_set_max_decoding_threads(context, 0);
    require(heif_context_read_from_memory_without_copy(context, bytes, count, NULL).code == heif_error_Ok);
    struct heif_image_handle *handle = NULL;
    struct heif_image *image = NULL;
    require(heif_context_get_primary_image_handle(context, &handle).code == heif_error_Ok);
    require(heif_decode_image(handle, &image, heif_colorspace_RGB, chroma, NULL).code == heif_error_Ok);
    int stride = 0;
    const uint8_t *plane = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride);
    size_t size = (size_t)stride * (size_t)heif_image_get_height(image, heif_channel_interleaved);
    unsigned char *pixels = malloc(size);
    require(pixels != NULL);
    memcpy(pixels, plane, size);
    heif_image_release(image);
    heif_image_handle_release(handle);
    heif_context_free(context);
    return pixels;
}

unsigned char *eidetic_bare_heif_decode(const unsigned char *bytes, size_t count) {
    return heif_decode(bytes, count, heif_chroma_interleaved_RGBA);
}

unsigned char *eidetic_bare_heif_decode_deep(const unsigned char *bytes, size_t count) {
    return heif_decode(bytes, count, heif_chroma_interleaved_RRGGBBAA_LE);
}
