#ifndef EIDETIC_MICRO_HTTP_H
#define EIDETIC_MICRO_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>

/// What an example needs of libmicrohttpd, whose functions have variable arguments: a server of GET requests, with a
/// thread for each connection.

/// A connection with the request that it has sent.
typedef struct MHD_Connection http_connection;

/// A response; the body and the texts are copied.
typedef struct {
    unsigned status;
    const char *content_type;
    const char *entity_tag; // NULL for none
    const void *body;
    size_t length;
} http_response;

/// Answers a request with http_respond; called on the thread of its connection, which it may block. A connection whose
/// request is not answered is closed.
typedef void (*http_handler)(http_connection *connection, const char *path);

/// Has http_serve receive SIGTERM and SIGINT; to be called before other threads are started.
void http_block_signals(void);

/// Serves requests at a port of the loopback interface until the process receives SIGTERM or SIGINT.
///
/// Port 0 stands for a free one. `listening` is called with the port once connections are accepted. Returns false if
/// the port cannot be used.
bool http_serve(uint16_t port, unsigned connections, http_handler handler, void (*listening)(uint16_t));

/// Returns the decoded value of a parameter behind the "?", or of a header field; NULL if there is none.
const char *http_parameter(http_connection *connection, const char *name);
const char *http_field(http_connection *connection, const char *name);

/// Blocks until an eventfd is signalled, or the client has left; false if it has left.
bool http_wait(http_connection *connection, int event);

/// Sends the response, without its body for HEAD and status 304.
void http_respond(http_connection *connection, http_response response);

#endif
