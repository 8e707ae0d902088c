#include "CInflate.h"

#include <CCodec.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

// As <brotli/decode.h> declares them.
#define FUNCTIONS(X) \
    X(void *, BrotliDecoderCreateInstance, (void *allocate, void *release, void *context)) \
    X(int, BrotliDecoderDecompressStream, \
      (void *state, size_t *input_count, const uint8_t **input, size_t *capacity, uint8_t **output, size_t *total)) \
    X(int, BrotliDecoderGetErrorCode, (const void *state)) \
    X(void, BrotliDecoderDestroyInstance, (void *state))

EIDETIC_CODEC_PLAIN_LIBRARY("libbrotlidec.so.1", FUNCTIONS)

/// The bytes from which on a frame of Zstandard is recognised.
enum { ZSTD_FRAME_START = 5 };

struct eidetic_inflater {
    eidetic_inflate_coding coding;
    z_stream zlib;
    void *brotli;
    ZSTD_DStream *zstd;
    size_t started; // bytes of a frame of Zstandard that has not ended
    int has_ended;
    int has_all_data;
};

int eidetic_inflate_supports(eidetic_inflate_coding coding) {
    if (coding != EIDETIC_INFLATE_BROTLI) return 1;
    pthread_once(&library.once, load);
    return library.is_loaded;
}

eidetic_inflater *eidetic_inflater_create(eidetic_inflate_coding coding) {
    eidetic_inflater *inflater = calloc(1, sizeof *inflater);
    if (!inflater) return NULL;
    inflater->coding = coding;
    int is_ready;
    if (coding == EIDETIC_INFLATE_BROTLI) {
        if (eidetic_inflate_supports(coding)) inflater->brotli = lib.BrotliDecoderCreateInstance(NULL, NULL, NULL);
        is_ready = inflater->brotli != NULL;
    } else if (coding == EIDETIC_INFLATE_ZSTD) {
        inflater->zstd = ZSTD_createDStream();
        // A window of at most 8 MiB (RFC 9659, section 3).
        is_ready = inflater->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(inflater->zstd, ZSTD_d_windowLogMax, 23));
        if (!is_ready) ZSTD_freeDStream(inflater->zstd);
    } else {
        // 16 more window bits select the format of gzip.
        // Checksum and length behind the data are not compared, as in browsers.
        is_ready = inflateInit2(&inflater->zlib, coding == EIDETIC_INFLATE_GZIP ? MAX_WBITS + 16 : MAX_WBITS) == Z_OK &&
                   inflateValidate(&inflater->zlib, 0) == Z_OK;
    }
    if (is_ready) return inflater;
    free(inflater);
    return NULL;
}

void eidetic_inflater_destroy(eidetic_inflater *inflater) {
    if (inflater->brotli) lib.BrotliDecoderDestroyInstance(inflater->brotli);
    ZSTD_freeDStream(inflater->zstd);
    // Does nothing to a stream that was never initialised.
    inflateEnd(&inflater->zlib);
    free(inflater);
}

static eidetic_inflate_status run_brotli(eidetic_inflater *inflater, const uint8_t *input, size_t count,
                                         size_t *consumed, uint8_t *output, size_t capacity, size_t *written) {
    size_t left = count, room = capacity;
    int result = lib.BrotliDecoderDecompressStream(inflater->brotli, &left, &input, &room, &output, NULL);
    *consumed = count - left;
    *written = capacity - room;
    // BROTLI_DECODER_RESULT_ERROR, _SUCCESS, _NEEDS_MORE_INPUT and _NEEDS_MORE_OUTPUT, in this order.
    switch (result) {
    case 1: return EIDETIC_INFLATE_END;
    case 2: return EIDETIC_INFLATE_NEEDS_INPUT;
    case 3: return EIDETIC_INFLATE_HAS_OUTPUT;
    }
    // The codes from -30 to -21 are failed allocations.
    int error = lib.BrotliDecoderGetErrorCode(inflater->brotli);
    return error >= -30 && error <= -21 ? EIDETIC_INFLATE_OUT_OF_MEMORY : EIDETIC_INFLATE_FAILED;
}

