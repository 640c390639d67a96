internal import Base
internal import HTTPModel
internal import Sockets
internal import TLS

/// What the connections of one port on one event loop share.
///
/// `@unchecked Sendable`: used on its loop's thread only; the server makes it there.
@safe
final class ServerWorker: @unchecked Sendable {
    let loop: EventLoop
    let limits: ServerLimits
    let answer: Answer
    let onRefusal: (@Sendable (RefusedRequest) -> Void)?
    let numbers: ConnectionNumbers
    /// `nil` on a plain port.
    let tls: TLSServerContext?
    let hosts: (any TLSHosts)?
    /// Whether the clients' addresses are those of somebody in between.
    let isRelayed: Bool
    /// The name of the certificate for clients that ask for none.
    let ownName: String
    /// For responses: 64 KiB are four full TLS records, and fit into one of the loop's buffers.
    let content = BufferPool(capacity: 65_536, keepLimit: 64)
    /// The same for streams of HTTP/2, of which a connection may have many: a full frame.
    let streamContent = BufferPool(capacity: 16_384, keepLimit: 64)
    let known = KnownResponses()
    private(set) var isDraining = false
    /// Whether connections had to be ended at the deadline.
    private(set) var wasCut = false
    private let listener: Listener
    private var open: [ObjectIdentifier: HTTPServerTask] = [:]
    private var isAccepting = true
    private var cutter: LoopTimer?
    private var drainWaiter: UnsafeContinuation<Void, Never>?
    private var date = (second: Int64.min, text: "")

    init(
        loop: EventLoop, listener: Listener, security: HTTPServer.Port.Security,
        isRelayed: Bool, ticketKey: [UInt8], numbers: ConnectionNumbers, limits: ServerLimits,
        answer: @escaping Answer, onRefusal: (@Sendable (RefusedRequest) -> Void)?
    ) {
        self.loop = loop
        self.listener = listener
        self.limits = limits
        self.isRelayed = isRelayed
        self.answer = answer
        self.onRefusal = onRefusal
        self.numbers = numbers
        ownName = listener.address.isWildcard ? "localhost" : listener.address.host
        switch security {
        case .plain: (tls, hosts) = (nil, nil)
        case .tls(let authority, let others):
            hosts = others
            tls = TLSServerContext(authority: authority, ticketKey: ticketKey)
        }
    }

    /// Accepts until the listener is closed, and returns when all connections have ended.
    func acceptConnections() async {
        await withDiscardingTaskGroup { group in
            while let (channel, peer) = await listener.accept() {
                group.addTask(executorPreference: loop) {
                    await HTTPServerTask(channel, peer: peer, worker: self).run()
                }
            }
        }
        isAccepting = false
        resumeIfDrained()
    }

    func opened(_ task: HTTPServerTask) {
        open[ObjectIdentifier(task)] = task
        if isDraining { task.drain() }
    }

    func closed(_ task: HTTPServerTask) {
        open[ObjectIdentifier(task)] = nil
    }

    /// The value of Date for a moment; made once a second.
    func dateText(_ now: HTTPDate) -> String {
        if date.second != now.seconds { date = (now.seconds, now.text) }
        return date.text
    }

    // MARK: Stopping

    func drain(grace: UInt64) {
        guard !isDraining else { return }
        isDraining = true
        listener.close()
        for task in open.values { task.drain() }
        let timer = loop.makeTimer { [unowned self] in self.cut() }
        cutter = timer
        loop.set(timer, due: loop.now + grace)
    }

    private func cut() {
        wasCut = !open.isEmpty
        for task in open.values { task.cut() }
        resumeDrainWaiter()
    }

    /// Waits until all connections have ended, or had to be cut.
    func untilDrained() async {
        if isAccepting, !wasCut {
            unsafe await withUnsafeContinuation { continuation in
                unsafe drainWaiter = continuation
            }
        }
        if let cutter { loop.set(cutter, due: .max) }
    }

    private func resumeIfDrained() {
        if !isAccepting { resumeDrainWaiter() }
    }

    private func resumeDrainWaiter() {
        guard let waiter = unsafe drainWaiter else { return }
        unsafe drainWaiter = nil
        unsafe waiter.resume()
    }
}
