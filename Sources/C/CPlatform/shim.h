// The parts of the platform's C library that its Swift module leaves out, and the macros that
// Swift cannot import.
#ifndef SALLYPORT_CPLATFORM_H
#define SALLYPORT_CPLATFORM_H

#include <stdint.h>
#include <string.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <link.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

static const uint32_t platform_epoll_in = EPOLLIN;
static const uint32_t platform_epoll_urgent = EPOLLPRI;
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
extern int renameat2(int, const char *, int, const char *, unsigned int);
extern int sched_getaffinity(int, unsigned long, void *);

/// A new event counter that never blocks and is closed on exec; -1 with errno on failure.
static inline int platform_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

/// Gives a file another name, which nothing else has, in one step; -1 with errno, EINVAL where the file system
/// has no such step.
static inline int platform_rename_new(const char *path, const char *target) {
    return renameat2(AT_FDCWD, path, AT_FDCWD, target, 1 /* RENAME_NOREPLACE */);
}

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

/// How long the path of a local socket may be, in bytes, without the NUL behind it.
static const unsigned long platform_local_path_limit = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;

static inline socklen_t platform_local_address(struct sockaddr_un *address, const void *path, unsigned long length) {
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
}

/// Binds to a path that is not longer than the limit.
static inline int platform_local_bind(int socket, const void *path, unsigned long length) {
    struct sockaddr_un address;
    socklen_t size = platform_local_address(&address, path, length);
    return bind(socket, (struct sockaddr *)&address, size);
}

static inline int platform_local_connect(int socket, const void *path, unsigned long length) {
    struct sockaddr_un address;
    socklen_t size = platform_local_address(&address, path, length);
    return connect(socket, (struct sockaddr *)&address, size);
}

/// The user who is at the other end of a local socket; -1 with errno if the kernel does not say.
static inline int platform_peer(int socket, int *process, unsigned int *user) {
    struct { int process; unsigned int user, group; } credentials = {0, 0, 0};
    socklen_t length = sizeof(credentials);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    *process = credentials.process;
    *user = credentials.user;
    return 0;
}

/// What no other network namespace has until the next start of the system; -1 with errno if the kernel does not
/// say.
static inline int platform_network_cookie(unsigned long long *cookie) {
    int socket_of_it = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket_of_it < 0) return -1;
    socklen_t length = sizeof(*cookie);
    int status = getsockopt(socket_of_it, SOL_SOCKET, 71 /* SO_NETNS_COOKIE */, cookie, &length);
    close(socket_of_it);
    return status;
}

/// How many processors this process may run on; 0 if the kernel does not say.
static inline int platform_processor_count(void) {
    unsigned char set[1024] = {0};
    int size = sched_getaffinity(0, sizeof(set), set), count = 0;
    if (size < 0) return 0;
    for (unsigned long i = 0; i < sizeof(set); i++) count += __builtin_popcount(set[i]);
    return count;
}

// Namespaces (sched.h, declared as above for the same reason), mounts and the life of a process.
extern int unshare(int);
static const int platform_new_mounts = 0x00020000;
static const int platform_new_users = 0x10000000;
static const int platform_new_network = 0x40000000;
static const unsigned long platform_mount_bind = MS_BIND | MS_REC;
static const unsigned long platform_mount_slave = MS_SLAVE | MS_REC;
static const unsigned long platform_mount_read_only = MS_RDONLY;

static inline int platform_unshare(int namespaces) { return unshare(namespaces); }

static inline int platform_mount(const char *source, const char *target, const char *type,
                                 unsigned long flags, const char *options) {
    return mount(source, target, type, flags, options);
}

/// A copy of this process, which must have one thread only: 0 in the copy.
static inline int platform_fork(void) { return fork(); }

/// Has the kernel send a signal to this process when the thread that started it ends.
static inline int platform_end_with_parent(int number) {
    return prctl(PR_SET_PDEATHSIG, (unsigned long)number, 0UL, 0UL, 0UL);
}

