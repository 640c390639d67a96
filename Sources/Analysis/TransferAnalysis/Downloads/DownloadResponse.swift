internal import Base
internal import Contents
internal import HTTPModel
internal import Traffic

/// What one GET or HEAD brought of a resource.
struct DownloadResponse {
    /// Bytes that came, and where they stand in the content.
    struct Piece {
        let range: Range<Int64>
        let contentOffset: Int64
    }

    private(set) var part: TransferPart
    /// Whether a range was asked for.
    let asksForRange: Bool
    let isProbe: Bool
    /// `nil` where the response is about no version of the resource.
    private(set) var identity: VersionIdentity?
    private(set) var total: Int64?
    private(set) var pieces: [Piece] = []
    /// Digests of the content alone.
    private(set) var contentClaims: [ClaimedDigest] = []
    /// Whether the content is all of the resource, from its first byte on.
    private(set) var isWhole = false
    private let heads: TransferHeads

    /// Reads the content only of a multipart.
    init(_ heads: TransferHeads, _ source: any TrafficSource) throws {
        self.heads = heads
        let exchange = heads.exchange
        part = TransferPart(exchange, method: heads.method)
        let range = heads.asked("range")
        asksForRange = range != nil
        isProbe = heads.method == "HEAD"
        part.asked = shown(range)
        part.answered = shown(heads.answered("content-range"))
        if let condition = heads.asked("if-range") {
            part.ifRange = shown(condition)
            if condition.starts(with: Array("W/".utf8)) { note(.weakCondition) }
        }
        if !isProbe { part.bytes = max(0, exchange.responseBody.size) }
        let claims = ClaimedDigest.all(heads.response, trailers: exchange.responseBody.trailers)
        switch exchange.status {
        case 200, 203:
            identity = VersionIdentity(heads.response, digests: claims)
            readWhole()
        case 206 where !isProbe:
            identity = VersionIdentity(heads.response, digests: claims)
            try readPartial(source)
        case 416: readRefusal()
        default: break
        }
        if identity != nil, !isProbe { contentClaims = claims.filter { !$0.field.isOfWhole } }
        part.ranges = pieces.map(\.range)
    }

    /// Whether it is a reason to look at the exchange by itself.
    var isNotable: Bool {
        asksForRange || [206, 416].contains(part.status) || identity != nil && part.endedEarly
    }

    /// Whether something came, or would have if asked again.
    var isAttempt: Bool { identity != nil || heads.isTransientFailure }

    /// The end of the last byte that came.
    var end: Int64 { pieces.reduce(0) { max($0, $1.range.upperBound) } }

    private mutating func readWhole() {
        let announced = heads.announcedResponse
        if isProbe {
            total = announced
            return
        }
        let isBroken = heads.exchange.error != nil || heads.exchange.durationMicroseconds == nil
        part.endedEarly = announced.map { part.bytes < $0 } ?? isBroken
        total = announced ?? (isBroken ? nil : part.bytes)
        var count = part.bytes
        if let announced, count > announced {
            note(.tooLong)
            count = announced
        }
        if announced == nil, !isBroken, endsByClose { note(.endedByClose) }
        isWhole = true
        if asksForRange { note(.rangeIgnored) }
        if count > 0 { pieces = [Piece(range: 0..<count, contentOffset: 0)] }
    }

    private mutating func readPartial(_ source: any TrafficSource) throws {
        if !asksForRange { note(.rangeUnasked) }
        let type = ParameterizedValue(heads.answered("content-type") ?? [])
        if type.text == "multipart/byteranges" {
            return try readMultipart(type["boundary"] ?? [], source)
        }
        guard let field = heads.answered("content-range") else {
            return note(.unplaced, "no Content-Range")
        }
        do throws(ContentRangeViolation) {
            guard case .part(let range, let total) = try ContentRange(field) else {
                return note(.unplaced, "no range")
            }
            place(Int64(range.lowerBound)..<Int64(range.upperBound), of: total.map(Int64.init))
        } catch {
            note(.unplaced, "Content-Range \(error.rawValue)")
        }
    }

    private mutating func place(_ range: Range<Int64>, of total: Int64?) {
        let announced = range.upperBound - range.lowerBound
        self.total = total
        part.endedEarly = part.bytes < announced
        if part.bytes > announced { note(.tooLong) }
        if !isAsked(range, total) { note(.rangeDiffers) }
        let count = min(announced, part.bytes)
        guard count > 0 else { return }
        let came = range.lowerBound..<range.lowerBound + count
        pieces = [Piece(range: came, contentOffset: 0)]
    }

    private mutating func readMultipart(
        _ boundary: [UInt8], _ source: any TrafficSource
    ) throws {
        var reader = ByteRangesReader(boundary: boundary)
        var violation: ByteRangesReader.Violation?
        try source.body(ofExchange: heads.exchange.id, .response) { bytes in
            do throws(ByteRangesReader.Violation) {
                try reader.read(bytes[...])
                return !reader.isComplete
            } catch {
                violation = error
                return false
            }
        }
        reader.finish()
        if let violation { note(.multipartMalformed, violation.rawValue) }
        // What the recording left out passed all the same, but nobody can say where it lies.
        part.endedEarly =
            violation == nil && !reader.isComplete && !heads.exchange.responseBody.isTruncated
        total = reader.parts.first { $0.total != nil }?.total
        if reader.parts.contains(where: { $0.total != nil && $0.total != total }) {
            return note(.multipartMalformed, "parts of different sizes")
        }
        for part in reader.parts where part.count > 0 {
            let came = part.range.lowerBound..<part.range.lowerBound + part.count
            pieces.append(Piece(range: came, contentOffset: part.contentOffset))
        }
    }

    /// A refused range tells the size, and by that whether the resource is another one.
    private mutating func readRefusal() {
        guard let field = heads.answered("content-range") else { return }
        do throws(ContentRangeViolation) {
            if case .unsatisfied(let total) = try ContentRange(field) { self.total = Int64(total) }
        } catch {
            note(.unplaced, "Content-Range \(error.rawValue)")
        }
    }

    /// Whether the range starts where one was asked for, and ends no later.
    private func isAsked(_ range: Range<Int64>, _ total: Int64?) -> Bool {
        guard let field = heads.asked("range"), let asked = RangeSpecifier.list(field),
            asked.count == 1
        else { return true }
        switch asked[0] {
        case .from(let first): return Int64(exactly: first) == range.lowerBound
        case .bounded(let first, let last):
            return Int64(exactly: first) == range.lowerBound
                && UInt64(range.upperBound - 1) <= last
        case .suffix(let count):
            guard let total else { return true }
            return range.lowerBound == max(0, total - (Int64(exactly: count) ?? .max))
        }
    }

    private var endsByClose: Bool {
        let protocolName = heads.exchange.originProtocolName ?? heads.exchange.protocolName
        return protocolName.hasPrefix("HTTP/1") && heads.answered("transfer-encoding") == nil
    }

    private mutating func note(_ code: TransferNote.Code, _ detail: String = "") {
        part.notes.append(TransferNote(code, detail))
    }
}