static eidetic_inflate_status run_zstd(eidetic_inflater *inflater, const uint8_t *input, size_t count,
                                       size_t *consumed, uint8_t *output, size_t capacity, size_t *written) {
    ZSTD_inBuffer in = {input, count, 0};
    ZSTD_outBuffer out = {output, capacity, 0};
    size_t result;
    do {
        size_t start = in.pos;
        result = ZSTD_decompressStream(inflater->zstd, &out, &in);
        if (ZSTD_isError(result)) break;
        inflater->started = result == 0 ? 0 : inflater->started + in.pos - start;
        // Another frame continues the data (RFC 8878, 3.1), once its header shows that it is one.
        inflater->has_all_data = result == 0 || (inflater->has_all_data && inflater->started < ZSTD_FRAME_START);
    } while (in.pos < in.size && out.pos < out.size);
    *consumed = in.pos;
    *written = out.pos;
    if (!ZSTD_isError(result))
        return out.pos == out.size ? EIDETIC_INFLATE_HAS_OUTPUT : EIDETIC_INFLATE_NEEDS_INPUT;
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_prefix_unknown: return inflater->has_all_data ? EIDETIC_INFLATE_END : EIDETIC_INFLATE_FAILED;
    case ZSTD_error_memory_allocation: return EIDETIC_INFLATE_OUT_OF_MEMORY;
    default: return EIDETIC_INFLATE_FAILED;
    }
}

// Another member of a gzip file continues the data (RFC 1952, 2.2).
static int starts_member(const eidetic_inflater *inflater, const uint8_t *input, size_t count) {
    return inflater->coding == EIDETIC_INFLATE_GZIP && count >= 2 && input[0] == 0x1f && input[1] == 0x8b;
}

// Decodes block by block, to see the end of the last one: data_type has 64 in the last block and 128 behind a block.
static int run_once(eidetic_inflater *inflater, const uint8_t *input, size_t count, uint8_t *output, size_t capacity) {
    z_stream *zlib = &inflater->zlib;
    zlib->next_in = (Bytef *)input;
    zlib->avail_in = (uInt)count;
    zlib->next_out = output;
    zlib->avail_out = (uInt)capacity;
    int result;
    do {
        result = inflate(zlib, Z_BLOCK);
        inflater->has_all_data = result == Z_STREAM_END || inflater->has_all_data ||
                                 (result == Z_OK && (zlib->data_type & 192) == 192);
    } while (result == Z_OK && zlib->avail_in > 0 && zlib->avail_out > 0);
    return result;
}

// Prepares for another member of a gzip file.
static int restart(eidetic_inflater *inflater) {
    inflater->has_all_data = 0;
    return inflateReset(&inflater->zlib) == Z_OK;
}

static eidetic_inflate_status run_zlib(eidetic_inflater *inflater, const uint8_t *input, size_t count,
                                       size_t *consumed, uint8_t *output, size_t capacity, size_t *written) {
    z_stream *zlib = &inflater->zlib;
    int is_start = zlib->total_in == 0;
    int result = run_once(inflater, input, count, output, capacity);
    if (result == Z_DATA_ERROR && is_start && inflater->coding == EIDETIC_INFLATE_DEFLATE &&
        inflateReset2(zlib, -MAX_WBITS) == Z_OK)
        result = run_once(inflater, input, count, output, capacity);
    *consumed = count - zlib->avail_in;
    *written = capacity - zlib->avail_out;
    switch (result) {
    case Z_STREAM_END:
        return starts_member(inflater, zlib->next_in, zlib->avail_in) && restart(inflater)
                   ? EIDETIC_INFLATE_HAS_OUTPUT
                   : EIDETIC_INFLATE_END;
    case Z_MEM_ERROR: return EIDETIC_INFLATE_OUT_OF_MEMORY;
    case Z_OK: return zlib->avail_out == 0 ? EIDETIC_INFLATE_HAS_OUTPUT : EIDETIC_INFLATE_NEEDS_INPUT;
    // No progress is possible without more input.
    case Z_BUF_ERROR: return EIDETIC_INFLATE_NEEDS_INPUT;
    default: return EIDETIC_INFLATE_FAILED;
    }
}

eidetic_inflate_status eidetic_inflater_run(eidetic_inflater *inflater, const uint8_t *input, size_t count,
                                            size_t *consumed, uint8_t *output, size_t capacity, size_t *written) {
    *consumed = *written = 0;
    // Other bytes behind the end are ignored, as browsers do.
    if (inflater->has_ended && !(starts_member(inflater, input, count) && restart(inflater)))
        return EIDETIC_INFLATE_END;
    eidetic_inflate_status (*run)(eidetic_inflater *, const uint8_t *, size_t, size_t *, uint8_t *, size_t, size_t *) =
        inflater->coding == EIDETIC_INFLATE_BROTLI ? run_brotli
        : inflater->coding == EIDETIC_INFLATE_ZSTD ? run_zstd
                                                   : run_zlib;
    eidetic_inflate_status status = run(inflater, input, count, consumed, output, capacity, written);
    inflater->has_ended = status == EIDETIC_INFLATE_END;
    return status;
}

int eidetic_inflater_has_all_data(const eidetic_inflater *inflater) {
    return inflater->has_ended || inflater->has_all_data;
}
