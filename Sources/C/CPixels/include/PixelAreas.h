#pragma once

#include <stddef.h>
#include <stdint.h>

/// The pixels that a function reads; `stride` is the length of a row in bytes.
typedef struct {
    const uint8_t *pixels;
    size_t stride, width, height;
} eidetic_pixels_source;

/// The memory that a function writes to; `stride` is the length of a row in bytes.
typedef struct {
    uint8_t *pixels;
    size_t stride;
} eidetic_pixels_target;

/// A range of rows, without `end`.
typedef struct {
    size_t first, end;
} eidetic_rows;
