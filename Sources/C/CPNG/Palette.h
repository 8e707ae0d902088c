#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum {
    EIDETIC_PNG_FORM_COLOUR,
    EIDETIC_PNG_FORM_COLOUR_ALPHA,
    EIDETIC_PNG_FORM_GREY,
    EIDETIC_PNG_FORM_GREY_ALPHA,
    EIDETIC_PNG_FORM_PALETTE,
} eidetic_png_form_kind;

enum { EIDETIC_PNG_FORM_SLOTS = 1024 };

/// The samples in which a file holds an image without loss.
typedef struct {
    eidetic_png_form_kind kind;
    int depth;               // bits of a sample
    int has_alpha;           // whether the fourth byte counts
    int count, transparent;  // of the colours, and of those of them that are not opaque, which come first
    uint8_t colours[256][4];
    // A hash table from colours to their indices; -1 for an empty slot.
    uint32_t keys[EIDETIC_PNG_FORM_SLOTS];
    int16_t indices[EIDETIC_PNG_FORM_SLOTS];
} eidetic_png_form;

/// Finds the smallest form; with `keeps_form`, that of 8 bits a channel with alpha as `has_alpha` says.
void eidetic_png_find_form(
    eidetic_png_form *form, const uint8_t *pixels, size_t bytes_per_row, uint32_t width, uint32_t height,
    int has_alpha, int keeps_form);

/// Writes a row in the form, a byte per sample. Returns 0 if the pixels are in it already.
int eidetic_png_form_row(const eidetic_png_form *form, const uint8_t *pixels, uint32_t width, uint8_t *row);
