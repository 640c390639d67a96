internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Sockets
internal import Traffic
internal import Transport

/// A connection to an origin.
///
/// Not `Sendable`: it lives on one loop.
final class ClientLeg {
    let origin: OriginLeg
    var record: ConnectionRecord

    init(_ origin: OriginLeg, record: ConnectionRecord) {
        self.origin = origin
        self.record = record
    }

    var stream: any ByteStream { origin.stream }

    /// Whether it served an exchange before.
    var isUsed: Bool { origin.exchangeCount > 0 }

    /// Takes note of an exchange that begins.
    func noteExchange() { origin.exchangeCount += 1 }

    /// Whether the next request may go over it.
    var isReady: Bool { origin.isReady }

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
    func readHead(
        timeout: UInt64, longHeads: LongHeadLedger
    ) async throws(Failure) -> ResponseHead {
        stream.readDeadline = stream.loop.now + timeout
        do throws(OriginReadFailure) {
            let head = try await origin.readHead(limits: .response, longHeads: longHeads)
            noteLeniency()
            return head
        } catch {
            throw failure(of: error, "closed without a whole answer")
        }
    }

    /// Reads a content to its end, or until `visit` wants no more.
    ///
    /// - Returns: the trailers; `nil` if the end was not reached.
    func readContent(
        _ framing: BodyFraming, timeout: UInt64, _ visit: (Span<UInt8>) async -> Bool
    ) async throws(Failure) -> Fields? {
        var body = BodyReader(framing, trailerLimits: .response)
        while !body.isComplete {
            if origin.unread == nil {
                do throws(OriginReadFailure) {
                    try await fill(timeout: timeout)
                } catch {
                    guard case .ended = error, framing == .untilClose else {
                        throw failure(of: error, "closed in a content")
                    }
                    // RFC 9112 §9.8: what was cut on the way looks the same.
                    guard stream.endedInOrder else {
                        throw failure("origin-truncated", "ended TLS without close_notify")
                    }
                    return Fields.none
                }
            }
            guard let unread = origin.unread else { continue }
            var ranges: [Range<Int>] = []
            let consumed: Int
            do throws(HTTP1Violation) {
                consumed = try body.consume(unread.readable) { ranges.append($0) }
            } catch {
                throw failure("origin-violation", error.detail)
            }
            for range in ranges {
                guard await visit(unread.copy(range).span) else { return nil }
            }
            unread.consume(consumed)
            releaseIfEmpty()
        }
        origin.leniency.formUnion(body.leniency)
        noteLeniency()
        return body.trailers
    }

    private func noteLeniency() {
        for note in origin.takeLeniency().notes
        where !record.notes.contains(where: { $0.code == note.code }) {
            record.notes.append(
                ConnectionNote(note.code, "a response of the origin had \(note.detail)"))
        }
    }

    /// Reads what comes next, whatever it is; whoever waits for it ends the wait.
    ///
    /// - Returns: whether anything came.
    func readPiece(_ visit: (Span<UInt8>) -> Void) async throws(Failure) -> Bool {
        if origin.unread == nil {
            do throws(OriginReadFailure) {
                try await fill(timeout: Self.noTimeout)
            } catch .ended {
                return false
            } catch {
                throw failure(of: error, "")
            }
        }
        guard let unread = origin.unread else { return false }
        visit(unread.readable)
        unread.removeAll()
        releaseIfEmpty()
        return true
    }

    /// In milliseconds: longer than any machine runs.
    static let noTimeout: UInt64 = 1 << 42

    private func fill(timeout: UInt64) async throws(OriginReadFailure) {
        stream.readDeadline = stream.loop.now + timeout
        try await origin.fill()
    }

    private func releaseIfEmpty() {
        if origin.unread?.isEmpty ?? false { origin.releaseUnread() }
    }

    /// - Parameter end: says what an end means here.
    private func failure(of error: OriginReadFailure, _ end: String) -> Failure {
        switch error {
        case .stream(let error): failure(of: error)
        case .ended: failure("origin-closed", end)
        case .violation(let violation): failure("origin-violation", violation.detail)
        }
    }

    func failure(of error: StreamFailure) -> Failure {
        failure(
            error.isTimeout
                ? "timed-out"
                : error.demandsCertificate ? OriginFailureText.certificateCode : "origin-closed",
            error.detail)
    }

    private func failure(_ code: String, _ detail: String) -> Failure {
        Failure(code, party: .origin, "\(origin.target.authority): \(detail)")
    }

    func close() { origin.close() }
}
