#ifndef EIDETIC_PIXELS_H
#define EIDETIC_PIXELS_H

#endif
