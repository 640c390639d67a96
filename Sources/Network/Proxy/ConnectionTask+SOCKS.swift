internal import Base
internal import Negotiation
internal import Origins
internal import Recording
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
        let host: String
        let port: UInt16
        let dialled: DialledOrigin?
        do throws(ConnectionEnd) {
            let destination = try await destination(&machine, buffer)
            (host, port) = (destination.host.text.lowercased(), destination.port)
            try await admit(host, port, &machine)
            dialled = try await connect(host, port, &machine)
        } catch {
            loop.buffers.give(buffer)
            throw error
        }
        if buffer.isEmpty { loop.buffers.give(buffer) }
        try await serveTunnel(
            to: host, port, dialled, readAhead: buffer.isEmpty ? nil : buffer)
    }

    /// Negotiates until the client has said where it wants to go.
    private func destination(
        _ machine: inout SOCKSServerMachine, _ buffer: ByteBuffer
    ) async throws(ConnectionEnd) -> SOCKSDestination {
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
                            .proxyLogin, "the client gave the proxy a password for \(login.user)")
                    }
                case .connect(let destination): return destination
                case .done: continue
                case .refuse(let bytes, let refusal):
                    try await reply(bytes)
                    throw ConnectionEnd(.refused, "client \(refusal.detail)", by: .tool)
                }
            }
            try await readMore(into: buffer)
        }
    }

    private func admit(
        _ host: String, _ port: UInt16, _ machine: inout SOCKSServerMachine
    ) async throws(ConnectionEnd) {
        note(OriginTarget(isSecure: true, host: host, port: port))
        guard let refusal = blocking(host) else { return }
        for case .refuse(let bytes, _) in machine.fail(.notAllowed) { try await reply(bytes) }
        throw ConnectionEnd(.refused, refusal.detail, by: .tool)
    }

    private func connect(
        _ host: String, _ port: UInt16, _ machine: inout SOCKSServerMachine
    ) async throws(ConnectionEnd) -> DialledOrigin? {
        let dialled: DialledOrigin?
        do throws(OriginFailure) {
            dialled = try await openTunnel(
                to: OriginTarget(isSecure: true, host: host, port: port), isNested: false)
        } catch {
            for case .refuse(let bytes, _) in machine.fail(error.socksFailure) {
                try await reply(bytes)
            }
            throw ConnectionEnd(error.outcome, error.failure.detail, by: .tool)
        }
        do throws(ConnectionEnd) {
            try await accept(&machine)
        } catch {
            dialled?.close()
            throw error
        }
        return dialled
    }

    private func accept(_ machine: inout SOCKSServerMachine) async throws(ConnectionEnd) {
        for case .send(let bytes) in machine.succeed() { try await reply(bytes) }
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
            throw ConnectionEnd(
                error == .timedOut ? .timedOut : .broken,
                "client \(error.detail) in the negotiation of SOCKS",
                by: error == .timedOut ? .tool : .client)
        }
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
