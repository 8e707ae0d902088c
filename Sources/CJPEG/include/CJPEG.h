#ifndef EIDETIC_JPEG_H
#define EIDETIC_JPEG_H

#endif
