#pragma once

#include <curl/curl.h>

// Functions of libcurl with variable arguments cannot be imported by Swift. There is one here for each type of argument
// that Eidetic passes, such as `eidetic_curl_set_long`.
#define EIDETIC_CURL_SET(name, type)                                                                      \
    static inline CURLcode eidetic_curl_set_##name(CURL *easy, CURLoption option, type value) {          \
        return curl_easy_setopt(easy, option, value);                                                    \
    }
#define EIDETIC_CURL_GET(name, type)                                                                      \
    static inline CURLcode eidetic_curl_get_##name(CURL *easy, CURLINFO info, type *value) {             \
        return curl_easy_getinfo(easy, info, value);                                                     \
    }
#define EIDETIC_CURL_MULTI_SET(name, type)                                                                \
    static inline CURLMcode eidetic_curl_multi_set_##name(CURLM *multi, CURLMoption option, type value) { \
        return curl_multi_setopt(multi, option, value);                                                  \
    }

EIDETIC_CURL_SET(long, long)
EIDETIC_CURL_SET(offset, curl_off_t)
EIDETIC_CURL_SET(string, const char *)
EIDETIC_CURL_SET(pointer, void *)
EIDETIC_CURL_SET(list, struct curl_slist *)
EIDETIC_CURL_SET(writer, curl_write_callback)
EIDETIC_CURL_SET(reader, curl_read_callback)
EIDETIC_CURL_SET(seeker, curl_seek_callback)
EIDETIC_CURL_SET(opener, curl_opensocket_callback)
EIDETIC_CURL_GET(long, long)
EIDETIC_CURL_GET(offset, curl_off_t)
EIDETIC_CURL_GET(string, const char *)
EIDETIC_CURL_GET(pointer, void *)
EIDETIC_CURL_MULTI_SET(long, long)
EIDETIC_CURL_MULTI_SET(pointer, void *)
EIDETIC_CURL_MULTI_SET(watcher, curl_socket_callback)
EIDETIC_CURL_MULTI_SET(timer, curl_multi_timer_callback)

/// Makes `share` hold data of this kind for all handles that use it.
static inline CURLSHcode eidetic_curl_share(CURLSH *share, curl_lock_data data) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, data);
}

/// Calls `curl_global_init`, after initialising OpenSSL without its exit handler.
///
/// `exit` does not stop threads: a thread in a transfer would use memory that OpenSSL's exit handler has freed. This
/// has no effect if the program has initialised OpenSSL before. OpenSSL is looked up by name, because libcurl may use
/// another TLS library, which has no such handler.
CURLcode eidetic_curl_start(void);

/// Converts a host name in UTF-8 to the ASCII form of the DNS ("xn--…"); returns 0 if it has none.
///
/// libcurl does the same with the encoding of the process's locale, which is ASCII by default. So libidn2, which
/// libcurl uses, is called directly. It is looked up by name, because libcurl may be built without it.
int eidetic_curl_ascii_host(const char *host, char *ascii, size_t capacity);

/// Sets the time without an acknowledgement after which the kernel closes a connection (`TCP_USER_TIMEOUT`).
CURLcode eidetic_curl_set_user_timeout(CURL *easy, unsigned int milliseconds);

/// The number of bytes that OpenSSL reads ahead: a little more than two records of the usual size, so that the end of
/// the second one is included.
#define EIDETIC_CURL_READ_AHEAD 33792

/// Makes OpenSSL read all available bytes instead of a single record (`SSL_CTX_set_read_ahead`).
///
/// It has an effect only with versions of libcurl that do not read ahead themselves. libcurl does not know of the bytes
/// that OpenSSL has buffered then, so `eidetic_curl_holds_bytes` must be polled. Proxies with TLS are not supported:
/// with `heeds_environment` nothing is set if the environment defines a proxy.
void eidetic_curl_set_read_ahead(CURL *easy, int heeds_environment);

/// Returns OpenSSL's session of the current connection; NULL if there is none, or none that reads ahead.
const void *eidetic_curl_tls_session(CURL *easy);

/// Returns 1 if a session may have buffered records, or the server has ended it, so that libcurl must be called without
/// an event of the socket.
///
/// It returns 0 once a read has found no more bytes, unless it found the end, which one of several exchanges reads.
int eidetic_curl_holds_bytes(const void *session);

/// Calls `curl_multi_socket_all`, which processes every transfer.
///
/// The function is deprecated, because most transfers have nothing to do if each has a connection of its own. If they
/// share a connection, each event concerns all of them.
CURLMcode eidetic_curl_multi_act_on_all(CURLM *multi);
