internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic
internal import Transport

/// The exchanges of one client's connection of HTTP/2, each on its stream, all at once.
///
/// `@unchecked Sendable`: its tasks run on one loop's executor.
@safe
final class HTTP2Relay: OriginSource, @unchecked Sendable {
    let task: ConnectionTask
    let worker: ProxyWorker
    let entry: Entry
    /// Why the only origin cannot serve; every request is answered with it.
    let originFailure: OriginFailure?
    private let serverName: String?
    let connection: HTTP2Connection
    /// Whether a request has come, also a CONNECT that is not recorded as an exchange.
    var hasServed = false
    private var open: [Int32: ExchangeTask] = [:]
    /// What the client's end has cut off.
    private var cutOff: RelayFailure?
    /// Connections of HTTP/2 that the streams share; nobody logs in on them.
    private var shared: [OriginTarget: OriginLeg] = [:]
    /// Connections that one stream has at a time and none has now: those of HTTP/1, and those on
    /// which an authentication waits for its next step. The one that was used last is at the end.
    private var idle: [OriginLeg] = []
    /// Of each of the two: a client may ask as many origins as it likes.
    private static let idleLimit = 32
    /// Of connections that wait for the next step of an authentication.
    private static let challengedLimit = 8
    private var idleSince: UInt64 = 0
    /// Origins that chose HTTP/1 from our offer.
    private var knownHTTP1: Set<OriginTarget> = []
    private static let knownLimit = 1024
    /// Origins that a stream is connecting to, with those that wait to see what it speaks.
    private var connecting: [OriginTarget: [UnsafeContinuation<OriginFailure?, Never>]] = unsafe [:]

    init(
        _ task: ConnectionTask, entry: Entry, originFailure: OriginFailure?, serverName: String?,
        connection: HTTP2Connection
    ) {
        self.task = task
        worker = task.worker
        self.entry = entry
        self.originFailure = originFailure
        self.serverName = serverName
        self.connection = connection
        if let leg = task.origin { keep(leg) }
    }

    /// Serves streams until the client or the protocol ends the connection.
    ///
    /// - Parameter first: a stream that an upgrade has opened, with its request.
    func serve(first: UpgradedConnection? = nil) async throws(ConnectionEnd) {
        connection.onSideFrame = { [unowned self] frame in note(frame) }
        connection.afterRead = { [recorder = worker.recorder] in
            if recorder.isCongested { await recorder.waitForRoom() }
        }
        if worker.isDraining { connection.drain() }
        await withDiscardingTaskGroup { group in
            if let first {
                group.addTask { await self.serve(first) }
            }
            await connection.run { stream in await self.serve(stream) }
        }
        releaseOrigins()
        try judgeEnd()
    }

    private func serve(_ stream: HTTP2Stream) async {
        defer { closed(stream) }
        do throws(ConnectionEnd) {
            if let exchange = try await HTTP2ExchangeClient(stream, of: self).begin() {
                opened(exchange, on: stream)
                try await exchange.run()
            }
        } catch {
            task.note(error)
        }
    }

    /// Goes on with a request that was made before the connection spoke HTTP/2.
    private func serve(_ upgraded: UpgradedConnection) async {
        let exchange = ExchangeTask(
            continuing: upgraded.recorder, of: upgraded.request, as: upgraded.outgoing,
            client: HTTP2ExchangeClient(upgraded.first, of: self), origins: self)
        opened(exchange, on: upgraded.first)
        defer { closed(upgraded.first) }
        do throws(ConnectionEnd) {
            try await exchange.resume(upgraded.origin)
        } catch {
            task.note(error)
        }
    }

    private func opened(_ exchange: ExchangeTask, on stream: HTTP2Stream) {
        open[stream.id] = exchange
        // Tells the origin's side if the client leaves.
        stream.onBreak = { [unowned exchange] in exchange.waitedFor?.stopReceiving() }
    }

    private func closed(_ stream: HTTP2Stream) {
        open[stream.id] = nil
        stream.onBreak = nil
        // What the client might still send, nobody reads.
        if !stream.waitingContent.isWhole { stream.stopReading() }
    }

    /// Takes note of an exchange that the client brought to its end.
    func noteEnd(of stream: HTTP2Stream, _ failure: RelayFailure) {
        guard stream.hasLostConnection, !connection.hasPeerSaidGoodbye else { return }
        cutOff = cutOff ?? failure
    }

