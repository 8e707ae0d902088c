#include <stdlib.h>
#include <string.h>

#include "CPixels.h"

// Median-cut quantisation over a histogram of 32 bins per channel.

enum { BINS = 1 << 15 };

struct bin {
    uint32_t count, sum[3];
    uint16_t key;
};

struct box {
    size_t first, count;
    int axis, range;
    uint64_t weight;
};

static uint16_t key_of(const uint8_t *pixel) {
    return (uint16_t)((pixel[0] >> 3) << 10 | (pixel[1] >> 3) << 5 | pixel[2] >> 3);
}

static int is_opaque(const uint8_t *pixel) { return pixel[3] >= 128; }
static int channel_of(const struct bin *bin, int axis) { return bin->key >> (10 - 5 * axis) & 31; }

static int compare(const struct bin *a, const struct bin *b, int axis) {
    int difference = channel_of(a, axis) - channel_of(b, axis);
    return difference ? difference : (int)a->key - (int)b->key;
}
static int by_red(const void *a, const void *b) { return compare(a, b, 0); }
static int by_green(const void *a, const void *b) { return compare(a, b, 1); }
static int by_blue(const void *a, const void *b) { return compare(a, b, 2); }

static void measure(struct box *box, const struct bin *bins) {
    box->range = 0;
    box->axis = 0;
    box->weight = 0;
    for (int axis = 0; axis < 3; axis++) {
        int low = 31, high = 0;
        for (size_t i = box->first; i < box->first + box->count; i++) {
            int value = channel_of(bins + i, axis);
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        if (high - low > box->range) {
            box->range = high - low;
            box->axis = axis;
        }
    }
    for (size_t i = box->first; i < box->first + box->count; i++) box->weight += bins[i].count;
}

/// Splits the box with the largest product of pixels and extent; returns 0 if no box can be split.
static int split(struct box *boxes, size_t *count, struct bin *bins) {
    struct box *widest = NULL;
    for (size_t i = 0; i < *count; i++)
        if (boxes[i].range && (!widest || boxes[i].weight * boxes[i].range > widest->weight * widest->range))
            widest = boxes + i;
    if (!widest) return 0;
    int (*orders[3])(const void *, const void *) = {by_red, by_green, by_blue};
    qsort(bins + widest->first, widest->count, sizeof *bins, orders[widest->axis]);
    uint64_t half = widest->weight / 2, sum = 0;
    size_t left = 0;
    while (left + 1 < widest->count && (left == 0 || sum + bins[widest->first + left].count <= half))
        sum += bins[widest->first + left++].count;
    boxes[*count] = (struct box){.first = widest->first + left, .count = widest->count - left};
    widest->count = left;
    measure(widest, bins);
    measure(boxes + (*count)++, bins);
    return 1;
}

static void assign_colour(
    const struct box *box, const struct bin *bins, uint8_t *colour, uint8_t *index_of_key, uint8_t index) {
    uint64_t sum[3] = {0, 0, 0};
    for (size_t i = box->first; i < box->first + box->count; i++) {
        index_of_key[bins[i].key] = index;
        for (int channel = 0; channel < 3; channel++) sum[channel] += bins[i].sum[channel];
    }
    for (int channel = 0; channel < 3; channel++)
        colour[channel] = (uint8_t)((sum[channel] + box->weight / 2) / box->weight);
}

/// Collects the exact colours; returns their number, or -1 if there are more than `limit`.
static int exact_palette(const uint8_t *pixels, size_t count, int limit, uint8_t *colours, uint8_t *indices) {
    uint32_t slots[1024];
    int16_t owners[1024], used = 0;
    memset(owners, -1, sizeof owners);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *pixel = pixels + 4 * i;
        if (!is_opaque(pixel)) continue;
        uint32_t colour = (uint32_t)pixel[0] << 16 | (uint32_t)pixel[1] << 8 | pixel[2];
        uint32_t slot = colour * 2654435761u >> 22;
        while (owners[slot] >= 0 && slots[slot] != colour) slot = (slot + 1) % 1024;
        if (owners[slot] < 0) {
            if (used == limit) return -1;
            memcpy(colours + 3 * used, pixel, 3);
            slots[slot] = colour;
            owners[slot] = used++;
        }
        indices[i] = (uint8_t)owners[slot];
    }
    return used;
}

static size_t histogram(const uint8_t *pixels, size_t count, struct bin *bins) {
    for (size_t i = 0; i < count; i++) {
        const uint8_t *pixel = pixels + 4 * i;
        if (!is_opaque(pixel)) continue;
        struct bin *bin = bins + key_of(pixel);
        bin->count++;
        for (int channel = 0; channel < 3; channel++) bin->sum[channel] += pixel[channel];
    }
    size_t used = 0;
    for (int key = 0; key < BINS; key++) {
        if (!bins[key].count) continue;
        bins[used] = bins[key];
        bins[used++].key = (uint16_t)key;
    }
    return used;
}

int eidetic_pixels_quantize(const uint8_t *pixels, size_t count, int limit, uint8_t *colours, uint8_t *indices) {
    int used = exact_palette(pixels, count, limit, colours, indices);
    if (used < 0) {
        struct bin *bins = calloc(BINS, sizeof *bins);
        uint8_t *index_of_key = malloc(BINS);
        if (!bins || !index_of_key) {
            free(bins);
            free(index_of_key);
            return -1;
        }
        struct box boxes[256] = {{.first = 0, .count = histogram(pixels, count, bins)}};
        size_t box_count = 1;
        measure(boxes, bins);
        while (box_count < (size_t)limit && split(boxes, &box_count, bins)) {}
        for (size_t i = 0; i < box_count; i++)
            assign_colour(boxes + i, bins, colours + 3 * i, index_of_key, (uint8_t)i);
        for (size_t i = 0; i < count; i++) indices[i] = index_of_key[key_of(pixels + 4 * i)];
        free(bins);
        free(index_of_key);
        used = (int)box_count;
    }
    for (size_t i = 0; i < count; i++)
        if (!is_opaque(pixels + 4 * i)) indices[i] = (uint8_t)used;
    return used;
}
