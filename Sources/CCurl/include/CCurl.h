#ifndef EIDETIC_CURL_H
#define EIDETIC_CURL_H

#endif
