#ifndef EIDETIC_CURL_READ_AHEAD_H
#define EIDETIC_CURL_READ_AHEAD_H

/// Looks up the functions of OpenSSL; must be called once, before any transfer.
void eidetic_curl_find_tls(void);

#endif
