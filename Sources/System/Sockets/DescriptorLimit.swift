internal import Glibc
internal import Synchronization

/// How many descriptors the process may open.
package enum DescriptorLimit {
    /// What the process was started with; 0 until it is raised.
    private static let inherited = Mutex<rlim_t>(0)

    /// Some systems allow a thousand million; nobody has the memory.
    private static let highest: rlim_t = 1 << 20

    /// Raises the soft limit as far as the system lets: each intercepted connection needs two, and
    /// the usual 1,024 end at five hundred.
    package static func raise() {
        var limit = current
        inherited.withLock { if $0 == 0 { $0 = limit.rlim_cur } }
        limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, highest))
        set(limit)
    }

    /// Runs `body` with the limit that the process was started with, for a child to inherit:
    /// programs that use `select` break above 1,024.
    package static func withInherited<Result, Failed: Error>(
        _ body: () throws(Failed) -> Result
    ) throws(Failed) -> Result {
        let raised = current
        var limit = raised
        let start = inherited.withLock(\.self)
        if start > 0 { limit.rlim_cur = start }
        set(limit)
        defer { set(raised) }
        return try body()
    }

    private static var current: rlimit {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return limit
    }

    /// What the system refuses shows later, as an accept that waits and tries again.
    private static func set(_ limit: rlimit) {
        var limit = limit
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
