#include "CBareCodecs.h"

#ifdef TRAIT_JPEGXL
#include <stdlib.h>
#include <string.h>

#include <jxl/decode.h>
#include <jxl/encode.h>

static const JxlPixelFormat format = {4, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};

unsigned char *eidetic_bare_jxl_decode(const unsigned char *bytes, size_t count) {
    JxlDecoder *decoder = JxlDecoderCreate(NULL);
    unsigned char *pixels = NULL;
    JxlDecoderSubscribeEvents(decoder, JXL_DEC_FULL_IMAGE);
    JxlDecoderSetInput(decoder, bytes, count);
    for (;;) {
        size_t size;
        switch (JxlDecoderProcessInput(decoder)) {
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
            JxlDecoderImageOutBufferSize(decoder, &format, &size);
            pixels = malloc(size);
            if (!pixels) abort();
            JxlDecoderSetImageOutBuffer(decoder, &format, pixels, size);
            continue;
        case JXL_DEC_FULL_IMAGE: JxlDecoderDestroy(decoder); return pixels;
        default: abort();
        }
    }
}

unsigned char *eidetic_bare_jxl_encode(const unsigned char *pixels, uint32_t width, uint32_t height, size_t *count) {
    size_t size = 4 * (size_t)width * height, remaining = size;
    unsigned char *bytes = malloc(size), *rgb = malloc(size), *next = bytes;
    if (!bytes || !rgb) abort();
    for (size_t i = 0; i < size / 4; i++) memcpy(rgb + 3 * i, pixels + 4 * i, 3);
    JxlEncoder *encoder = JxlEncoderCreate(NULL);
    JxlBasicInfo info;
    JxlEncoderInitBasicInfo(&info);
    info.xsize = width, info.ysize = height, info.bits_per_sample = 8, info.num_color_channels = 3;
    JxlColorEncoding color;
    JxlColorEncodingSetToSRGB(&color, JXL_FALSE);
    JxlPixelFormat input = {3, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    JxlEncoderFrameSettings *settings = JxlEncoderFrameSettingsCreate(encoder, NULL);
    JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, 3);
    int is_done = JxlEncoderSetBasicInfo(encoder, &info) == JXL_ENC_SUCCESS
        && JxlEncoderSetColorEncoding(encoder, &color) == JXL_ENC_SUCCESS
        && JxlEncoderAddImageFrame(settings, &input, rgb, size / 4 * 3) == JXL_ENC_SUCCESS;
    JxlEncoderCloseInput(encoder);
    if (!is_done || JxlEncoderProcessOutput(encoder, &next, &remaining) != JXL_ENC_SUCCESS) abort();
    JxlEncoderDestroy(encoder);
    free(rgb);
    *count = size - remaining;
    return bytes;
}
#endif
