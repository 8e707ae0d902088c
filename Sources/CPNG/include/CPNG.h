#ifndef EIDETIC_PNG_H
#define EIDETIC_PNG_H

#endif
