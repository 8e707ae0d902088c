#pragma once

/// Looks up the functions of OpenSSL; must be called once, before any transfer.
void eidetic_curl_find_tls(void);
