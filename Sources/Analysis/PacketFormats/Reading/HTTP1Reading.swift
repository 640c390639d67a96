internal import Base
internal import Contents
internal import Formats
internal import HTTPCodecs
internal import HTTPModel
internal import Recording
internal import Traffic

/// Reads the exchanges of HTTP/1 out of both directions of a connection.
final class HTTP1Reading {
    private let writer: ImportWriter
    private let messages: ImportedMessages
    private let connection: Int64
    private let scheme: ExchangeRecord.Scheme
    private let origin: String
    /// What every request is for, `nil` if each tells it.
    private let authority: String?
    /// By `Direction.rawValue`: what waits to be read.
    private var buffers = [UnreadBytes(), UnreadBytes()]
    private var requestBody: BodyReader?
    private var responseBody: BodyReader?
    /// Those that are under way; the first is answered next.
    private var open: [OpenExchange] = []
    private(set) var exchangeCount: Int64

    /// What became of the connection.
    enum Turn {
        /// HTTP goes on.
        case none
        /// Behind a CONNECT: what follows is for an origin, and is as new.
        case tunnel(target: String)
        /// Behind a 101: what follows is of another protocol.
        case upgraded(OpenExchange, ResponseHead)
        /// Behind a 101: the exchange goes on as the first stream (RFC 7540 §3.2).
        case http2(OpenExchange)
        case broken(HTTP1Violation)
        /// Too much waits for answers that do not come.
        case unanswered
    }

    /// Requests that wait for answers: beyond what clients send ahead.
    static let openLimit = 256
    /// In bytes: what is kept of a head that breaks the grammar, and of a host's name in it.
    private static let headLimit = 64 << 10
    private static let hostLimit = 255
    /// In bytes: what is held of further requests.
    private static let aheadLimit = 1 << 20

    /// - Parameter exchangeCount: of exchanges on the connection so far.
    init(
        _ writer: ImportWriter, _ messages: ImportedMessages, connection: Int64,
        scheme: ExchangeRecord.Scheme, origin: String, authority: String? = nil,
        exchangeCount: Int64 = 0
    ) {
        self.writer = writer
        self.messages = messages
        self.connection = connection
        self.scheme = scheme
        self.origin = origin
        self.authority = authority
        self.exchangeCount = exchangeCount
    }

    /// What came and was not read, when HTTP ended.
    func rest(_ direction: Direction) -> [UInt8] { buffers[direction.rawValue].array }

    func read(_ bytes: [UInt8], _ direction: Direction, at time: Timestamp) -> Turn {
        buffers[direction.rawValue].append(bytes)
        do throws(HTTP1Violation) {
            if direction == .request { try readRequests(time) }
            while true {
                let turn = try readResponses(time)
                // Requests that were too many at once have room now.
                guard case .none = turn, open.isEmpty else { return judged(turn) }
                try readRequests(time)
                guard !open.isEmpty else { return .none }
            }
        } catch {
            if !open.isEmpty { open[0].record.error = error.rawValue }
            return .broken(error)
        }
    }

    private func judged(_ turn: Turn) -> Turn {
        guard case .none = turn else { return turn }
        // Answers to what was not caught.
        if open.isEmpty, buffers[1].count > Self.aheadLimit { return .broken(.invalidStatusLine) }
        return isFull && buffers[0].count > Self.aheadLimit ? .unanswered : turn
    }

    private var isFull: Bool { open.count >= Self.openLimit }

    /// Ends with the connection, which ends contents that have no other end.
    func finish(at time: Timestamp, _ end: ExchangeEnd) {
        if isFull, !buffers[0].isEmpty {
            writer.losses.note(.requestsUnanswered, "connection \(connection)")
        }
        for exchange in open { exchange.finish(at: time, end) }
        open = []
    }

    // MARK: Requests

    private func readRequests(_ time: Timestamp) throws(HTTP1Violation) {
        while true {
            if requestBody != nil {
                guard try readBody(&requestBody, .request) else { return }
            }
            guard !isFull, buffers[0].hasNew else { return }
            let (bytes, start) = (buffers[0].all, buffers[0].start)
            let read: (head: RequestHead, consumed: Int)?
            do throws(HTTP1Violation) {
                read = try RequestReader.read(
                    bytes.span.extracting(start...), alreadyScanned: buffers[0].scanned)
            } catch {
                keepMalformedRequest(error, time)
                throw error
            }
            guard let (head, consumed) = read else { return buffers[0].markScanned() }
            buffers[0].drop(consumed)
            begin(head, time)
            requestBody = BodyReader(try MessageFraming.ofRequest(head))
        }
    }

    /// Keeps a head that breaks the grammar as it came, as the proxy does, and what stands behind it:
    /// a server may have understood it.
    private func keepMalformedRequest(_ violation: HTTP1Violation, _ time: Timestamp) {
        let (raw, rest) = Self.head(in: buffers[0].rest)
        let head = RecordedHead(raw)
        let host = head.first(named: "host").map { Array($0.prefix(Self.hostLimit)).text }
        var record = ExchangeRecord(
            id: writer.makeExchangeNumber(), connection: connection, startedAt: time,
            scheme: scheme, authority: host ?? origin)
        record.requestHead = raw
        record.protocolName = "HTTP/1.1"
        record.error = violation.rawValue
        let exchange = OpenExchange(record, method: .other, to: writer, messages)
        exchange.recorder.append([UInt8](rest.prefix(Self.aheadLimit)).span, .request)
        open.append(exchange)
        exchangeCount += 1
    }

