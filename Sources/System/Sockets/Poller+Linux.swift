#if os(Linux)
    internal import Base
    internal import CPlatform
    internal import Glibc

    /// What became possible on a descriptor.
    struct Readiness {
        let token: UInt64
        let readable: Bool
        let writable: Bool
        /// Both directions are gone, or the connection failed.
        let broken: Bool
        /// The peer ended its direction.
        let peerEnded: Bool
        /// Urgent data has come: a read stops before it, however much is behind.
        let urgent: Bool
    }

    /// epoll, edge-triggered: each descriptor is registered once, for both directions.
    @safe
    struct Poller: ~Copyable {
        private let descriptor: Int32
        private var events: [epoll_event]

        init() throws(SystemError) {
            switch systemCall({ epoll_create1(platform_epoll_close_on_exec) }) {
            case .value(let descriptor): self.descriptor = Int32(descriptor)
            case .failed(let error): throw error
            case .wouldBlock: throw SystemError(EAGAIN)
            }
            unsafe events = unsafe [epoll_event](repeating: epoll_event(), count: 256)
        }

        deinit {
            close(descriptor)
        }

        /// Watches a descriptor; `token` comes back with its events.
        func add(_ watched: Int32, token: UInt64) throws(SystemError) {
            var event = unsafe epoll_event()
            unsafe event.events =
                platform_epoll_in | platform_epoll_urgent | platform_epoll_out
                | platform_epoll_read_hangup | platform_epoll_edge_triggered
            unsafe event.data.u64 = token
            if unsafe epoll_ctl(descriptor, EPOLL_CTL_ADD, watched, &event) != 0 {
                throw SystemError(errno)
            }
        }

        /// Waits and calls `visit` for each descriptor that changed.
        /// - Parameter timeout: in milliseconds; -1 waits for ever.
        mutating func wait(timeout: Int32, _ visit: (Readiness) -> Void) {
            let count = unsafe events.withUnsafeMutableBufferPointer { space in
                unsafe epoll_wait(descriptor, space.baseAddress, Int32(space.count), timeout)
            }
            guard count > 0 else { return }
            for index in 0..<Int(count) {
                let event = unsafe events[index]
                let mask = unsafe event.events
                let broken = mask & (platform_epoll_hangup | platform_epoll_error) != 0
                let peerEnded = mask & platform_epoll_read_hangup != 0
                visit(
                    Readiness(
                        token: unsafe event.data.u64,
                        readable: mask & platform_epoll_in != 0 || broken || peerEnded,
                        writable: mask & platform_epoll_out != 0 || broken,
                        broken: broken, peerEnded: peerEnded,
                        urgent: mask & platform_epoll_urgent != 0))
            }
        }
    }
#endif
