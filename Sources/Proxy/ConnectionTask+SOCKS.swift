internal import Base
internal import Negotiation
internal import Sockets
internal import Traffic
internal import Transport

extension ConnectionTask {
    /// Serves a client that speaks SOCKS, and looks into its tunnel.
    func serveSOCKS(_ readAhead: ByteBuffer?) async throws(ConnectionEnd) {
        record.mode = .socks
        record.protocolName = "socks"
        var machine = SOCKSServerMachine(credentials: port.credentials)
        let buffer = readAhead ?? loop.buffers.take()
        channel.readDeadline = loop.now + limits.headTimeout
        while true {
            let step = machine.receive(buffer.readable)
            buffer.consume(step.consumed)
            for action in step.actions {
                switch action {
                case .send(let bytes): try await reply(bytes)
                case .login(let login):
                    if login.gavePassword, !login.isVerified {
                        noteOnce(
                            "proxy-login", "the client gave the proxy a password for \(login.user)")
                    }
                case .connect(let destination):
                    return try await connect(destination, &machine, buffer)
                case .done: continue
                case .refuse(let bytes, let refusal):
                    try await reply(bytes)
                    loop.buffers.give(buffer)
                    throw ConnectionEnd(.refused, "client \(refusal.detail)", by: .tool)
                }
            }
            try await readMore(into: buffer)
        }
    }

    private func connect(
        _ destination: SOCKSDestination, _ machine: inout SOCKSServerMachine, _ rest: ByteBuffer
    ) async throws(ConnectionEnd) {
        let host = destination.host.text.lowercased()
        note(OriginTarget(isSecure: true, host: host, port: destination.port))
        let dialled: DialledOrigin
        do throws(OriginFailure) {
            dialled = try await lane.dial(host, destination.port, reach: reach)
        } catch {
            note(error)
            for case .refuse(let bytes, _) in machine.fail(error.socksFailure) {
                try await reply(bytes)
            }
            throw ConnectionEnd(error.outcome, error.failure.detail, by: .tool)
        }
        record.originAddress = dialled.address.description
        for case .send(let bytes) in machine.succeed() { try await reply(bytes) }
        if rest.isEmpty { loop.buffers.give(rest) }
        try await serveTunnel(
            to: host, destination.port, dialled, readAhead: rest.isEmpty ? nil : rest)
    }

    private func reply(_ bytes: [UInt8]) async throws(ConnectionEnd) {
        guard !bytes.isEmpty else { return }
        let out = loop.buffers.take()
        defer { loop.buffers.give(out) }
        out.append(bytes)
        channel.writeDeadline = loop.now + limits.bodyTimeout
        do throws(StreamFailure) {
            try await client.write(out)
        } catch {
            throw ConnectionEnd(.broken, "client \(error.detail)", by: .client)
        }
    }

    private func readMore(into buffer: ByteBuffer) async throws(ConnectionEnd) {
        buffer.compact()
        do throws(StreamFailure) {
            if try await client.read(into: buffer) > 0 { return }
        } catch {
            loop.buffers.give(buffer)
            throw ConnectionEnd(
                error == .timedOut ? .timedOut : .broken,
                "client \(error.detail) in the negotiation of SOCKS",
                by: error == .timedOut ? .tool : .client)
        }
        loop.buffers.give(buffer)
        throw ConnectionEnd(
            .broken, "client ended the connection in the negotiation of SOCKS", by: .client)
    }
}

extension OriginFailure {
    /// What SOCKS says of it.
    fileprivate var socksFailure: SOCKSFailure {
        switch failure.code {
        case "proxy-loop": .loopRefused
        case "loopback-origin", "not-allowed": .notAllowed
        case "connect-timed-out": .timedOut
        case "connect-failed": .connectionRefused
        case let code where code.hasPrefix("resolve"): .hostUnreachable
        default: .other
        }
    }
}
