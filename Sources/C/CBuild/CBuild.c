#include "CBuild.h"

#ifndef EIDETIC_COMMIT
#define EIDETIC_COMMIT ""
#endif

const char *eidetic_build_commit(void) {
    return EIDETIC_COMMIT;
}
