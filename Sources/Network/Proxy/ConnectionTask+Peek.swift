internal import Base
internal import Origins
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

/// What was found at the start of a connection or a tunnel, with the bytes that showed it.
///
/// A class, so that the bytes have one owner: what a connection keeps on its stack it keeps for life.
final class PeekedOpening {
    let kind: Opening
    private var bytes: ByteBuffer?

    init(kind: Opening, bytes: ByteBuffer?) {
        self.kind = kind
        self.bytes = bytes
    }

    /// Hands the bytes over, once.
    func takeBytes() -> ByteBuffer? {
        bytes.take()
    }
}

extension ConnectionTask {
    /// Reads until it is clear what is spoken.
    ///
    /// - Parameters:
    ///   - readAhead: bytes that came before.
    ///   - inTunnel: whether anything may be spoken.
    @inline(never)
    func peek(
        _ readAhead: ByteBuffer?, inTunnel: Bool = false
    ) async throws(ConnectionEnd) -> PeekedOpening {
        channel.readDeadline = loop.now + limits.openingTimeout
        var held = readAhead
        while true {
            if let bytes = held, let kind = Opening.judge(bytes.readable, inTunnel: inTunnel) {
                return PeekedOpening(kind: kind, bytes: bytes)
            }
            if held == nil { try await awaitFirstByte() }
            let bytes = held ?? loop.buffers.take()
            held = bytes
            guard bytes.room > 0 else { return PeekedOpening(kind: .unknown, bytes: bytes) }
            switch channel.receive(into: bytes) {
            case .value(0):
                // Half a hello or preface is told as what it is; a short file is passed on.
                if inTunnel, !bytes.isEmpty, bytes[0] != 0x16, bytes[0] != 0x50 {
                    return PeekedOpening(kind: .unknown, bytes: bytes)
                }
                throw closedEarly(bytes)
            case .value: continue
            case .wouldBlock:
                if bytes.isEmpty {
                    loop.buffers.give(bytes)
                    held = nil
                }
                // What may yet be a request is something else if it does not go on.
                if inTunnel, !bytes.isEmpty, bytes[0] >= 0x20, bytes[0] < 0x7F {
                    channel.readDeadline = min(channel.readDeadline, loop.now + Self.lineTime)
                    if await channel.waitReadable() == .timedOut {
                        return PeekedOpening(kind: .unknown, bytes: bytes)
                    }
                    continue
                }
                try await awaitFirstByte()
            case .failed(let error):
                throw ConnectionEnd(
                    .broken, "client broke the connection off: \(error)", by: .client)
            }
        }
    }

    /// How long the rest of a first line is waited for in a tunnel, in milliseconds.
    static let lineTime: UInt64 = 1_000

    private func awaitFirstByte() async throws(ConnectionEnd) {
        switch await channel.waitReadable() {
        case .ready: return
        case .timedOut:
            throw ConnectionEnd(
                .timedOut,
                "client sent nothing that could be understood for \(limits.openingTimeout / 1000) s",
                by: .tool)
        case .closed:
            throw ConnectionEnd(.cut, "the proxy was shut down", by: .tool)
        }
    }

    private func closedEarly(_ bytes: ByteBuffer) -> ConnectionEnd {
        guard !bytes.isEmpty else {
            return ConnectionEnd(.completed, "client closed without sending a byte", by: .client)
        }
        record.protocolName = bytes[0] == 0x16 ? "tls" : "unknown"
        return ConnectionEnd(
            .broken, "client closed after \(bytes.count) bytes that begin no known protocol",
            by: .client)
    }

    /// The same in a tunnel, where the origin may be the one that speaks first.
    func peekTunnel(
        _ readAhead: ByteBuffer?, _ origin: DialledOrigin
    ) async throws(ConnectionEnd) -> PeekedOpening {
        guard readAhead == nil else { return try await peek(readAhead, inTunnel: true) }
        let deadline = loop.now + limits.openingTimeout
        while loop.now < deadline, !channel.isClosed {
            let bytes = loop.buffers.take()
            let outcome = channel.receive(into: bytes)
            if case .value(let count) = outcome, count > 0 {
                return try await peek(bytes, inTunnel: true)
            }
            loop.buffers.give(bytes)
            if outcome != .wouldBlock {
                throw ConnectionEnd(
                    .completed, "client closed the tunnel without sending a byte", by: .client)
            }
            if channel.isInterrupted {
                throw ConnectionEnd(.cut, "the proxy was shut down", by: .tool)
            }
            if !origin.channel.isQuiet, !origin.beginsHTTP2 {
                return PeekedOpening(kind: .silent, bytes: nil)
            }
            await Channel.waitForEvent(
                on: [channel, origin.channel], loop: loop, deadline: deadline)
        }
        throw ConnectionEnd(.timedOut, "neither side spoke in the tunnel", by: .tool)
    }

    /// Ends a connection that speaks what this port does not serve.
    @inline(never)
    func refuse(_ opening: PeekedOpening) async throws(ConnectionEnd) -> Never {
        let cause: String
        switch opening.kind {
        case .tls(let hello):
            note(hello)
            cause = "client spoke TLS to a port that does not serve it"
        case .brokenTLS(let violation):
            record.protocolName = "tls"
            await sendAlert(50)
            cause = "client sent no valid ClientHello: \(violation.detail)"
        case .http:
            cause = "client spoke HTTP without TLS to a port that serves TLS"
            await answerPlainly(
                ToolResponse(400, "tls-expected", "this port speaks TLS", hint: "use https://"))
        case .http2Preface:
            record.protocolName = "h2c"
            cause = "client spoke HTTP/2 without TLS to a port that serves TLS"
        case .socks:
            record.protocolName = "socks"
            cause = "client spoke SOCKS to a port that does not serve it"
        case .unknown, .silent:
            record.protocolName = "unknown"
            cause = "client spoke no protocol that this port serves"
            await answerPlainly(.notAProxyRequest)
        }
        if let bytes = opening.takeBytes() { loop.buffers.give(bytes) }
        throw ConnectionEnd(.refused, cause, by: .tool)
    }

    private func answerPlainly(_ answer: ToolResponse) async {
        let message = answer.message(closes: true, includesContent: true)
        await send(message.head + message.content)
    }

    /// Tells a client why its hello is not answered (RFC 8446 §6.2), such as 50 for decode_error.
    func sendAlert(_ code: UInt8) async {
        record.clientTLS = record.clientTLS ?? TLSRecord()
        record.clientTLS?.alerts = [
            AlertRecord(
                sender: .tool, fatal: true, name: TLSAlert(isFatal: true, code: code).name)
        ]
        await send([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, code])
    }

    private func send(_ bytes: [UInt8]) async {
        let buffer = loop.buffers.take()
        defer { loop.buffers.give(buffer) }
        buffer.append(bytes)
        channel.writeDeadline = loop.now + limits.bodyTimeout
        do throws(StreamFailure) {
            try await PlainStream(channel).write(buffer)
        } catch {
            // The client has gone before its answer; the record's cause says the rest.
            channel.close()
        }
    }
}
