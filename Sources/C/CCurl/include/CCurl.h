#ifndef EIDETIC_CURL_H
#define EIDETIC_CURL_H

#include <curl/curl.h>

/// `curl_easy_setopt`, `curl_easy_getinfo` and `curl_multi_setopt` take variable arguments, which Swift cannot call.
/// There is one function here for each kind of argument that Eidetic passes.

/// `curl_global_init`, with an OpenSSL that is not torn down when the process ends.
///
/// `exit` does not stop threads: one that is in the midst of a transfer would use what OpenSSL's exit handler has freed.
/// Only where the program has not used OpenSSL before. Asked for by name, since libcurl may be built with another library for TLS, which has no such handler.
CURLcode eidetic_curl_start(void);

/// Writes a host of UTF-8 in the form that name servers know ("xn--…"); gives 0 where there is none.
///
/// libcurl does the same with the encoding of the process's locale, and that is ASCII unless the program says otherwise.
/// So it is libcurl's own library that is asked here, by name, for libcurl may be built without.
int eidetic_curl_ascii_host(const char *host, char *ascii, size_t capacity);

CURLcode eidetic_curl_set_long(CURL *easy, CURLoption option, long value);
CURLcode eidetic_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value);
CURLcode eidetic_curl_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode eidetic_curl_set_pointer(CURL *easy, CURLoption option, void *value);
CURLcode eidetic_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value);

/// The body goes to `receive`, each line of the head to `receive_header`; `context` is handed to both.
CURLcode eidetic_curl_set_receivers(CURL *easy, curl_write_callback receive, curl_write_callback receive_header,
                                    void *context);
/// `open` makes each socket, and so sees the address that is really used.
CURLcode eidetic_curl_set_socket_opener(CURL *easy, curl_opensocket_callback open, void *context);

/// The kernel gives each connection up on which nothing that was sent is acknowledged for so long (`TCP_USER_TIMEOUT`).
CURLcode eidetic_curl_set_patience(CURL *easy, unsigned int milliseconds);

/// How many bytes OpenSSL takes from the system at once: two records of the usual size and a little, lest the second always
/// lacks its end.
#define EIDETIC_CURL_READ_AHEAD 33792

/// Lets OpenSSL take what the system has instead of one record (`SSL_CTX_set_read_ahead`), where libcurl can be helped with that:
/// it does not know of the bytes that OpenSSL then holds. Not through proxies that speak TLS themselves, so through none that
/// the environment names, where that is heeded.
void eidetic_curl_set_read_ahead(CURL *easy, int heeds_environment);

/// OpenSSL's session of the connection that `easy` uses now; NULL where there is none, or none that reads ahead.
const void *eidetic_curl_tls_session(CURL *easy);

/// Whether a session may hold records that were taken from the system and not been read, so that libcurl should be called
/// although the system has none: until a read found nothing more there.
int eidetic_curl_holds_bytes(const void *session);

CURLcode eidetic_curl_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode eidetic_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value);
CURLcode eidetic_curl_get_string(CURL *easy, CURLINFO info, const char **value);
CURLcode eidetic_curl_get_pointer(CURL *easy, CURLINFO info, void **value);
CURLcode eidetic_curl_get_list(CURL *easy, CURLINFO info, struct curl_slist **value);

CURLMcode eidetic_curl_multi_set_long(CURLM *multi, CURLMoption option, long value);

/// `watch` is told which sockets to wait for, `time` when to call libcurl without one; `context` is handed to both.
CURLMcode eidetic_curl_multi_set_watchers(CURLM *multi, curl_socket_callback watch, curl_multi_timer_callback time,
                                          void *context);

/// `curl_multi_socket_all`: looks after every transfer. Deprecated, since most have nothing to do where each has a
/// connection of its own; where they share one, each event concerns all of them.
CURLMcode eidetic_curl_multi_act_on_all(CURLM *multi);

/// Makes `share` hold cookies for all handles that use it.
CURLSHcode eidetic_curl_share_cookies(CURLSH *share);

#endif