    private func judgeEnd() throws(ConnectionEnd) {
        switch connection.end {
        case .violation(let violation):
            let detail = "client \(violation.detail)"
            task.record.notes.append(ConnectionNote(violation.code, detail))
            throw ConnectionEnd(.refused, "\(detail) (\(violation.code))", by: .tool)
        case .failed(.timedOut), .idle:
            task.record.closedBy = .tool
            if !hasServed { throw task.silentEnd(.timedOut) }
        case .failed(.closed), .finished:
            task.record.closedBy = worker.isDraining ? .tool : .client
        case .peerClosed, .failed, nil:
            task.record.closedBy = .client
            if let cutOff { throw ConnectionEnd(.broken, cutOff.words.detail, by: .client) }
            if task.session != nil, !hasServed { throw silentEnd }
        }
    }

    private var silentEnd: ConnectionEnd {
        let failure: StreamFailure? =
            if case .failed(let failure) = connection.end { failure } else { nil }
        return task.silentEnd(failure, hasAccepted: connection.hasAcknowledged)
    }

    /// Frames that carry no part of an exchange are told as messages of the connection.
    private func note(_ frame: HTTP2SideFrame) {
        var message = task.nextMessage(.frame, .request, exchange: nil)
        message.bytes = frame.payload
        message.size = Int64(frame.size)
        message.isTruncated = frame.payload.count < frame.size
        message.detail = "\(frame.type.name) on stream \(frame.stream)"
        task.record(message)
    }

    // MARK: Origins

    func hasLostOrigin(of request: OutgoingRequest) -> Bool {
        guard task.mirrorsOrigin, let leg = shared[request.origin] else { return false }
        return !leg.isReady
    }

    func originAtHand(for request: OutgoingRequest) -> (any OriginExchange)? {
        let target = request.origin
        guard unsafe connecting[target] == nil else { return nil }
        let bindsConnection = request.head.fields.bindsConnection
        if !bindsConnection, let leg = shared[target], let http2 = leg.http2, leg.isReady {
            return HTTP2OriginExchange(leg, http2, worker: worker)
        }
        // What may be a next step has to go where the one before went.
        let place =
            (bindsConnection ? idlePlace(target, isPersonal: true) : nil)
            ?? idlePlace(target, isPersonal: false)
        return place.map { exchange(over: idle.remove(at: $0)) }
    }

    private func idlePlace(_ target: OriginTarget, isPersonal: Bool) -> Int? {
        idle.lastIndex { $0.target == target && $0.isPersonal == isPersonal && $0.isReady }
    }

    func giveUp(_ origin: any OriginExchange, after failure: RelayFailure) {
        origin.finish(isWhole: false)
    }

    /// A connection for one exchange: a stream of a shared one, or one that it has to itself, as with
    /// HTTP/1 and with credentials that authenticate a connection. No other request may go over such
    /// a one, with whatever credentials: streams may be those of several users. Only what may be the
    /// next step of an authentication goes over the connection that asked for it.
    func origin(for request: OutgoingRequest) async throws(OriginFailure) -> any OriginExchange {
        let target = request.origin
        while unsafe connecting[target] != nil {
            let failure = unsafe await withUnsafeContinuation { continuation in
                unsafe connecting[target]?.append(continuation)
            }
            // Not once more for each who waits: that may take long.
            if let failure { throw failure }
        }
        if let exchange = originAtHand(for: request) { return exchange }
        if let leg = shared[target], !leg.isReady { stopSharing(leg) }
        let bindsConnection = request.head.fields.bindsConnection
        if knownHTTP1.contains(target) || bindsConnection && shared[target] != nil {
            return exchange(over: try await connect(to: target))
        }
        unsafe connecting[target] = []
        let leg: OriginLeg
        do throws(OriginFailure) {
            leg = try await connect(to: target)
        } catch {
            wakeConnecting(target, error)
            throw error
        }
        defer { wakeConnecting(target, nil) }
        guard let http2 = leg.http2 else {
            noteHTTP1(target)
            return exchange(over: leg)
        }
        if bindsConnection { return exchange(over: leg) }
        share(leg)
        return HTTP2OriginExchange(leg, http2, worker: worker)
    }

    private func wakeConnecting(_ target: OriginTarget, _ failure: OriginFailure?) {
        guard let waiting = unsafe connecting.removeValue(forKey: target) else { return }
        for index in unsafe waiting.indices { unsafe waiting[index].resume(returning: failure) }
    }

