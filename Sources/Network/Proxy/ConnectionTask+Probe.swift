internal import Base
internal import Origins
internal import Sockets
internal import TLS
internal import Traffic

/// What an audit shows a client in place of its origin.
extension ConnectionTask {
    /// Whether an audit may want to serve the connection.
    func isClaimed(_ host: String, _ port: UInt16) -> Bool {
        worker.interceptors.claim(visit(host, port)) != .none
    }

    private func visit(_ host: String, _ port: UInt16) -> ProbeVisit {
        ProbeVisit(
            connection: id, peer: peer, listener: self.port.address, process: record.process,
            host: host, port: port, hello: nil)
    }

    /// Serves what an audit has prepared for this client and destination, and ends the connection.
    ///
    /// - Returns: what the client has sent, if nothing is prepared and the proxy is to go on.
    func serveProbe(
        to host: String, _ port: UInt16, _ readAhead: ByteBuffer?
    ) async throws(ConnectionEnd) -> ByteBuffer? {
        if worker.interceptors.probers.isEmpty { return readAhead }
        note(OriginTarget(isSecure: true, host: host, port: port))
        await awaitProcess()
        var visit = visit(host, port)
        var early = readAhead
        if worker.interceptors.claim(visit) == .afterOpening {
            let opening = try await peek(readAhead, inTunnel: true)
            if case .tls(let hello) = opening.kind {
                note(hello)
                visit.hello = hello
            }
            early = opening.takeBytes()
        }
        guard let machine = worker.interceptors.probe(for: visit) else { return early }
        try await serve(machine, early)
    }

    /// What an audit has prepared for a request in cleartext; `nil` for nothing.
    func plainProbe(_ target: OriginTarget) async -> (any ProbeMachine)? {
        guard !target.isSecure, session == nil,
            isClaimed(target.host, target.port)
        else { return nil }
        // Whose probe it continues depends on the program, which a new connection's look-up may not
        // have told yet.
        await awaitProcess()
        return worker.interceptors.probe(for: visit(target.host, target.port))
    }

    /// - Parameter early: what the client has sent already.
    func serve(
        _ machine: any ProbeMachine, _ early: ByteBuffer?
    ) async throws(ConnectionEnd) -> Never {
        record.notes.append(ConnectionNote("probe", machine.identifier))
        let relay = ProbeRelay(channel, writeTimeout: limits.bodyTimeout)
        let end = await relay.run(machine, early) { recordPlaintext(of: machine) }
        note(machine, end)
        throw ConnectionEnd(
            machine.outcome.outcome, machine.outcome.cause, by: end == .ours ? .tool : .client)
    }

    private func recordPlaintext(of machine: any ProbeMachine) {
        for (direction, bytes) in machine.takePlaintext() {
            recordSegment(bytes.span, direction, exchange: nil)
        }
    }

    private func note(_ machine: any ProbeMachine, _ end: ProbeEnd) {
        recordPlaintext(of: machine)
        guard let tls = machine.tls else { return }
        let hello = record.clientTLS
        record.clientTLS = tls
        record.clientTLS?.clientHello = hello?.clientHello ?? tls.clientHello
        record.clientTLS?.sni = hello?.sni
        record.clientTLS?.ja3 = hello?.ja3
        record.clientTLS?.ja4 = hello?.ja4
        if end == .cut { isCut = true }
    }
}
