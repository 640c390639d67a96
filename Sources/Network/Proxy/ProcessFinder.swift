internal import Base
internal import Processes
internal import Sockets
internal import Synchronization
internal import Traffic

/// Finds the programs that connections come from: at once where it can, else on a thread of its own.
///
/// `@unchecked Sendable`: `quick` is used on one loop's thread, `slow` on the searching thread.
final class ProcessFinder: @unchecked Sendable {
    private let loop: EventLoop
    private let quick: ProcessAttribution
    private let slow: SearchThread
    /// A look costs some 15 µs, a search some 10 ms of a processor: in a storm of connections not
    /// each can be told whose it is.
    private var looks = Allowance(burst: 256, perSecond: 64)
    private var searches: Allowance

    /// - Parameter isThorough: whether what is done depends on who the client is, as in an audit,
    ///   where each is shown what it has not seen.
    init(loop: EventLoop, slow: SearchThread, isThorough: Bool) {
        self.loop = loop
        self.slow = slow
        searches =
            isThorough
            ? Allowance(burst: 256, perSecond: 64) : Allowance(burst: 32, perSecond: 2)
        quick = slow.places.attribution
    }

    /// Looks for the program at the other end, and calls `found` on the loop, now or later.
    ///
    /// - Returns: whether it is still looked for.
    func find(
        client: SocketAddress, server: SocketAddress,
        found: @escaping @Sendable (ProcessRecord?) -> Void
    ) -> Bool {
        guard looks.take(now: loop.now) else { return false }
        switch quick.recentProcess(client: client, server: server) {
        case .process(let record):
            found(record)
            return false
        case .none: return false
        case .unknown:
            guard searches.take(now: loop.now) else { return false }
            return slow.search(client: client, server: server) { [loop] record in
                loop.execute { found(record) }
            }
        }
    }
}

/// Where clients run.
enum ProcessPlaces: Sendable {
    case thisMachine
    case inside(CapturedNetwork)

    var attribution: ProcessAttribution {
        switch self {
        case .thisMachine: ProcessAttribution()
        case .inside(let network):
            ProcessAttribution(diagnosis: network.diagnosis, namespaceOf: network.processID)
        }
    }
}

/// Searches through all processes, one connection after the other.
///
/// `@unchecked Sendable`: `attribution` is used by its thread only.
final class SearchThread: @unchecked Sendable {
    private struct Question {
        let client: SocketAddress
        let server: SocketAddress
        let answer: @Sendable (ProcessRecord?) -> Void
    }

    private struct State {
        var questions: [Question] = []
        var isRunning = false
    }

    private let state = Mutex(State())
    let places: ProcessPlaces
    private let attribution: ProcessAttribution

    /// Questions that may wait; a flood of connections from programs that cannot be found must not
    /// keep the others.
    private static let countLimit = 256

    init(_ places: ProcessPlaces) {
        self.places = places
        attribution = places.attribution
    }

    /// - Returns: whether the question was taken; `answer` is called for it once, on another thread.
    func search(
        client: SocketAddress, server: SocketAddress,
        _ answer: @escaping @Sendable (ProcessRecord?) -> Void
    ) -> Bool {
        let (isTaken, starts) = state.withLock { state -> (Bool, Bool) in
            guard state.questions.count < Self.countLimit else { return (false, false) }
            state.questions.append(Question(client: client, server: server, answer: answer))
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        if starts { startThread(named: "processes") { self.run() } }
        return isTaken
    }

    /// Ends when nothing is asked any more: most proxies have few programs.
    private func run() {
        while let question = next() {
            question.answer(
                attribution.process(client: question.client, server: question.server))
        }
    }

    private func next() -> Question? {
        state.withLock { state in
            guard !state.questions.isEmpty else {
                state.isRunning = false
                return nil
            }
            return state.questions.removeFirst()
        }
    }
}
