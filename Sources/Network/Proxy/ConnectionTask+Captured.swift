internal import Base
internal import Origins
internal import Sockets
internal import Traffic
internal import Transport

extension ConnectionTask {
    /// Serves a client that was on its way to an origin, and led here by the system.
    func serveTransparent() async throws(ConnectionEnd) {
        guard let wanted = channel.originalDestination(listening: port.address) else {
            throw ConnectionEnd(
                .refused, "client came to the proxy itself, and not on its way to an origin",
                by: .tool)
        }
        guard port.mode == .captured, let network = worker.wiring.captured else {
            return try await serveAnything(of: wanted.host, wanted.port)
        }
        if let name = network.name(wanted) {
            return try await serveAnything(of: name, wanted.port)
        }
        note(OriginTarget(isSecure: false, host: wanted.host, port: wanted.port))
        let inside: DialledOrigin?
        do throws(OriginFailure) {
            inside = try await worker.dialInside(wanted)
        } catch {
            note(error)
            throw ConnectionEnd(error.outcome, error.failure.detail, by: .tool)
        }
        guard let dialled = inside else {
            return try await serveAnything(of: wanted.host, wanted.port)
        }
        isInside = true
        record.originAddress = wanted.description
        try await serveTunnel(to: wanted.host, wanted.port, dialled, readAhead: nil)
    }

    /// Whether the system led the client here, which has asked us for nothing.
    var isLed: Bool { port.mode == .captured || port.mode == .transparent }

    /// The origin by the name that the client has for it, who came with an address alone: by SNI, or
    /// by Host in clear.
    func named(_ origin: OriginTarget, by claim: @autoclosure () -> String?) -> OriginTarget {
        guard isLed, LoopbackHost.isAddress(origin.host), let claim = claim() else { return origin }
        let named = OriginTarget(
            isSecure: origin.isSecure, host: origin.host, port: origin.port, calledAs: claim)
        if named.name != named.host { note(named) }
        return named
    }

    /// Whether a client that was led here is still to hear that its origin cannot be reached: nearest
    /// to a refusal, which it would have met without us, is a reset before the first byte.
    var isRefusalDue: Bool {
        isLed && record.outcome == .originUnreachable && record.clientBytes.sent == 0
    }

    /// What the client calls our end.
    private var addressForClient: SocketAddress? {
        let wanted = isLed ? channel.originalDestination(listening: port.address) : nil
        return wanted ?? channel.localAddress
    }

    /// Finds out whether a client that has ended its direction, and for which an origin is waited
    /// for, has closed the connection: TCP tells the same of one that still reads.
    func lookForClient() {
        guard channel.awaitsLoss, loop.now >= nextLook else { return }
        // Whoever means to read on says so by close_notify (RFC 8446 §6.1). Of a client on this
        // machine more is known.
        guard isLocal else { return client.endedInOrder ? () : channel.noteLoss() }
        lookInterval = min(lookInterval * 2, Self.lookLimit)
        nextLook = loop.now + lookInterval
        guard let diagnosis = worker.diagnosis(of: port.mode), let server = addressForClient else {
            return
        }
        if diagnosis.isAbandoned(local: peer, remote: server) { channel.noteLoss() }
    }

    /// Looks for the program that the client is, while the connection goes on.
    func findProcess() {
        guard isLocal,
            let finder = port.mode == .captured ? worker.insideProcesses : worker.processes
        else { return }
        guard let server = addressForClient else { return }
        isProcessSought = finder.find(client: peer, server: server) { [self] found in
            record.process = found
            isProcessSought = false
            // What it has asked for came before its name.
            if record.exchangeCount > 0 { noteTaken() }
            let waiting = unsafe processWaiters
            unsafe processWaiters = []
            for index in unsafe waiting.indices { unsafe waiting[index].resume() }
        }
    }

    /// Waits until it is known whose connection it was, if that is still looked for.
    func awaitProcess() async {
        guard isProcessSought else { return }
        unsafe await withUnsafeContinuation { unsafe processWaiters.append($0) }
    }
}
