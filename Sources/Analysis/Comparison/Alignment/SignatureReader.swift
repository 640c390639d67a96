internal import Base
internal import HTTPModel
internal import Replay
package import Traffic

/// Makes signatures of exchanges.
package struct SignatureReader {
    private let configuration: ComparisonConfiguration
    private let rules: ReplayRules
    private let haveScopes: Bool
    private let hasQueryRules: Bool
    private let passing: PassingNames

    package init(_ configuration: ComparisonConfiguration) {
        self.configuration = configuration
        rules = configuration.rules
        haveScopes = rules.haveScopes
        hasQueryRules = rules.rules.contains {
            if case .query = $0.part { true } else { false }
        }
        passing = PassingNames(configuration)
    }

    /// The signature without the contents.
    package func signature(of exchange: ExchangeRecord) -> ExchangeSignature {
        if haveScopes {
            var placed = configuration
            placed.rules = rules.at([exchange.place])
            return SignatureReader(placed).signature(of: exchange)
        }
        var signature = ExchangeSignature(id: exchange.id)
        let target = RequestTargetParts(exchange.requestHead)
        readPlace(of: exchange, target, into: &signature)
        readTarget(target, into: &signature)
        signature.status =
            rules.ignores(.response, .status) ? 0 : Int32(truncatingIfNeeded: exchange.status)
        (signature.requestHead, signature.requestType) = head(exchange.requestHead, .request)
        (signature.responseHead, signature.responseType) = head(exchange.responseHead, .response)
        signature.requestTrailers = Self.hash(exchange.requestBody.trailers[...])
        signature.responseTrailers = Self.hash(exchange.responseBody.trailers[...])
        signature.responseSize = exchange.responseBody.size
        signature.durationMicroseconds = exchange.durationMicroseconds ?? -1
        var hasher = Hasher()
        hasher.combine(exchange.error)
        hasher.combine(exchange.answeredByTool)
        hasher.combine(exchange.interimHeads)
        hasher.combine(exchange.protocolName)
        signature.outcome = hasher.finalize()
        return signature
    }

    private func readPlace(
        of exchange: ExchangeRecord, _ target: RequestTargetParts,
        into signature: inout ExchangeSignature
    ) {
        let head = exchange.requestHead
        var place = Hasher()
        if !rules.ignores(.request, .method) {
            unsafe head[target.method].withUnsafeBytes { unsafe place.combine(bytes: $0) }
        }
        place.combine(UInt8(0x20))
        if rules.ignores(.request, .path) {
            place.combine(rules.pathName)
        } else {
            PathTemplate.hash(head[target.path], into: &place)
        }
        signature.place = place.finalize()
        var authority = Hasher()
        if !rules.ignores(.request, .authority) {
            authority.combine(exchange.scheme)
            authority.combine(exchange.authority.lowercased())
        }
        signature.authority = authority.finalize()
        var group = Hasher()
        group.combine(signature.place)
        group.combine(signature.authority)
        signature.group = group.finalize()
    }

    private func readTarget(_ target: RequestTargetParts, into signature: inout ExchangeSignature) {
        let head = target.head
        var hasher = Hasher()
        if !rules.ignores(.request, .path) {
            unsafe head[target.path].withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        }
        var names = 0
        if !target.query.isEmpty {
            for item in head[target.query].split(separator: UInt8(ascii: "&")) {
                let name = item.prefix { $0 != UInt8(ascii: "=") }
                if hasQueryRules, rules.ignores(.request, .query(name.text)) { continue }
                names &+= Self.hash(name)
                unsafe item.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
                hasher.combine(UInt8(0x26))
            }
        }
        signature.queryNames = names
        signature.target = hasher.finalize()
    }

    /// Hashes the fields that count, in their order, and the media type.
    private func head(_ head: [UInt8], _ side: ReplayRule.Side) -> (fields: Int, type: Int) {
        var hasher = Hasher()
        var type = 0
        var start = (head.index(of: 0x0A, from: 0) ?? head.count) + 1
        // Where the lines begin that count and were not hashed yet.
        var runStart = min(start, head.count)
        while start < head.count {
            let end = head.index(of: 0x0A, from: start) ?? head.count
            var colon = start
            while colon < end, head[colon] != 0x3A { colon += 1 }
            let name = head[start..<(colon < end ? colon : start)]
            if passing.contains(name, side) {
                Self.hash(head[runStart..<start], into: &hasher)
                runStart = min(end + 1, head.count)
            } else if name.count == 12, name.equalsIgnoringCase("content-type") {
                type = Self.hash(head[colon..<end].prefix { $0 != UInt8(ascii: ";") })
            }
            start = end + 1
        }
        Self.hash(head[runStart...], into: &hasher)
        return (hasher.finalize(), type)
    }

    private static func hash(_ bytes: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        hash(bytes, into: &hasher)
        return hasher.finalize()
    }

    private static func hash(_ bytes: ArraySlice<UInt8>, into hasher: inout Hasher) {
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
}

extension ExchangeRecord {
    /// Where rules look for it.
    var place: (authority: String, path: String) { (authority, path.text) }

    /// Without the query.
    var path: ArraySlice<UInt8> { requestHead[RequestTargetParts(requestHead).path] }
}

/// The names of fields that count for nothing, told quickly.
private struct PassingNames {
    private let configuration: ComparisonConfiguration
    /// The first letters that such names have, a bit each, by the names' length; `nil` where rules
    /// may name any.
    private var letters: [UInt32]?

    init(_ configuration: ComparisonConfiguration) {
        self.configuration = configuration
        let hasPatterns = configuration.rules.rules.contains {
            if case .header = $0.part { $0.action != .match } else { false }
        }
        guard !hasPatterns else { return }
        var letters = [UInt32](repeating: 0, count: 32)
        for name in PassingFields.madeUp {
            letters[name.utf8.count] |= Self.bit(name.utf8.first ?? 0)
        }
        self.letters = letters
    }

    private static func bit(_ letter: UInt8) -> UInt32 { 1 << UInt32(letter & 31) }

    func contains(_ name: ArraySlice<UInt8>, _ side: ReplayRule.Side) -> Bool {
        guard let first = name.first else { return false }
        if let letters, name.count >= letters.count || letters[name.count] & Self.bit(first) == 0 {
            return false
        }
        return configuration.ignoresField(side, name.map(\.asciiLowercased).text)
    }
}

/// Where the parts of a request line stand.
struct RequestTargetParts {
    let head: [UInt8]
    let method: Range<Int>
    /// Without scheme and authority, for a target in absolute form (RFC 9112 §3.2.2).
    let path: Range<Int>
    /// Without its question mark; empty if there is none.
    let query: Range<Int>

    /// Where the target ends.
    var end: Int { query.upperBound }

    init(_ head: [UInt8]) {
        self.head = head
        let lineEnd = head.index(of: 0x0A, from: 0) ?? head.count
        var methodEnd = 0
        while methodEnd < lineEnd, head[methodEnd] != 0x20 { methodEnd += 1 }
        method = 0..<methodEnd
        let start = min(methodEnd + 1, lineEnd)
        var end = lineEnd
        if let space = head[start..<lineEnd].lastIndex(of: 0x20),
            head[(space + 1)..<lineEnd].starts(with: Self.versionStart)
        {
            end = space
        }
        var pathStart = start
        if start < end, head[start] != 0x2F { pathStart = Self.pathStart(head, start, end) }
        let pathEnd = head[pathStart..<end].firstIndex(of: 0x3F) ?? end
        path = pathStart..<pathEnd
        query = min(pathEnd + 1, end)..<end
    }

    private static func pathStart(_ head: [UInt8], _ start: Int, _ end: Int) -> Int {
        let scheme = head[start..<end].prefix { $0.isASCIILetter || $0.isASCIIDigit }
        guard head[scheme.endIndex..<end].starts(with: schemeEnd) else { return start }
        let authority = head[(scheme.endIndex + 3)..<end]
        return authority.firstIndex { $0 == 0x2F || $0 == 0x3F } ?? end
    }

    private static let versionStart = Array("HTTP/".utf8)
    private static let schemeEnd = Array("://".utf8)
}
