#include "CBareCodecs.h"

#include <stdlib.h>

#include <lcms2.h>

size_t eidetic_bare_display_p3(unsigned char *bytes, size_t capacity) {
    cmsCIExyY white = {0.3127, 0.329, 1};
    cmsCIExyYTRIPLE primaries = {{0.68, 0.32, 1}, {0.265, 0.69, 1}, {0.15, 0.06, 1}};
    cmsFloat64Number parameters[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    cmsToneCurve *curve = cmsBuildParametricToneCurve(NULL, 4, parameters);
    cmsHPROFILE profile = cmsCreateRGBProfile(&white, &primaries, (cmsToneCurve *[]){curve, curve, curve});
    cmsUInt32Number count = (cmsUInt32Number)capacity;
    if (!cmsSaveProfileToMem(profile, bytes, &count)) abort();
    cmsCloseProfile(profile);
    cmsFreeToneCurve(curve);
    return count;
}

void eidetic_bare_lcms_convert(
    const unsigned char *profile, size_t profile_size, const unsigned char *pixels, size_t count,
    unsigned char *target) {
    cmsHPROFILE from = cmsOpenProfileFromMem(profile, (cmsUInt32Number)profile_size), to = cmsCreate_sRGBProfile();
    cmsHTRANSFORM transform =
        cmsCreateTransform(from, TYPE_RGBA_8, to, TYPE_RGBA_8, INTENT_PERCEPTUAL, cmsFLAGS_COPY_ALPHA);
    if (!transform) abort();
    cmsDoTransform(transform, pixels, target, (cmsUInt32Number)count);
    cmsDeleteTransform(transform);
    cmsCloseProfile(to);
    cmsCloseProfile(from);
}
