internal import Glibc
internal import Sockets

/// The two ends of a pipe that programs do not inherit; the caller's to close.
struct PipeEnds {
    let reading: Int32
    let writing: Int32

    init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw SystemError(errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (ends[0], ends[1])
    }
}