    /// A head up to its empty line, or as much of it as a head may have, and what follows.
    private static func head(in bytes: ArraySlice<UInt8>) -> ([UInt8], ArraySlice<UInt8>) {
        var lineStart = bytes.startIndex
        // Empty lines may stand before it.
        var isBegun = false
        for index in bytes.prefix(headLimit).indices where bytes[index] == 0x0A {
            let line = bytes[lineStart..<index]
            lineStart = index + 1
            if !line.isEmpty, !line.elementsEqual([0x0D]) {
                isBegun = true
            } else if isBegun {
                return ([UInt8](bytes[..<lineStart]), bytes[lineStart...])
            }
        }
        return ([UInt8](bytes.prefix(headLimit)), bytes.dropFirst(headLimit))
    }

    private func begin(_ head: RequestHead, _ time: Timestamp) {
        let target = head.target.text
        var authority = self.authority ?? head.fields.first(.host)?.text ?? origin
        if head.knownMethod == .connect { authority = target }
        if self.authority == nil, let range = target.firstRange(of: "://") {
            authority = String(target[range.upperBound...].prefix { $0 != "/" && $0 != "?" })
        }
        let isConnect = head.knownMethod == .connect
        var record = ExchangeRecord(
            id: isConnect ? 0 : writer.makeExchangeNumber(), connection: connection,
            startedAt: time, scheme: scheme, authority: authority)
        record.requestHead = head.raw
        record.protocolName = head.version.text
        let exchange = OpenExchange(
            record, method: head.knownMethod, target: target, to: writer, messages)
        exchange.recorder.watchContent(behind: head.fields, .request)
        open.append(exchange)
        if !isConnect { exchangeCount += 1 }
    }

    // MARK: Responses

    private func readResponses(_ time: Timestamp) throws(HTTP1Violation) -> Turn {
        while true {
            if responseBody != nil {
                guard try readBody(&responseBody, .response) else { return .none }
                endFirst(at: time)
            }
            guard let first = open.first, buffers[1].hasNew else { return .none }
            let (bytes, start) = (buffers[1].all, buffers[1].start)
            let read: (head: ResponseHead, consumed: Int)?
            do throws(HTTP1Violation) {
                read = try ResponseReader.read(
                    bytes.span.extracting(start...), limits: .response,
                    alreadyScanned: buffers[1].scanned)
            } catch {
                first.record.responseHead = Self.head(in: buffers[1].rest).0
                throw error
            }
            guard let (head, consumed) = read else {
                buffers[1].markScanned()
                return .none
            }
            buffers[1].drop(consumed)
            guard !head.isInterim else {
                open[0].record.interimHeads.append(head.raw)
                continue
            }
            first.recorder.note(head, at: time)
            // Packets of the two sides may be out of order: that the request is whole is not asked.
            let framing = try MessageFraming.ofResponse(
                head, toMethod: first.method, offer: Self.offer(in: first.record.requestHead),
                isRequestWhole: true)
            open[0].endsWithConnection = framing == .untilClose
            guard framing == .tunnel else {
                if first.record.id == 0 { open[0] = numbered(open[0]) }
                open[0].recorder.watchContent(behind: head.fields, .response)
                responseBody = BodyReader(framing, trailerLimits: .response)
                continue
            }
            if first.method != .connect, head.fields.contains(.upgrade, token: "h2c") {
                return .http2(takeFirst(head))
            }
            guard first.method == .connect else { return .upgraded(open.removeFirst(), head) }
            endFirst(at: time)
            return .tunnel(target: first.target)
        }
    }

    private static func offer(in head: [UInt8]) -> UpgradeOffer {
        do throws(HTTP1Violation) {
            guard let request = try RequestReader.read(head.span)?.head else { return .none }
            return UpgradeOffer(namedIn: request.fields)
        } catch {
            // A head that was read before is read again.
            return .none
        }
    }

    /// A CONNECT that failed is an exchange like others.
    private func numbered(_ exchange: OpenExchange) -> OpenExchange {
        var record = exchange.record
        record.id = writer.makeExchangeNumber()
        exchangeCount += 1
        var numbered = OpenExchange(
            record, method: exchange.method, target: exchange.target, to: writer, messages)
        numbered.endsWithConnection = exchange.endsWithConnection
        return numbered
    }

    /// The response of an exchange that changes over to HTTP/2 is yet to come.
    private func takeFirst(_ head: ResponseHead) -> OpenExchange {
        let exchange = open.removeFirst()
        exchange.record.interimHeads.append(head.raw)
        exchange.record.responseHead = []
        exchange.record.status = 0
        exchange.record.firstByteMicroseconds = nil
        return exchange
    }

    private func endFirst(at time: Timestamp) {
        let exchange = open.removeFirst()
        // A response may come before its request has ended; what follows of that is passed over.
        if open.isEmpty, requestBody?.isComplete == false { requestBody = BodyReader(.untilClose) }
        exchange.write(at: time)
    }

    // MARK: Contents

    /// - Returns: whether the body has ended.
    private func readBody(
        _ reader: inout BodyReader?, _ direction: Direction
    ) throws(HTTP1Violation) -> Bool {
        guard var body = reader.take() else { return true }
        let side = direction.rawValue
        var content: [UInt8] = []
        let (bytes, start) = (buffers[side].all, buffers[side].start)
        let consumed = try body.consume(bytes.span.extracting(start...)) { range in
            content += bytes[(start + range.lowerBound)..<(start + range.upperBound)]
        }
        buffers[side].drop(consumed)
        add(content, direction)
        guard body.isComplete else {
            reader = body
            return false
        }
        let trailers = body.trailers.raw
        switch direction {
        case .request: open.last?.recorder.noteTrailers(trailers, direction)
        case .response: open[0].recorder.noteTrailers(trailers, direction)
        }
        return true
    }

    private func add(_ content: [UInt8], _ direction: Direction) {
        let exchange = direction == .request ? open.last : open.first
        exchange?.recorder.append(content.span, direction)
    }
}
