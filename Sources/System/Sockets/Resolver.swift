package import Base
internal import CPlatform
internal import Glibc
internal import Synchronization

/// Turns names into addresses with the system's resolver, on threads of its own: the system's call
/// blocks, and an event loop must not.
package final class Resolver: Sendable {
    private let state = Mutex(State())
    private let workerLimit: Int
    private let lifetime: Duration
    private let lookUp: @Sendable (String) -> Result<[SocketAddress], Failure>

    private struct State {
        var waiting: [Request] = []
        var workers = 0
        var known: [String: (addresses: [SocketAddress], until: MonotonicTime)] = [:]
    }

    private struct Request: Sendable {
        let host: String
        let answer: @Sendable (Result<[SocketAddress], Failure>) -> Void
    }

    /// How many names are remembered at most.
    private static let knownLimit = 1024
    /// How many look-ups may wait; more are refused.
    private static let waitingLimit = 4096

    /// - Parameters:
    ///   - workerLimit: threads at most; they end when nothing waits.
    ///   - lifetime: how long an answer is used again.
    ///   - lookUp: what is asked; the system's `getaddrinfo` unless a test says otherwise.
    package init(
        workerLimit: Int = 4, lifetime: Duration = .seconds(5),
        lookUp: @escaping @Sendable (String) -> Result<[SocketAddress], Failure> = systemLookUp
    ) {
        self.workerLimit = workerLimit
        self.lifetime = lifetime
        self.lookUp = lookUp
    }

    /// The addresses of a host, in the order to try them; on a loop only.
    ///
    /// Errors: `name-not-found`, `name-lookup-failed`.
    package func addresses(of host: String, port: UInt16) async throws(Failure) -> [SocketAddress] {
        if let found = found(host, port) { return found }
        let result = unsafe await withUnsafeContinuation {
            (continuation: UnsafeContinuation<Result<[SocketAddress], Failure>, Never>) in
            ask(Request(host: host) { unsafe continuation.resume(returning: $0) })
        }
        return try result.get().map { $0.withPort(port) }
    }

    /// The same for as long as one who waits has time; on the loop of `wakeup` only.
    ///
    /// - Parameters:
    ///   - wakeup: of nobody else; stopped, it ends the wait.
    ///   - deadline: in milliseconds of the loop's clock.
    /// Errors: `name-not-found`, `name-lookup-failed`.
    package func addresses(
        of host: String, port: UInt16, waking wakeup: LoopWakeup, until deadline: UInt64
    ) async throws(Failure) -> [SocketAddress] {
        if let found = found(host, port) { return found }
        let answer = Answer()
        ask(
            Request(host: host) { result in
                answer.result.withLock { $0 = result }
                wakeup.loop.execute { wakeup.wake() }
            })
        _ = await wakeup.wait(until: deadline)
        guard let result = answer.result.withLock({ $0 }) else {
            throw Failure(
                "name-lookup-failed", party: .origin,
                "cannot resolve \(host): no answer came in time")
        }
        return try result.get().map { $0.withPort(port) }
    }

    private final class Answer: Sendable {
        let result = Mutex<Result<[SocketAddress], Failure>?>(nil)
    }

    /// What needs no look-up.
    private func found(_ host: String, _ port: UInt16) -> [SocketAddress]? {
        if let literal = SocketAddress(literal: host, port: port) { return [literal] }
        return known(host)?.map { $0.withPort(port) }
    }

    private func known(_ host: String) -> [SocketAddress]? {
        state.withLock { state in
            guard let entry = state.known[host], entry.until > .now() else { return nil }
            return entry.addresses
        }
    }

    private func ask(_ request: Request) {
        enum Next { case wait, start, refuse }
        let next = state.withLock { state -> Next in
            guard state.waiting.count < Self.waitingLimit else { return .refuse }
            state.waiting.append(request)
            guard state.workers < workerLimit else { return .wait }
            state.workers += 1
            return .start
        }
        switch next {
        case .wait: break
        case .start: startThread(named: "resolver") { self.work() }
        case .refuse:
            request.answer(
                .failure(
                    Failure("name-lookup-failed", party: .tool, "too many names to look up at once")
                ))
        }
    }

    private func work() {
        while let request = next() {
            let result = lookUp(request.host)
            if case .success(let addresses) = result { remember(request.host, addresses) }
            request.answer(result)
        }
    }

    private func next() -> Request? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.workers -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    private func remember(_ host: String, _ addresses: [SocketAddress]) {
        let (seconds, attoseconds) = lifetime.components
        let nanoseconds = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds) / 1_000_000_000
        let until = MonotonicTime(nanoseconds: MonotonicTime.now().nanoseconds + nanoseconds)
        state.withLock { state in
            if state.known.count >= Self.knownLimit { state.known.removeAll() }
            state.known[host] = (addresses, until)
        }
    }

    /// Asks the system (`getaddrinfo`); blocks.
    package static let systemLookUp: @Sendable (String) -> Result<[SocketAddress], Failure> = {
        host in
        // The system reads up to the first NUL, and would find another host than was asked for.
        guard !host.utf8.contains(0) else {
            return .failure(
                Failure("name-not-found", party: .origin, "cannot resolve a name with a NUL in it"))
        }
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, nil, &hints, &list)
        guard status == 0 else {
            let reason = unsafe String(cString: gai_strerror(status)).lowercased()
            let code = status == EAI_NONAME ? "name-not-found" : "name-lookup-failed"
            return .failure(Failure(code, party: .origin, "cannot resolve \(host): \(reason)"))
        }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var entry = unsafe list
        while let current = unsafe entry {
            var storage = sockaddr_storage()
            if let source = unsafe current.pointee.ai_addr {
                let length = unsafe Int(current.pointee.ai_addrlen)
                unsafe withUnsafeMutableBytes(of: &storage) { space in
                    unsafe space.copyMemory(
                        from: UnsafeRawBufferPointer(start: source, count: min(length, space.count))
                    )
                }
            }
            if let address = SocketAddress(storage), !addresses.contains(address) {
                addresses.append(address)
            }
            unsafe entry = current.pointee.ai_next
        }
        return .success(interleaved(addresses))
    }

    /// Families in turn, beginning with the system's first choice (RFC 8305 §4).
    static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
        guard let first = addresses.first else { return [] }
        let preferred = addresses.filter { $0.isIPv6 == first.isIPv6 }
        let other = addresses.filter { $0.isIPv6 != first.isIPv6 }
        var result: [SocketAddress] = []
        for index in 0..<max(preferred.count, other.count) {
            if index < preferred.count { result.append(preferred[index]) }
            if index < other.count { result.append(other[index]) }
        }
        return result
    }
}

/// Starts a detached thread that blocks no signal handling of the rest.
package func startThread(named name: String, _ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = unsafe Unmanaged.passRetained(Box(body))
    let status = unsafe pthread_create(
        &thread, nil,
        { argument in
            guard let argument = unsafe argument else { return nil }
            unsafe Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
            return nil
        }, box.toOpaque())
    precondition(status == 0, "the system has no thread left for \(name)")
    pthread_detach(thread)
}

/// How many processors this process may run on, at least 1.
package func availableProcessorCount() -> Int {
    max(1, Int(platform_processor_count()))
}
