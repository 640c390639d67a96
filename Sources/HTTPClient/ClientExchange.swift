internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Traffic
internal import Transport

/// One request and its answer, while they pass.
struct ClientExchange {
    private let request: ClientRequest
    private var record: ExchangeRecord
    private var sent: ContentJournal
    private var received: ContentJournal
    private(set) var keepsAlive = false

    init(_ request: ClientRequest, _ number: Int64, on connection: Int64, at start: Timestamp) {
        self.request = request
        record = ExchangeRecord(
            id: number, connection: connection, startedAt: start,
            scheme: request.target.isSecure ? .https : .http,
            authority: request.target.authority)
        record.requestHead = request.head
        sent = ContentJournal(exchange: number, .request)
        received = ContentJournal(exchange: number, .response)
    }

    var isAnswered: Bool { !record.responseHead.isEmpty || !record.interimHeads.isEmpty }

    mutating func run(
        over leg: ClientLeg, _ configuration: ClientConfiguration, _ journal: ClientJournal
    ) async throws(Failure) -> ClientAnswer {
        var sendingFailure: StreamFailure?
        do throws(StreamFailure) {
            try await leg.write(request.head, timeout: configuration.writeTimeout)
            try await sendContent(over: leg, configuration, journal)
        } catch {
            // The origin may have answered before it broke off.
            sendingFailure = error
        }
        if let contentFailure { throw contentFailure }
        let head: ResponseHead
        do throws(Failure) {
            head = try await finalHead(over: leg, configuration)
        } catch {
            throw sendingFailure.map(leg.failure) ?? error
        }
        let answer = try await content(of: head, over: leg, configuration, journal)
        keepsAlive = keepsAlive && sendingFailure == nil
        end(nil, in: journal)
        return answer
    }

    /// Why the content to send could not be read.
    private var contentFailure: Failure?

    private mutating func sendContent(
        over leg: ClientLeg, _ configuration: ClientConfiguration, _ journal: ClientJournal
    ) async throws(StreamFailure) {
        var offset: Int64 = 0
        while true {
            let piece: [UInt8]
            do throws(Failure) {
                piece = try self.piece(at: offset)
            } catch {
                contentFailure = error
                return
            }
            guard !piece.isEmpty else { break }
            sent.append(piece.span, to: journal)
            offset += Int64(piece.count)
            let timeout = configuration.writeTimeout
            if request.isChunked {
                let line = [UInt8]((String(piece.count, radix: 16) + "\r\n").utf8)
                try await leg.write(line + piece + [0x0D, 0x0A], timeout: timeout)
            } else {
                try await leg.write(piece, timeout: timeout)
            }
            await journal.waitForRoom()
        }
        guard request.isChunked else { return }
        try await leg.write([UInt8]("0\r\n\r\n".utf8), timeout: configuration.writeTimeout)
    }

    private func piece(at offset: Int64) throws(Failure) -> [UInt8] {
        switch request.content {
        case .bytes(let bytes): offset == 0 ? bytes : []
        case .pieces(let read): try read(offset).get()
        }
    }

    private mutating func finalHead(
        over leg: ClientLeg, _ configuration: ClientConfiguration
    ) async throws(Failure) -> ResponseHead {
        while true {
            let head = try await leg.readHead(timeout: configuration.readTimeout)
            if !head.isInterim {
                record.responseHead = head.raw
                record.status = head.status
                record.firstByteMicroseconds = Timestamp.now().microseconds(
                    since: record.startedAt)
                return head
            }
            record.interimHeads.append(head.raw)
            guard record.interimHeads.count <= Self.interimLimit else {
                throw Failure(
                    "origin-violation", party: .origin,
                    "\(request.target.authority): more than \(Self.interimLimit) interim responses")
            }
        }
    }

    /// Nobody has a use for more.
    private static let interimLimit = 32

    private mutating func content(
        of head: ResponseHead, over leg: ClientLeg, _ configuration: ClientConfiguration,
        _ journal: ClientJournal
    ) async throws(Failure) -> ClientAnswer {
        let framing: BodyFraming
        do throws(HTTP1Violation) {
            framing = try MessageFraming.ofResponse(head, toMethod: request.method)
        } catch {
            throw Failure(
                "origin-violation", party: .origin,
                "\(request.target.authority): \(error.detail)")
        }
        guard framing != .tunnel else { return ClientAnswer(head: head, content: [], isCut: false) }
        keepsAlive =
            head.version == .http11 && framing != .untilClose
            && !head.fields.contains(.connection, token: "close")
        var kept: [UInt8] = []
        let limit = configuration.keptContentLimit
        var journaled = received
        let trailers: Fields
        do throws(Failure) {
            trailers = try await leg.readContent(framing, timeout: configuration.readTimeout) {
                piece in
                journaled.append(piece, to: journal)
                let count = min(piece.count, limit - kept.count)
                unsafe piece.extracting(..<count).withUnsafeBufferPointer {
                    unsafe kept.append(contentsOf: $0)
                }
                await journal.waitForRoom()
            }
        } catch {
            received = journaled
            throw error
        }
        received = journaled
        record.responseBody.trailers = trailers.raw
        return ClientAnswer(
            head: head, content: kept, isCut: Int64(kept.count) < received.body.size)
    }

    mutating func end(_ failure: Failure?, in journal: ClientJournal) {
        record.durationMicroseconds = Timestamp.now().microseconds(since: record.startedAt)
        record.error = failure?.code
        record.errorDetail = failure?.detail
        record.requestBody = sent.finish(trailers: [], to: journal)
        record.responseBody = received.finish(
            trailers: record.responseBody.trailers, to: journal)
        journal.tell(.exchange(record))
    }
}
