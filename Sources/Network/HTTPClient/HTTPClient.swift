package import Base
internal import HTTP2
internal import HTTPModel
package import Origins
package import Recording
package import Sockets
internal import TLS
internal import Traffic
internal import Transport

/// Sends requests to origins over HTTP/1.1 and HTTP/2 and records what comes back.
///
/// `@unchecked Sendable`: everything that uses it runs on its loop's executor.
package final class HTTPClient: @unchecked Sendable {
    let configuration: ClientConfiguration
    let loop: EventLoop
    let recorder: TrafficRecorder
    let origins: OriginConnector
    private var idle: [OriginTarget: [ClientLeg]] = [:]
    private var idleCount = 0
    /// Connections of HTTP/2 that take requests.
    private var shared: [OriginTarget: HTTP2ClientLeg] = [:]
    /// Those that somebody is opening.
    private var openings: [OriginTarget: ClientOpening] = [:]
    /// What origins speak that had no choice, or made another one than was preferred.
    private var spoken: [OriginTarget: HTTPVersion] = [:]
    /// Those that take no WebSockets over HTTP/2.
    private var plainWebSockets: Set<OriginTarget> = []
    private var sweeper: LoopTimer?
    private var isClosing = false

    /// On the loop's thread only.
    package init(
        _ configuration: ClientConfiguration, on loop: EventLoop, recorder: TrafficRecorder
    ) {
        self.configuration = configuration
        self.loop = loop
        self.recorder = recorder
        origins = OriginConnector(configuration.origins, on: loop, resolver: Resolver())
    }

    /// Runs `body`, which may send requests, with the connections that they need; all of them have
    /// ended when it returns.
    package func run<Result: Sendable>(
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        async let connections: Void = origins.background.run()
        do {
            let result = try await body()
            close()
            await connections
            return result
        } catch {
            close()
            await connections
            throw error
        }
    }

    /// Sends a request and reads its answer to the end; interim responses are recorded only. It is
    /// called in `run`.
    ///
    /// A request is sent again, twice at most, if its origin has surely done nothing with it
    /// (RFC 9113 §8.7), and a safe one also if a connection that was used before broke off under it.
    ///
    /// Errors: those of connecting, `stopped` by who called, `pin-mismatch`, `origin-closed`, `origin-truncated`, `origin-reset`,
    /// `origin-violation`, `timed-out`, `request-malformed`, and what the content could not be read for.
    package func send(_ request: ClientRequest) async throws(Failure) -> ClientResponse {
        let usual = request.reception == nil ? configuration.timeLimit : nil
        guard let limit = request.timeLimit ?? usual else {
            return try await sendUnlimited(request)
        }
        var limited = request
        let stop = ClientStop()
        limited.stop = stop
        // The exchange is ended through the stop of its own; who called goes on to stop theirs.
        if request.stop?.isStopped ?? false { stop.stop() }
        request.stop?.interrupt = { stop.stop() }
        let timer = loop.makeTimer { stop.stop() }
        loop.set(timer, due: loop.now + limit)
        defer {
            loop.set(timer, due: .max)
            request.stop?.interrupt = nil
        }
        do throws(Failure) {
            return try await sendUnlimited(limited)
        } catch {
            guard error.code == Self.stopped.code, !(request.stop?.isStopped ?? false) else {
                throw error
            }
            throw Failure(
                "timed-out", party: .origin,
                "\(request.target.authority): the exchange took longer than \(limit) ms")
        }
    }

    private func sendUnlimited(_ request: ClientRequest) async throws(Failure) -> ClientResponse {
        var attempt = 1
        while true {
            let started = Timestamp.now()
            let connection = try await connection(for: request, at: started)
            if let failure = refusal(of: connection, for: request) {
                release(connection)
                ClientExchange(request, on: nil, at: started, for: self).end(failure)
                throw failure
            }
            let exchange = ClientExchange(request, on: connection, at: started, for: self)
            let wasUsed = connection.isUsed
            do throws(Failure) {
                let answer = try await perform(exchange, over: connection)
                exchange.end(nil)
                return answer
            } catch {
                if request.stop?.isStopped ?? false {
                    exchange.end(Self.stopped)
                    throw Self.stopped
                }
                exchange.end(error)
                let isLost = wasUsed && request.isSafe && error.code == "origin-closed"
                guard attempt < Self.attemptLimit,
                    exchange.isUnprocessed || isLost && !exchange.isAnswered
                else {
                    if exchange.isUnprocessed { request.reception?.noteUnprocessed() }
                    throw error
                }
                attempt += 1
            }
        }
    }

    /// Whether what is sent to an origin does not leave this machine, by whatever proxies.
    package func staysHere(_ target: OriginTarget) -> Bool { origins.staysHere(target) }

    /// Why a request does not go over a connection; `nil` if it may.
    private func refusal(of connection: ClientConnection, for request: ClientRequest) -> Failure? {
        if request.stop?.isStopped ?? false { return Self.stopped }
        guard !request.pins.isEmpty else { return nil }
        let leaf = connection.record.originTLS?.chain.first.flatMap { Certificate(der: $0) }
        if let leaf, request.pins.contains(leaf.publicKeyDigest) { return nil }
        return Failure(
            "pin-mismatch", party: .origin,
            "the public key of \(request.target.authority) is none of those that it was pinned to")
    }

    private static let stopped = Failure("stopped", party: .tool, "was stopped")

    /// Gives back what no request went over.
    private func release(_ connection: ClientConnection) {
        switch connection {
        case .http1(let leg): give(leg, isReusable: true)
        case .http2(let leg): leg.release(isRefused: false)
        }
    }

    /// An origin that refuses more often has its reasons.
    private static let attemptLimit = 3

    private func perform(
        _ exchange: ClientExchange, over connection: ClientConnection
    ) async throws(Failure) -> ClientResponse {
        switch connection {
        case .http1(let leg):
            leg.noteExchange()
            do throws(Failure) {
                let answer = try await exchange.run(over: leg)
                give(leg, isReusable: exchange.keepsAlive)
                return answer
            } catch {
                leg.record.cause = error.detail
                finish(leg, .broken)
                throw error
            }
        case .http2(let leg):
            defer { leg.release(isRefused: exchange.isUnprocessed) }
            return try await exchange.run(over: leg)
        }
    }

    // MARK: Connections

    /// Takes a connection, or makes one; what cannot be had one for is recorded all the same.
    func connection(
        for request: ClientRequest, at started: Timestamp
    ) async throws(Failure) -> ClientConnection {
        do throws(Failure) {
            return try await take(request)
        } catch {
            ClientExchange(request, on: nil, at: started, for: self).end(error)
            throw error
        }
    }

    private func take(_ request: ClientRequest) async throws(Failure) -> ClientConnection {
        let target = request.target
        while true {
            if version(for: request) == .http11 {
                while let leg = idle[target]?.popLast() {
                    idleCount -= 1
                    if leg.isReady { return .http1(leg) }
                    finish(leg, .completed)
                }
            } else if let leg = shared[target] {
                if request.opensWebSocket, try await lacksWebSockets(leg) { continue }
                if try await leg.take(timeout: configuration.readTimeout) { return .http2(leg) }
                if shared[target] === leg { shared[target] = nil }
                continue
            } else if let opening = openings[target] {
                if let failure = await opening.failure() { throw failure }
                continue
            }
            if let leg = try await connect(to: target, version(for: request)) {
                return .http1(leg)
            }
        }
    }

    /// Whether a connection is of no use for a WebSocket, but one of HTTP/1 may be.
    private func lacksWebSockets(_ leg: HTTP2ClientLeg) async throws(Failure) -> Bool {
        let deadline = loop.now + configuration.connectTimeout
        // One that is over is not asked.
        guard leg.isReady, !(await leg.takesWebSockets(by: deadline)), leg.isReady else {
            return false
        }
        guard configuration.http == .auto else {
            throw Failure(
                "origin-protocol", party: .origin,
                "\(leg.target.authority) takes no WebSockets over HTTP/2 (RFC 8441)")
        }
        plainWebSockets.insert(leg.target)
        return true
    }

    private func version(for request: ClientRequest) -> HTTPVersion {
        switch configuration.http {
        case .http1: .http11
        case .http2: .http2
        case .auto where request.opensWebSocket && plainWebSockets.contains(request.target): .http11
        case .auto: spoken[request.target] ?? (request.prefersHTTP2 ? .http2 : .http11)
        }
    }

    /// - Returns: a connection of HTTP/1; `nil` if one of HTTP/2 is shared now, or the origin speaks
    ///   another version.
    private func connect(
        to target: OriginTarget, _ version: HTTPVersion
    ) async throws(Failure) -> ClientLeg? {
        let opening = ClientOpening(loop)
        if version == .http2 { openings[target] = opening }
        defer { if openings[target] === opening { openings[target] = nil } }
        do throws(Failure) {
            let opened = try await open(target, version)
            opening.end(nil)
            switch opened {
            case .http1(let leg):
                if version == .http2 { spoken[target] = .http11 }
                return leg
            case .http2(let leg):
                shared[target] = leg
                return nil
            }
        } catch {
            let mayTryOther =
                error.code == "origin-protocol" && configuration.http == .auto
                && spoken[target] == nil
            opening.end(mayTryOther ? nil : error)
            guard mayTryOther else { throw error }
            spoken[target] = version == .http2 ? .http11 : .http2
            return nil
        }
    }

    func give(_ leg: ClientLeg, isReusable: Bool) {
        leg.record.exchangeCount += 1
        guard isReusable, leg.isReady, idleCount < configuration.idleLimit else {
            return finish(leg, .completed)
        }
        idle[leg.origin.target, default: []].append(leg)
        idleCount += 1
    }

    func finish(_ leg: ClientLeg, _ outcome: ConnectionRecord.Outcome) {
        let channel = leg.stream.channel
        leg.record.originBytes = ByteCount(
            received: channel.bytesReceived, sent: channel.bytesSent)
        leg.origin.addLateFacts(to: &leg.record.originTLS)
        leg.close()
        leg.record.closedAt = .now()
        leg.record.closedBy = outcome == .completed ? .tool : .origin
        leg.record.outcome = outcome
        recorder.record(.connection(leg.record))
    }

    /// Begins to read and write frames on a connection, for as long as it lasts.
    func start(_ leg: HTTP2ClientLeg) {
        origins.run(leg.connection, on: leg.origin) { [self] in
            leg.noteEnd(closedByUs: isClosing)
            recorder.record(.connection(leg.record))
        }
        sweep()
    }

    private func sweep() {
        origins.sweep()
        guard origins.isRunning else { return }
        // It may be due once more when the last connection and the client have gone.
        let timer = sweeper ?? loop.makeTimer { [weak self] in self?.sweep() }
        sweeper = timer
        loop.set(timer, due: loop.now + Self.sweepInterval)
    }

    /// In milliseconds: how late a deadline of HTTP/2 may be seen.
    private static let sweepInterval: UInt64 = 200

    /// Closes the connections; no request may be under way.
    private func close() {
        isClosing = true
        for leg in idle.values.joined() { finish(leg, .completed) }
        idle = [:]
        idleCount = 0
        origins.drain()
    }
}
