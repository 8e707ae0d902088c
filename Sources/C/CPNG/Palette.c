#include "Palette.h"

#include <string.h>

static uint32_t key(const eidetic_png_form *form, const uint8_t *pixel) {
    uint32_t key;
    memcpy(&key, (const uint8_t[4]){pixel[0], pixel[1], pixel[2], form->has_alpha ? pixel[3] : 255}, 4);
    return key;
}

// The slot of a colour, or the empty one where it belongs.
static unsigned slot(const eidetic_png_form *form, uint32_t key) {
    unsigned slot = (key * 2654435761u) >> 22;
    while (form->indices[slot] >= 0 && form->keys[slot] != key) slot = (slot + 1) % EIDETIC_PNG_FORM_SLOTS;
    return slot;
}

// What is known of the pixels so far.
typedef struct {
    int is_grey, is_opaque, is_palette;
} facts;

// Returns 0 as soon as the form cannot be smaller.
static int add(eidetic_png_form *form, facts *facts, const uint8_t *pixel) {
    if (pixel[0] != pixel[1] || pixel[1] != pixel[2]) facts->is_grey = 0;
    if (form->has_alpha && pixel[3] != 255) facts->is_opaque = 0;
    if (facts->is_palette) {
        uint32_t colour = key(form, pixel);
        unsigned place = slot(form, colour);
        if (form->indices[place] < 0 && form->count == 256) {
            facts->is_palette = 0;
        } else if (form->indices[place] < 0) {
            form->keys[place] = colour;
            form->indices[place] = (int16_t)form->count;
            memcpy(form->colours[form->count++], &colour, 4);
        }
    }
    return facts->is_palette || facts->is_grey || (form->has_alpha && facts->is_opaque);
}

// Puts the colours that are not opaque first, because only those have an entry for alpha.
static void sort(eidetic_png_form *form) {
    uint8_t colours[256][4];
    int16_t places[256];
    int next = 0;
    for (int opaque = 0; opaque < 2; opaque++) {
        for (int i = 0; i < form->count; i++) {
            if ((form->colours[i][3] == 255) != opaque) continue;
            memcpy(colours[next], form->colours[i], 4);
            places[i] = (int16_t)next++;
        }
        if (!opaque) form->transparent = next;
    }
    memcpy(form->colours, colours, sizeof colours[0] * (size_t)form->count);
    for (int i = 0; i < EIDETIC_PNG_FORM_SLOTS; i++) {
        if (form->indices[i] >= 0) form->indices[i] = places[form->indices[i]];
    }
}

// The fewest bits in which all shades have a value: 17 has one in 4 bits, 85 in 2, 255 in 1.
static int grey_depth(const eidetic_png_form *form) {
    for (int depth = 1; depth < 8; depth *= 2) {
        int step = 255 / ((1 << depth) - 1), fits = 1;
        for (int i = 0; i < form->count && fits; i++) fits = form->colours[i][0] % step == 0;
        if (fits) return depth;
    }
    return 8;
}

static int palette_depth(int count) { return count <= 2 ? 1 : count <= 4 ? 2 : count <= 16 ? 4 : 8; }

static void choose(eidetic_png_form *form, const facts *facts) {
    int grey = facts->is_grey && facts->is_opaque ? grey_depth(form) : 16;
    if (facts->is_palette && palette_depth(form->count) < grey) {
        form->kind = EIDETIC_PNG_FORM_PALETTE;
        form->depth = palette_depth(form->count);
        sort(form);
    } else if (facts->is_grey) {
        form->kind = facts->is_opaque ? EIDETIC_PNG_FORM_GREY : EIDETIC_PNG_FORM_GREY_ALPHA;
        form->depth = facts->is_opaque ? grey : 8;
    } else {
        form->kind = facts->is_opaque ? EIDETIC_PNG_FORM_COLOUR : EIDETIC_PNG_FORM_COLOUR_ALPHA;
    }
}

void eidetic_png_find_form(
    eidetic_png_form *form, const uint8_t *pixels, size_t bytes_per_row, uint32_t width, uint32_t height,
    int has_alpha, int keeps_form) {
    memset(form, 0, sizeof *form);
    memset(form->indices, 0xff, sizeof form->indices);
    form->has_alpha = has_alpha;
    form->depth = 8;
    facts facts = {.is_grey = !keeps_form, .is_opaque = !keeps_form || !has_alpha, .is_palette = !keeps_form};
    int goes_on = !keeps_form;
    for (uint32_t y = 0; y < height && goes_on; y++) {
        const uint8_t *row = pixels + y * bytes_per_row;
        for (uint32_t x = 0; x < width && goes_on; x++) {
            // Neighbours are often equal.
            if (x > 0 && !memcmp(row + 4 * x, row + 4 * x - 4, 4)) continue;
            goes_on = add(form, &facts, row + 4 * x);
        }
    }
    choose(form, &facts);
}

int eidetic_png_form_row(const eidetic_png_form *form, const uint8_t *pixels, uint32_t width, uint8_t *row) {
    switch (form->kind) {
    case EIDETIC_PNG_FORM_COLOUR:
    case EIDETIC_PNG_FORM_COLOUR_ALPHA: return 0;
    case EIDETIC_PNG_FORM_GREY:
        for (uint32_t x = 0; x < width; x++) row[x] = pixels[4 * x] >> (8 - form->depth);
        return 1;
    case EIDETIC_PNG_FORM_GREY_ALPHA:
        for (uint32_t x = 0; x < width; x++) row[2 * x] = pixels[4 * x], row[2 * x + 1] = pixels[4 * x + 3];
        return 1;
    case EIDETIC_PNG_FORM_PALETTE:
        for (uint32_t x = 0; x < width; x++) {
            int is_repeated = x > 0 && !memcmp(pixels + 4 * x, pixels + 4 * x - 4, 4);
            row[x] = is_repeated ? row[x - 1] : (uint8_t)form->indices[slot(form, key(form, pixels + 4 * x))];
        }
        return 1;
    }
    return 0;
}
