// The parts of the platform's C library that its Swift module leaves out, and the macros that
// Swift cannot import.
#ifndef SALLYPORT_CPLATFORM_H
#define SALLYPORT_CPLATFORM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

static const uint32_t platform_epoll_in = EPOLLIN;
static const uint32_t platform_epoll_out = EPOLLOUT;
static const uint32_t platform_epoll_hangup = EPOLLHUP;
static const uint32_t platform_epoll_error = EPOLLERR;
static const uint32_t platform_epoll_read_hangup = EPOLLRDHUP;
static const uint32_t platform_epoll_edge_triggered = EPOLLET;

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

/// How many processors this process may run on.
static inline int platform_processor_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
    return CPU_COUNT(&set);
}
#endif

#endif
