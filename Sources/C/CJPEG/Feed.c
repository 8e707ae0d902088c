#include "Reading.h"

struct eidetic_jpeg_feed {
    reader reader;
    size_t consumed;       // bytes that the library has read
    size_t bytes_to_skip;  // bytes to skip_input in later input
    int has_header, has_started, is_in_pass;
    int has_ended_pass;  // a pass that wrote all rows has ended
};

static eidetic_jpeg_feed *feed_of(j_common_ptr library) { return library->client_data; }
static void fail(j_common_ptr library) { longjmp(feed_of(library)->reader.escape, 1); }
static void ignore_warning(j_common_ptr library, int level) { (void)library, (void)level; }

/// Suspends the library for lack of input: it restores its last resumable state.
static boolean suspend(j_decompress_ptr library) {
    (void)library;
    return FALSE;
}

static void skip_input(j_decompress_ptr library, long count) {
    if (count <= 0) return;
    struct jpeg_source_mgr *source = library->src;
    size_t available = (size_t)count < source->bytes_in_buffer ? (size_t)count : source->bytes_in_buffer;
    source->next_input_byte += available;
    source->bytes_in_buffer -= available;
    feed_of((j_common_ptr)library)->bytes_to_skip = (size_t)count - available;
}

eidetic_jpeg_feed *eidetic_jpeg_feed_create(void) {
    eidetic_jpeg_feed *feed = calloc(1, sizeof *feed);
    if (!feed) return NULL;
    feed->reader.errors.error_exit = fail;
    feed->reader.errors.emit_message = ignore_warning;
    feed->reader.source.fill_input_buffer = suspend;
    feed->reader.source.skip_input_data = skip_input;
    if (open_reader(&feed->reader, feed)) return feed;
    free(feed);
    return NULL;
}

void eidetic_jpeg_feed_destroy(eidetic_jpeg_feed *feed) {
    if (!feed) return;
    close_reader(&feed->reader);
    free(feed);
}

void eidetic_jpeg_feed_set_input(eidetic_jpeg_feed *feed, const uint8_t *bytes, size_t count) {
    size_t remaining = count > feed->consumed ? count - feed->consumed : 0;
    size_t skipped = feed->bytes_to_skip < remaining ? feed->bytes_to_skip : remaining;
    feed->bytes_to_skip -= skipped;
    feed->reader.source.next_input_byte = bytes + feed->consumed + skipped;
    feed->reader.source.bytes_in_buffer = remaining - skipped;
}

void eidetic_jpeg_feed_clear_input(eidetic_jpeg_feed *feed, size_t count) {
    feed->consumed = count - feed->reader.source.bytes_in_buffer;
    feed->reader.source.next_input_byte = NULL;
    feed->reader.source.bytes_in_buffer = 0;
}

size_t eidetic_jpeg_feed_consumed(const eidetic_jpeg_feed *feed) { return feed->consumed; }

eidetic_jpeg_status eidetic_jpeg_feed_start(eidetic_jpeg_feed *feed, unsigned scale, int *is_done) {
    struct jpeg_decompress_struct *library = &feed->reader.library;
    *is_done = feed->has_started;
    if (feed->has_started) return EIDETIC_JPEG_OK;
    if (setjmp(feed->reader.escape)) return EIDETIC_JPEG_FAILED;
    if (!feed->has_header) {
        if (jpeg_read_header(library, TRUE) == JPEG_SUSPENDED) return EIDETIC_JPEG_OK;
        configure(library, scale);
        feed->has_header = 1;
    }
    *is_done = feed->has_started = jpeg_start_decompress(library);
    return EIDETIC_JPEG_OK;
}

eidetic_jpeg_status eidetic_jpeg_feed_consume_input(eidetic_jpeg_feed *feed, int *is_done) {
    struct jpeg_decompress_struct *library = &feed->reader.library;
    *is_done = 1;
    if (!library->buffered_image) return EIDETIC_JPEG_OK;
    if (setjmp(feed->reader.escape)) return EIDETIC_JPEG_FAILED;
    int state = jpeg_consume_input(library);
    if (library->input_scan_number > EIDETIC_JPEG_MAXIMUM_SCANS) return EIDETIC_JPEG_TOO_MANY_SCANS;
    *is_done = state == JPEG_SUSPENDED || state == JPEG_REACHED_EOI;
    return EIDETIC_JPEG_OK;
}

/// The number of the last complete scan, or of the first scan if none is complete.
static int last_complete_scan(struct jpeg_decompress_struct *library) {
    int scan = library->input_scan_number;
    return jpeg_input_complete(library) || scan < 2 ? scan : scan - 1;
}

eidetic_jpeg_status eidetic_jpeg_feed_start_pass(eidetic_jpeg_feed *feed) {
    struct jpeg_decompress_struct *library = &feed->reader.library;
    if (!library->buffered_image) return EIDETIC_JPEG_OK;
    if (setjmp(feed->reader.escape)) return EIDETIC_JPEG_FAILED;
    if (feed->is_in_pass) {
        // Rows of the first scan are read as they arrive, in one pass. That pass cannot end before the scan is
        // complete.
        if (library->input_scan_number <= library->output_scan_number && !jpeg_input_complete(library))
            return EIDETIC_JPEG_OK;
        if (!jpeg_finish_output(library)) return EIDETIC_JPEG_FAILED;
        feed->is_in_pass = 0;
        feed->has_ended_pass = 1;
    }
    if (!jpeg_start_output(library, last_complete_scan(library))) return EIDETIC_JPEG_FAILED;
    feed->is_in_pass = 1;
    return EIDETIC_JPEG_OK;
}

eidetic_jpeg_status eidetic_jpeg_feed_read_rows(
    eidetic_jpeg_feed *feed, uint8_t *pixels, size_t bytes_per_row, unsigned count, unsigned *read) {
    struct jpeg_decompress_struct *library = &feed->reader.library;
    *read = 0;
    if (setjmp(feed->reader.escape)) return EIDETIC_JPEG_FAILED;
    while (*read < count && library->output_scanline < library->output_height) {
        JSAMPROW row = pixels + library->output_scanline * bytes_per_row;
        if (!jpeg_read_scanlines(library, &row, 1)) break;
        ++*read;
    }
    return EIDETIC_JPEG_OK;
}

int eidetic_jpeg_feed_is_later_pass(const eidetic_jpeg_feed *feed) { return feed->has_ended_pass; }

unsigned eidetic_jpeg_feed_rows(const eidetic_jpeg_feed *feed) {
    const struct jpeg_decompress_struct *library = &feed->reader.library;
    return eidetic_jpeg_feed_is_later_pass(feed) ? library->output_height : library->output_scanline;
}

int eidetic_jpeg_feed_is_complete(eidetic_jpeg_feed *feed) {
    struct jpeg_decompress_struct *library = &feed->reader.library;
    if (library->output_scanline < library->output_height) return 0;
    return !library->buffered_image
        || (jpeg_input_complete(library) && library->output_scan_number == library->input_scan_number);
}

eidetic_jpeg_info eidetic_jpeg_feed_info(const eidetic_jpeg_feed *feed) { return info_of(&feed->reader.library); }
