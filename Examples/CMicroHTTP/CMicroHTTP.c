#define _GNU_SOURCE
#include "CMicroHTTP.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

static const unsigned idle_seconds = 30;

/// Whether the request of this thread's connection has its response.
static _Thread_local bool is_answered;

static enum MHD_Result receive(void *handler, struct MHD_Connection *connection, const char *path, const char *method,
                               const char *version, const char *data, size_t *length, void **request) {
    static int is_begun;
    (void)version, (void)data;
    // The first call has the head only; the second one follows when a body, if there is one, may be read.
    if (!*request) {
        *request = &is_begun;
        return MHD_YES;
    }
    if (*length) {
        *length = 0;
        return MHD_YES;
    }
    is_answered = false;
    if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD)) {
        static const char reason[] = "only GET and HEAD are supported\n";
        http_respond(connection, (http_response){MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", NULL, reason,
                                                 sizeof reason - 1});
    } else {
        ((http_handler)handler)(connection, path);
        // Without a response the function would be called again; so the connection of a client that has left is closed.
    }
    return is_answered ? MHD_YES : MHD_NO;
}

static sigset_t stop_signals(void) {
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGINT);
    return stops;
}

void http_block_signals(void) {
    sigset_t stops = stop_signals();
    pthread_sigmask(SIG_BLOCK, &stops, NULL);
}

bool http_serve(uint16_t port, unsigned connections, http_handler handler, void (*listening)(uint16_t)) {
    sigset_t stops = stop_signals();
    int number;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    signal(SIGPIPE, SIG_IGN);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, port, NULL, NULL, receive,
        (void *)handler, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds, MHD_OPTION_END);
    if (!daemon) return false;
    listening(MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    while (sigwait(&stops, &number)) continue;
    // Shuts the connections down: http_wait sees their clients leave.
    MHD_stop_daemon(daemon);
    return true;
}

const char *http_parameter(http_connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *http_field(http_connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

bool http_wait(http_connection *connection, int event) {
    int client = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    struct pollfd waits[] = {{.fd = event, .events = POLLIN}, {.fd = client, .events = POLLRDHUP}};
    while (poll(waits, 2, -1) < 0 && errno == EINTR) continue;
    return waits[0].revents != 0;
}

void http_respond(http_connection *connection, http_response response) {
    struct MHD_Response *sent =
        MHD_create_response_from_buffer(response.length, (void *)response.body, MHD_RESPMEM_MUST_COPY);
    if (!sent) return;
    MHD_add_response_header(sent, MHD_HTTP_HEADER_CONTENT_TYPE, response.content_type);
    if (response.entity_tag) {
        MHD_add_response_header(sent, MHD_HTTP_HEADER_ETAG, response.entity_tag);
        MHD_add_response_header(sent, MHD_HTTP_HEADER_CACHE_CONTROL, "max-age=300");
    }
    is_answered = MHD_queue_response(connection, response.status, sent) == MHD_YES;
    MHD_destroy_response(sent);
}
