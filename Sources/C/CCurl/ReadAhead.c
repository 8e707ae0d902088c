#define _GNU_SOURCE
#include "ReadAhead.h"
#include "CCurl.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// Functions of OpenSSL, looked up by name, because libcurl may use another TLS library.
static struct {
    long (*set_option)(void *context, int option, long value, void *pointer);
    void (*set_buffer)(void *context, size_t length);
    int (*has_pending)(const void *session);
    int (*shutdown)(const void *session);
    void *(*input)(const void *session);
    int (*test_flags)(const void *input, int flags);
} tls;

/// Returns 1 if this version of libcurl benefits.
///
/// 7.88 reads one record at a time, with two system calls. From 8.15 on libcurl reads ahead itself.
static int is_supported(const curl_version_info_data *curl) {
    return curl->version_num >= 0x075800 && curl->version_num < 0x080000;
}

/// Returns 1 if the OpenSSL found by name is the one that libcurl uses: a process may contain two.
static int is_used_by(const curl_version_info_data *curl) {
    // OPENSSL_VERSION_STRING, of <openssl/crypto.h>.
    const int version_string = 6;
    const char *(*version)(int) = (const char *(*)(int))dlsym(RTLD_DEFAULT, "OpenSSL_version");
    static const char name[] = "OpenSSL/";
    return version && curl->ssl_version && strncmp(curl->ssl_version, name, sizeof name - 1) == 0 &&
           strcmp(curl->ssl_version + sizeof name - 1, version(version_string)) == 0;
}

void eidetic_curl_find_tls(void) {
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    if (!is_supported(curl) || !is_used_by(curl)) return;
    tls.set_option = (long (*)(void *, int, long, void *))dlsym(RTLD_DEFAULT, "SSL_CTX_ctrl");
    tls.set_buffer = (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "SSL_CTX_set_default_read_buffer_len");
    tls.has_pending = (int (*)(const void *))dlsym(RTLD_DEFAULT, "SSL_has_pending");
    tls.shutdown = (int (*)(const void *))dlsym(RTLD_DEFAULT, "SSL_get_shutdown");
    tls.input = (void *(*)(const void *))dlsym(RTLD_DEFAULT, "SSL_get_rbio");
    tls.test_flags = (int (*)(const void *, int))dlsym(RTLD_DEFAULT, "BIO_test_flags");
}

static int can_read_ahead(void) {
    return tls.set_option && tls.set_buffer && tls.has_pending && tls.shutdown && tls.input && tls.test_flags;
}

/// Returns 1 if the environment defines a proxy for libcurl.
static int has_proxy(void) {
    static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value) return 1;
    }
    return 0;
}

static CURLcode prepare(CURL *easy, void *context, void *heeds_environment) {
    (void)easy;
    // SSL_CTRL_SET_READ_AHEAD, of <openssl/ssl.h>.
    const int set_read_ahead = 41;
    if (heeds_environment && has_proxy()) return CURLE_OK;
    tls.set_option(context, set_read_ahead, 1, NULL);
    tls.set_buffer(context, EIDETIC_CURL_READ_AHEAD);
    return CURLE_OK;
}

void eidetic_curl_set_read_ahead(CURL *easy, int heeds_environment) {
    if (!can_read_ahead()) return;
    // A libcurl with another TLS library refuses the option, and does not read ahead.
    if (curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, prepare) != CURLE_OK) return;
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, (void *)(uintptr_t)(heeds_environment != 0));
}

const void *eidetic_curl_tls_session(CURL *easy) {
    struct curl_tlssessioninfo *info = NULL;
    if (!can_read_ahead() || curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || !info) return NULL;
    return info->backend == CURLSSLBACKEND_OPENSSL ? info->internals : NULL;
}

int eidetic_curl_holds_bytes(const void *session) {
    // SSL_RECEIVED_SHUTDOWN, of <openssl/ssl.h>: one exchange has read the end; the others are not called for it.
    const int received_end = 2;
    if (tls.shutdown(session) & received_end) return 1;
    // BIO_FLAGS_READ, of <openssl/bio.h>: set if the last read must be repeated later.
    const int should_read = 1;
    void *input = tls.input(session);
    return input && tls.has_pending(session) && !tls.test_flags(input, should_read);
}
