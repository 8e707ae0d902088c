#ifndef EIDETIC_CURL_H
#define EIDETIC_CURL_H

#include <curl/curl.h>

/// `curl_easy_setopt`, `curl_easy_getinfo` and `curl_multi_setopt` take variable arguments, which Swift cannot import.
/// There is one function here for each type of argument that Eidetic passes.

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

CURLcode eidetic_curl_set_long(CURL *easy, CURLoption option, long value);
CURLcode eidetic_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value);
CURLcode eidetic_curl_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode eidetic_curl_set_pointer(CURL *easy, CURLoption option, void *value);
CURLcode eidetic_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value);

/// Sets the callbacks for the body (`receive`) and for the lines of the head (`receive_header`), with their context.
CURLcode eidetic_curl_set_receivers(CURL *easy, curl_write_callback receive, curl_write_callback receive_header,
                                    void *context);

/// Sets the callbacks that read the body of a request (`read`) and move to another place of it (`seek`).
CURLcode eidetic_curl_set_sender(CURL *easy, curl_read_callback read, curl_seek_callback seek, void *context);

/// Sets the callback that opens each socket, and so sees the address of the connection itself.
CURLcode eidetic_curl_set_socket_opener(CURL *easy, curl_opensocket_callback open, void *context);

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

CURLcode eidetic_curl_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode eidetic_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value);
CURLcode eidetic_curl_get_string(CURL *easy, CURLINFO info, const char **value);
CURLcode eidetic_curl_get_pointer(CURL *easy, CURLINFO info, void **value);

CURLMcode eidetic_curl_multi_set_long(CURLM *multi, CURLMoption option, long value);

/// Sets the callbacks for changes of sockets (`watch`) and of the timer (`time`), with their context.
CURLMcode eidetic_curl_multi_set_watchers(CURLM *multi, curl_socket_callback watch, curl_multi_timer_callback time,
                                          void *context);

/// Calls `curl_multi_socket_all`, which processes every transfer.
///
/// The function is deprecated, because most transfers have nothing to do if each has a connection of its own. If they
/// share a connection, each event concerns all of them.
CURLMcode eidetic_curl_multi_act_on_all(CURLM *multi);

/// Makes `share` hold data of this kind for all handles that use it.
CURLSHcode eidetic_curl_share(CURLSH *share, curl_lock_data data);

#endif
