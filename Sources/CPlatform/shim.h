// The parts of the platform's C library that its Swift module leaves out, and the macros that
// Swift cannot import.
#ifndef SALLYPORT_CPLATFORM_H
#define SALLYPORT_CPLATFORM_H

#include <stdint.h>
#include <string.h>
#include <netinet/in.h>
#include <sys/socket.h>

#ifdef __linux__
#include <sys/epoll.h>
#include <sys/eventfd.h>

static const uint32_t platform_epoll_in = EPOLLIN;
static const uint32_t platform_epoll_out = EPOLLOUT;
static const uint32_t platform_epoll_hangup = EPOLLHUP;
static const uint32_t platform_epoll_error = EPOLLERR;
static const uint32_t platform_epoll_read_hangup = EPOLLRDHUP;
static const uint32_t platform_epoll_edge_triggered = EPOLLET;
static const int platform_epoll_close_on_exec = EPOLL_CLOEXEC;
static const int platform_no_signal = MSG_NOSIGNAL;
static const int platform_transparent = IP_TRANSPARENT;
static const int platform_transparent_v6 = 75; /* IPV6_TRANSPARENT */
static const int platform_peek = MSG_PEEK;

// Declared here because the feature macro that declares them elsewhere changes types that Swift's
// own module of the C library has too.
extern int accept4(int, struct sockaddr *, socklen_t *, int);
extern int sched_getaffinity(int, unsigned long, void *);

/// A new event counter that never blocks and is closed on exec; -1 with errno on failure.
static inline int platform_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

/// Accepts a connection as a descriptor that never blocks and is closed on exec.
static inline int platform_accept(int listener, struct sockaddr_storage *address, socklen_t *length) {
    return accept4(listener, (struct sockaddr *)address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/// A stream socket that never blocks and is closed on exec.
static inline int platform_stream_socket(int family) {
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static inline int platform_socket_name(int socket, struct sockaddr_storage *address, socklen_t *length) {
    return getsockname(socket, (struct sockaddr *)address, length);
}

static inline int platform_peer_name(int socket, struct sockaddr_storage *address, socklen_t *length) {
    return getpeername(socket, (struct sockaddr *)address, length);
}

static inline int platform_bind(int socket, const struct sockaddr_storage *address, socklen_t length) {
    return bind(socket, (const struct sockaddr *)address, length);
}

static inline int platform_connect(int socket, const struct sockaddr_storage *address, socklen_t length) {
    return connect(socket, (const struct sockaddr *)address, length);
}

/// How many processors this process may run on; 0 if the kernel does not say.
static inline int platform_processor_count(void) {
    unsigned char set[1024] = {0};
    int size = sched_getaffinity(0, sizeof(set), set), count = 0;
    if (size < 0) return 0;
    for (unsigned long i = 0; i < sizeof(set); i++) count += __builtin_popcount(set[i]);
    return count;
}
#endif

/// Two connected sockets that do not block and are not inherited.
static inline int platform_stream_pair(int *first, int *second) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0) return -1;
    *first = pair[0];
    *second = pair[1];
    return 0;
}

/// Where a redirected connection was going (SO_ORIGINAL_DST, which both families have as 80).
static inline int platform_original_destination(int descriptor, struct sockaddr_storage *address) {
#ifdef __linux__
    socklen_t length = sizeof(*address);
    memset(address, 0, sizeof(*address));
    if (getsockopt(descriptor, SOL_IP, 80, address, &length) == 0) return 0;
    length = sizeof(*address);
    return getsockopt(descriptor, SOL_IPV6, 80, address, &length);
#else
    (void)descriptor;
    (void)address;
    return -1;
#endif
}

#endif