// In the C library since 2.29 and 2.34; declared as above for the same reason, and without spawn.h,
// whose types would then be this module's.
extern int posix_spawn_file_actions_addchdir_np(void *, const char *);
extern int posix_spawn_file_actions_addclosefrom_np(void *, int);
static const short platform_spawn_session = 0x80; /* POSIX_SPAWN_SETSID */

/// Has a program begin in a folder, with no descriptor from `first` on. The system's error, 0 for none.
static inline int platform_spawn_apart(void *actions, const char *folder, int first) {
    int number = posix_spawn_file_actions_addclosefrom_np(actions, first);
    return number != 0 ? number : posix_spawn_file_actions_addchdir_np(actions, folder);
}

/// As many descriptors as one message carries here; the kernel's own limit is 253.
#define platform_descriptor_limit 128

/// Sends bytes, at least one, with copies of descriptors.
static inline long platform_send_descriptors(int socket, const void *bytes, unsigned long size,
                                             const int *descriptors, int count) {
    union { char bytes[CMSG_SPACE(sizeof(int) * platform_descriptor_limit)]; struct cmsghdr header; } control;
    struct iovec part = {(void *)bytes, size};
    struct msghdr message = {0};
    if (count < 0 || count > platform_descriptor_limit) { errno = EINVAL; return -1; }
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (count > 0) {
        memset(&control, 0, sizeof(control));
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * (unsigned long)count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * (unsigned long)count);
        memcpy(CMSG_DATA(header), descriptors, sizeof(int) * (unsigned long)count);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

/// Receives a message with up to platform_descriptor_limit descriptors, which are closed on exec.
/// 0 is the end.
static inline long platform_receive_descriptors(int socket, void *bytes, unsigned long size,
                                                int *descriptors, int *count) {
    union { char bytes[CMSG_SPACE(sizeof(int) * platform_descriptor_limit)]; struct cmsghdr header; } control;
    struct iovec part = {bytes, size};
    struct msghdr message = {0};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof(control);
    *count = 0;
    long result = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (result < 0) return result;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        int number = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        if (number > platform_descriptor_limit - *count) number = platform_descriptor_limit - *count;
        memcpy(descriptors + *count, CMSG_DATA(header), sizeof(int) * (unsigned long)number);
        *count += number;
    }
    return result;
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

/// Receives a datagram with its sender, without waiting; -1 with errno if there is none.
static inline long platform_receive_from(
    int descriptor, void *bytes, unsigned long room, struct sockaddr_storage *sender, socklen_t *length) {
    *length = sizeof(*sender);
    return (long)recvfrom(descriptor, bytes, room, MSG_DONTWAIT, (struct sockaddr *)sender, length);
}

static inline long platform_send_to(
    int descriptor, const void *bytes, unsigned long count, const struct sockaddr_storage *receiver,
    socklen_t length) {
    return (long)sendto(
        descriptor, bytes, count, MSG_DONTWAIT, (const struct sockaddr *)receiver, length);
}

#ifdef __linux__
/// Declared here for the same reason as above: struct dl_phdr_info needs the feature macro.
struct platform_object {
    ElfW(Addr) base;
    const char *name;
    const ElfW(Phdr) *headers;
    ElfW(Half) count;
};
extern int dl_iterate_phdr(int (*)(struct dl_phdr_info *, size_t, void *), void *);

static inline int platform_drop_object(struct dl_phdr_info *info, size_t size, void *unused) {
    const struct platform_object *object = (const struct platform_object *)(const void *)info;
    (void)unused;
    if (size < sizeof(*object)) return 0;
    for (int index = 0; index < object->count; index++) {
        const ElfW(Phdr) *header = &object->headers[index];
        if (header->p_type != PT_LOAD || (header->p_flags & PF_W) != 0) continue;
        uintptr_t start = (object->base + header->p_vaddr + 4095) & ~(uintptr_t)4095;
        uintptr_t end = (object->base + header->p_vaddr + header->p_filesz) & ~(uintptr_t)4095;
        if (end > start) madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}
#endif

/// Unmaps the pages of code and constants, which come back from the page cache when they are used.
static inline void platform_drop_code(void) {
#ifdef __linux__
    dl_iterate_phdr(platform_drop_object, (void *)0);
#endif
}

#endif