    private func connect(to target: OriginTarget) async throws(OriginFailure) -> OriginLeg {
        dropEnded()
        let name = serverName ?? (target.isSecure ? target.serverName : nil)
        let offer =
            knownHTTP1.contains(target) && target.isSecure
            ? .http1 : task.policy.value.offer(to: target, ["h2", "http/1.1"])
        let leg = try await task.leg(to: target, serverName: name, offer: offer)
        task.noteFacts(of: leg)
        if let failure = task.refusal(of: leg) {
            release(leg)
            throw failure
        }
        return leg
    }

    /// An exchange that has its connection to itself.
    private func exchange(over leg: OriginLeg) -> any OriginExchange {
        guard let http2 = leg.http2 else {
            return HTTP1OriginExchange(leg, worker: worker, owner: self)
        }
        return HTTP2OriginExchange(leg, http2, worker: worker, owner: self)
    }

    func takeBack(_ leg: OriginLeg, isReusable: Bool) {
        // One that somebody has logged in on serves nobody else, and whose login this was is not
        // known: requests of one user cannot be told from those of others.
        guard isReusable, !worker.isDraining, !leg.isPersonal || leg.isChallenged else {
            return close(leg)
        }
        // Of those whose next step nobody takes.
        if leg.isPersonal, idle.count(where: \.isPersonal) >= Self.challengedLimit,
            let oldest = idle.firstIndex(where: \.isPersonal)
        {
            close(idle.remove(at: oldest))
        }
        if idle.count >= Self.idleLimit { release(idle.removeFirst()) }
        idle.append(leg)
        idleSince = worker.loop.now
    }

    /// Closes those that origins have ended: each would be kept until the client is quiet, and one
    /// that asks again and again never is.
    private func dropEnded() {
        idle.removeAll { leg in
            guard !leg.isReady else { return false }
            close(leg)
            return true
        }
    }

    private func close(_ leg: OriginLeg) {
        task.note(endOf: leg)
        leg.close()
    }

    private func keep(_ leg: OriginLeg) {
        task.origin = nil
        if leg.http2 != nil {
            // One that was logged in on before it changed over serves the stream that it has.
            if leg.isPersonal { close(leg) } else { share(leg) }
        } else {
            noteHTTP1(leg.target)
            idle.append(leg)
        }
    }

    private func noteHTTP1(_ target: OriginTarget) {
        // To forget costs an offer.
        if knownHTTP1.count >= Self.knownLimit { knownHTTP1 = [] }
        knownHTTP1.insert(target)
    }

    private func share(_ leg: OriginLeg) {
        if shared.count >= Self.idleLimit,
            let quiet = shared.values.first(where: { $0.http2?.streamCount == 0 })
        {
            stopSharing(quiet)
        }
        shared[leg.target] = leg
        guard task.mirrorsOrigin else { return }
        // Who says goodbye to its one client says it to all of the connection's streams.
        leg.http2?.onGoingAway = { [weak connection] in connection?.drain() }
    }

    /// Takes no new streams on a connection; those that are open end there.
    private func stopSharing(_ leg: OriginLeg) {
        shared[leg.target] = nil
        leg.http2?.onGoingAway = nil
        close(leg)
    }

    private func release(_ leg: OriginLeg) { task.release(leg) }

    private func releaseOrigins() {
        for leg in idle { release(leg) }
        for leg in shared.values { release(leg) }
        idle = []
        shared = [:]
    }

    // MARK: What the loop asks for

    var isQuiet: Bool { open.isEmpty }

    func sweep(interval: UInt64) {
        connection.sweep()
        for stream in open.values { stream.announce(olderThan: Int64(interval) * 1000) }
        guard open.isEmpty, worker.loop.now >= idleSince + interval else { return }
        if !task.ownsOrigins, !idle.isEmpty || !shared.isEmpty { lendOrigins() }
        task.client.releaseMemory()
    }

    /// Leaves to others what a client that has paused does not need. Those that wait for the next step
    /// of a login stay for a while: a user, or who vouches for one, takes longer than a pause, and only
    /// they can be asked.
    private func lendOrigins() {
        dropEnded()
        let isDue = worker.loop.now >= idleSince + worker.limits.openingTimeout
        let waiting = isDue ? [] : idle.filter(\.isPersonal)
        if !isDue { idle.removeAll(where: \.isPersonal) }
        releaseOrigins()
        idle = waiting
    }
}
