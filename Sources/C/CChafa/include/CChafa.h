// Draws images on terminals with libchafa, which is loaded when the first image is shown. Written in C because its
// headers need those of GLib, with which the package manager would link both libraries.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The ways of drawing, with libchafa's numbers.
typedef enum {
    EIDETIC_CHAFA_BLOCKS = 0,
    EIDETIC_CHAFA_SIXEL = 1,
    EIDETIC_CHAFA_KITTY = 2,
} eidetic_chafa_graphics;

// The cells of a terminal that an image covers, and the size of a cell in pixels.
typedef struct {
    int columns, rows;
    int cell_width, cell_height;
} eidetic_chafa_area;

// Pixels of eight bits each of red, green, blue and alpha.
typedef struct {
    const uint8_t *bytes;
    int width, height, bytes_per_row;
    bool is_premultiplied;
} eidetic_chafa_pixels;

// Returns NULL if libchafa can be used, else the reason.
const char *eidetic_chafa_failure(void);

// Returns the best way that the terminal supports according to the environment; blocks without libchafa.
eidetic_chafa_graphics eidetic_chafa_detect(void);

// Returns the bytes that draw an image at the cursor, to be released with `free`, and their number; NULL without
// libchafa or memory.
char *eidetic_chafa_draw(
    const eidetic_chafa_pixels *pixels, eidetic_chafa_area area, eidetic_chafa_graphics graphics, size_t *count);
