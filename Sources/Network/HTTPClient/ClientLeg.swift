internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Sockets
internal import Traffic
internal import Transport

/// A connection to an origin.
///
/// Not `Sendable`: it lives on one loop.
final class ClientLeg {
    let target: ClientTarget
    let stream: any ByteStream
    var record: ConnectionRecord
    private var unread: ByteBuffer?
    /// Whether it served an exchange before.
    var isUsed = false

    init(_ target: ClientTarget, stream: any ByteStream, record: ConnectionRecord) {
        self.target = target
        self.stream = stream
        self.record = record
    }

    /// Whether the next request may go over it.
    var isReady: Bool {
        let channel = stream.channel
        return unread == nil && !channel.peerEnded && !channel.isBroken && !channel.isClosed
            && (!isUsed || !stream.holdsBytes)
    }

    func write(_ bytes: [UInt8], timeout: UInt64) async throws(StreamFailure) {
        let out = stream.loop.buffers.take()
        defer { stream.loop.buffers.give(out) }
        var written = 0
        while written < bytes.count {
            let count = min(bytes.count - written, out.room)
            let all = bytes.span
            out.append(all.extracting(written..<written + count))
            written += count
            stream.writeDeadline = stream.loop.now + timeout
            try await stream.write(out)
        }
    }

    /// Reads a head, interim or final.
    func readHead(timeout: UInt64) async throws(Failure) -> ResponseHead {
        var scanned = 0
        while true {
            if let unread {
                do throws(HTTP1Violation) {
                    if let (head, consumed) = try ResponseReader.read(
                        unread.readable, limits: .response, alreadyScanned: scanned)
                    {
                        note(head.leniency)
                        unread.consume(consumed)
                        releaseIfEmpty()
                        return head
                    }
                } catch {
                    throw failure("origin-violation", error.detail)
                }
                scanned = unread.count
            }
            guard try await fill(timeout: timeout) > 0 else {
                throw failure(
                    "origin-closed", scanned == 0 ? "closed without an answer" : "closed in a head")
            }
        }
    }

    /// Reads a content to its end.
    func readContent(
        _ framing: BodyFraming, timeout: UInt64, _ visit: (Span<UInt8>) async -> Void
    ) async throws(Failure) -> Fields {
        var body = BodyReader(framing, trailerLimits: .response)
        while !body.isComplete {
            if unread == nil, try await fill(timeout: timeout) == 0 {
                guard framing == .untilClose else {
                    throw failure("origin-closed", "closed in a content")
                }
                // RFC 9112 §9.8: what was cut on the way looks the same.
                guard stream.endedInOrder else {
                    throw failure("origin-truncated", "ended TLS without close_notify")
                }
                return .none
            }
            guard let unread else { continue }
            var ranges: [Range<Int>] = []
            let consumed: Int
            do throws(HTTP1Violation) {
                consumed = try body.consume(unread.readable) { ranges.append($0) }
            } catch {
                throw failure("origin-violation", error.detail)
            }
            for range in ranges { await visit(unread.copy(range).span) }
            unread.consume(consumed)
            releaseIfEmpty()
        }
        note(body.leniency)
        return body.trailers
    }

    private func note(_ leniency: HeadLeniency) {
        for note in leniency.notes where !record.notes.contains(where: { $0.code == note.code }) {
            record.notes.append(
                ConnectionNote(note.code, "a response of the origin had \(note.detail)"))
        }
    }

    /// Reads what comes next, whatever it is; whoever waits for it ends the wait.
    ///
    /// - Returns: whether anything came.
    func readPiece(_ visit: (Span<UInt8>) -> Void) async throws(Failure) -> Bool {
        if unread == nil, try await fill(timeout: Self.noTimeout) == 0 { return false }
        guard let unread else { return false }
        visit(unread.readable)
        unread.removeAll()
        releaseIfEmpty()
        return true
    }

    /// In milliseconds: longer than any machine runs.
    private static let noTimeout: UInt64 = 1 << 42

    private func fill(timeout: UInt64) async throws(Failure) -> Int {
        stream.readDeadline = stream.loop.now + timeout
        do throws(StreamFailure) {
            if unread == nil {
                try await stream.waitReadable()
                unread = stream.loop.buffers.take()
            }
            guard let unread else { return 0 }
            unread.compact()
            let count = try await stream.read(into: unread)
            releaseIfEmpty()
            return count
        } catch {
            releaseIfEmpty()
            throw failure(of: error)
        }
    }

    private func releaseIfEmpty() {
        guard let buffer = unread, buffer.isEmpty else { return }
        unread = nil
        stream.loop.buffers.give(buffer)
    }

    func failure(of error: StreamFailure) -> Failure {
        failure(
            error.isTimeout
                ? "timed-out"
                : error.demandsCertificate ? "client-certificate-required" : "origin-closed",
            error.detail)
    }

    private func failure(_ code: String, _ detail: String) -> Failure {
        Failure(code, party: .origin, "\(target.authority): \(detail)")
    }

    func close() {
        if let unread { stream.loop.buffers.give(unread) }
        unread = nil
        stream.close()
    }
}
