#define _GNU_SOURCE
#include "CCurl.h"
#include "ReadAhead.h"

#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

CURLcode eidetic_curl_start(void) {
    // OPENSSL_INIT_NO_ATEXIT, of <openssl/crypto.h>.
    const uint64_t no_exit_handler = 0x00080000;
    int (*init_crypto)(uint64_t, const void *) = (int (*)(uint64_t, const void *))dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto");
    if (init_crypto) init_crypto(no_exit_handler, NULL);
    CURLcode code = curl_global_init(CURL_GLOBAL_ALL);
    if (code == CURLE_OK) eidetic_curl_find_tls();
    return code;
}

#define HOST_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"

int eidetic_curl_ascii_host(const char *host, char *ascii, size_t capacity) {
    // IDN2_NFC_INPUT, IDN2_TRANSITIONAL, IDN2_NONTRANSITIONAL and IDN2_DISALLOWED, of <idn2.h>.
    enum { nfc_input = 1, transitional = 4, nontransitional = 8, disallowed = -304 };
    int (*look_up)(const uint8_t *, uint8_t **, int) =
        (int (*)(const uint8_t *, uint8_t **, int))dlsym(RTLD_DEFAULT, "idn2_lookup_u8");
    void (*release)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "idn2_free");
    if (!look_up || !release) return 0;
    uint8_t *found = NULL;
    int result = look_up((const uint8_t *)host, &found, nfc_input | nontransitional);
    // As curl: symbols such as emoji are valid in URLs, but not in IDNA 2008.
    if (result == disallowed) result = look_up((const uint8_t *)host, &found, nfc_input | transitional);
    if (result != 0) return 0;
    size_t length = strlen((const char *)found);
    // A character may stand for several, such as a slash.
    int is_host = strspn((const char *)found, HOST_CHARACTERS) == length && length < capacity;
    if (is_host) memcpy(ascii, found, length + 1);
    release(found);
    return is_host;
}

static int set_user_timeout(void *milliseconds, curl_socket_t socket, curlsocktype purpose) {
    unsigned int limit = (unsigned int)(uintptr_t)milliseconds;
    // Without the option the limit of the kernel applies, which is several minutes.
    if (purpose == CURLSOCKTYPE_IPCXN) setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
    return CURL_SOCKOPT_OK;
}

CURLcode eidetic_curl_set_user_timeout(CURL *easy, unsigned int milliseconds) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, set_user_timeout);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, (void *)(uintptr_t)milliseconds);
    return code;
}

CURLMcode eidetic_curl_multi_act_on_all(CURLM *multi) {
    int running = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return curl_multi_socket_all(multi, &running);
#pragma GCC diagnostic pop
}
