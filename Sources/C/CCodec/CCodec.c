#include "CCodec.h"

#include <dlfcn.h>

bool eidetic_codec_load(eidetic_codec_library *library, const eidetic_codec_symbol *symbols, unsigned count) {
    void *handle = dlopen(library->name, RTLD_NOW | RTLD_LOCAL);
    for (unsigned i = 0; handle && i < count; i++) {
        *symbols[i].address = dlsym(handle, symbols[i].name);
        if (!*symbols[i].address) handle = NULL;
    }
    if (!handle) {
        const char *reason = dlerror();
        snprintf(library->message, sizeof library->message, "%s", reason ? reason : library->name);
    }
    return library->is_loaded = handle != NULL;
}
