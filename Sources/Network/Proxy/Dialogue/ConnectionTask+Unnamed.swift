internal import Base
internal import Origins
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

extension ConnectionTask {
    /// How long a client is heard whose origin cannot be had, in milliseconds: one that waits for
    /// its origin's greeting would wait in vain.
    private static let hearingTime: UInt64 = 2_000

    /// Serves what is spoken inside of TLS without having been named by ALPN.
    func serveUnnamed(
        _ stream: TLSStream, through entry: Entry, originFailure: OriginFailure?,
        serverName: String?
    ) async throws(ConnectionEnd) {
        guard let origin, origin.http2 == nil else {
            if let originFailure { try await hear(stream, originFailure) }
            return try await serveHTTP(
                stream, through: entry, originFailure: originFailure, serverName: serverName)
        }
        let words = FirstWord(client: stream, origin: origin.stream)
        await words.listen(until: loop.now + limits.openingTimeout)
        var kind: Opening?
        if let early = words.early {
            while kind == nil, early.room > 0 {
                kind = Opening.judge(early.readable, inTunnel: true)
                if kind == nil { guard await more(early, of: stream) else { break } }
            }
        }
        let isSilent = words.early == nil && words.late == nil
        if case .http? = kind {
            origin.unread = words.late
            try await serveHTTP(
                stream, through: entry, originFailure: originFailure, serverName: serverName,
                readAhead: words.early)
        } else if isSilent, words.gone != .origin {
            if words.gone == .client {
                // As with a file of no bytes by FTP, whose end the origin waits for.
                origin.isPersonal = true
                await origin.stream.end(as: stream)
            }
            // Whoever has said nothing is heard, and judged, where a first request is due.
            try await serveHTTP(
                stream, through: entry, originFailure: originFailure, serverName: serverName)
        } else {
            try await serveSecuredDialogue(
                stream, origin, nil, early: words.early, late: words.late)
        }
    }

    /// Waits for the first word of a client whose origin cannot be had.
    private func hear(
        _ stream: TLSStream, _ failure: OriginFailure
    ) async throws(ConnectionEnd) {
        stream.readDeadline = loop.now + Self.hearingTime
        do throws(StreamFailure) {
            try await stream.waitReadable()
        } catch {
            guard error == .timedOut else { return }
            client = stream
            record.closedBy = .tool
            throw ConnectionEnd(failure.outcome, failure.failure.detail, by: .tool)
        }
    }

    private func more(_ buffer: ByteBuffer, of stream: TLSStream) async -> Bool {
        stream.readDeadline = loop.now + Self.lineTime
        do throws(StreamFailure) {
            return try await stream.read(into: buffer) > 0
        } catch {
            return false
        }
    }
}
