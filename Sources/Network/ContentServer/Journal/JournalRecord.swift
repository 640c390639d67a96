package import Base
internal import Contents
internal import HTTPModel
package import HTTPServer

/// What one client did in one request, and what it was answered; no secret of it stands here.
package struct JournalRecord: Sendable, Equatable {
    package internal(set) var client: String
    /// Of the client's requests, counted from 1.
    package internal(set) var ordinal: UInt64 = 0
    /// The client's connections counted from 1, in the order of their first requests.
    package internal(set) var connection: UInt64 = 0
    package let version: String
    package let scheme: String
    package let host: String
    package let method: String
    /// With what may be a secret left out.
    package let target: String
    package let range: String?
    /// The precondition fields as they came, but for Range.
    package let conditions: [String]
    /// Upload-Offset, as the client told it, and as it was told.
    package let uploadOffset: String?
    package var toldOffset: String?
    /// Bytes of the request's content that were read; what a client that left had sent by then is no
    /// part of the canonical form.
    package var received: UInt64 = 0
    /// In milliseconds since the journal began; not a part of the canonical form.
    package internal(set) var begunAt: UInt64 = 0
    package var status = 0
    package var entityTag: String?
    package var lastModified: String?
    package var contentRange: String?
    /// The length that the content has, in bytes, if that is known.
    package var length: UInt64?
    package var faults: [String] = []
    /// How many other requests of the client went on when it began; that hangs on time.
    package var alongside = 0
    /// Nil while it goes on.
    package var sent: SentResponse?

    package init(_ request: ServerRequest, client: String) {
        self.client = client
        version = request.version.text
        scheme = request.scheme.rawValue
        host = Self.shown(request.host ?? "")
        method = Self.shown(request.method.text)
        target = Self.shown(Self.target(request.path))
        range = request.fields.first(named: "range").map { Self.shown($0.text) }
        // Most requests are of GET, and pay for nothing else.
        uploadOffset =
            request.method == .get
            ? nil : request.fields.first(named: "upload-offset").map { Self.shown($0.text) }
        conditions = Self.conditions(request.fields)
    }

    private static func conditions(_ fields: Fields) -> [String] {
        var conditions: [String] = []
        for slice in fields.slices where slice.known == .other && conditions.count < 8 {
            guard (8...19).contains(slice.name.count),
                fields.name(slice).prefix(3).equalsIgnoringCase("if-")
            else { continue }
            conditions.append(shown("\(fields.name(slice).text): \(fields.value(slice).text)"))
        }
        return conditions
    }

    mutating func take(_ response: ServerResponse, faults: [String], received: UInt64) {
        status = response.status
        if method != "GET" { toldOffset = response.first("Upload-Offset").map(Self.shown) }
        self.received = received
        entityTag = response.first("ETag").map(Self.shown)
        lastModified = response.first("Last-Modified").map(Self.shown)
        contentRange = response.first("Content-Range").map(Self.shown)
        length = response.body.length
        self.faults = faults.prefix(16).map(Self.shown)
    }

    /// The target with the values of secret parameters left out.
    private static func target(_ path: RequestPath) -> String {
        guard let query = path.query else { return path.raw.text }
        let items = query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        let shown = items.prefix(100).map { item -> String in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            return SecretName.isParameter(name) && name.count < item.count
                ? "\(name.text)=***" : item.text
        }
        return "\(path.raw.text)?\(shown.joined(separator: "&"))"
    }

    private static func shown(_ text: String) -> String {
        if text.utf8.count <= limit, text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
            return text
        }
        // What is no plain text could lead a terminal astray.
        let bytes = text.utf8.prefix(limit).map { $0 >= 0x20 && $0 < 0x7F ? $0 : 0x3F }
        return bytes.text
    }

    /// Of one text, in bytes.
    private static let limit = 512
}

extension JournalRecord {
    /// What a run with the same seed writes again, byte by byte.
    ///
    /// Time is no part of it, nor what a client that left had got of the rest by then.
    package var canonical: JSONText { .object(canonicalMembers) }

    /// All that is known.
    package var json: JSONText {
        .object(
            canonicalMembers + [
                JSONText.Member("begunAt", .integer(Int64(clamping: begunAt))),
                JSONText.Member("alongside", .integer(Int64(alongside))),
                JSONText.Member("receivedBytes", .integer(Int64(clamping: received))),
                JSONText.Member("sentBytes", .optional(sent?.count)),
                JSONText.Member("acknowledgedBytes", .optional(sent?.acknowledged)),
            ])
    }

    /// In one line, for people.
    ///
    /// - Parameter ownHost: the server's own, which is not shown for http; `nil` shows none.
    package func text(ownHost: String? = nil) -> String {
        let isOwn = ownHost == nil || scheme == "http" && host == ownHost
        let origin = isOwn ? "" : "\(scheme)://\(host)"
        var parts = ["\(client) \(ordinal)", "\(method) \(origin)\(target)"]
        if let range { parts.append(range) }
        parts += conditions
        if let offset = uploadOffset { parts.append("from \(offset)") }
        if received > 0 { parts.append("\(received) bytes received") }
        var answer = "-> \(status)"
        if let range = contentRange { answer += " \(range)" }
        if let offset = toldOffset { answer += " offset \(offset)" }
        answer += ", \(sent?.count ?? 0) bytes, \(sent?.end.rawValue ?? "open")"
        parts.append(answer)
        if !faults.isEmpty { parts.append("[\(faults.joined(separator: ", "))]") }
        return parts.joined(separator: "  ")
    }

    private var canonicalMembers: [JSONText.Member] {
        let isOurs = sent.map { $0.end == .whole || $0.end == .cut || $0.end == .failed } ?? false
        return [
            JSONText.Member("client", .string(client)),
            JSONText.Member("ordinal", .integer(Int64(clamping: ordinal))),
            JSONText.Member("connection", .integer(Int64(clamping: connection))),
            JSONText.Member("version", .string(version)),
            JSONText.Member("scheme", .string(scheme)),
            JSONText.Member("host", .string(host)),
            JSONText.Member("method", .string(method)),
            JSONText.Member("target", .string(target)),
            JSONText.Member("range", .optional(range)),
            JSONText.Member("conditions", .each(conditions) { .string($0) }),
            JSONText.Member("uploadOffset", .optional(uploadOffset)),
            JSONText.Member("status", .integer(Int64(status))),
            JSONText.Member("toldOffset", .optional(toldOffset)),
            JSONText.Member("etag", .optional(entityTag)),
            JSONText.Member("lastModified", .optional(lastModified)),
            JSONText.Member("contentRange", .optional(contentRange)),
            JSONText.Member("faults", .each(faults) { .string($0) }),
            JSONText.Member("end", .string(sent?.end.rawValue ?? "open")),
            JSONText.Member("sent", isOurs ? .optional(sent?.count) : .null),
        ]
    }

    /// The bytes of the representation that went out; `nil` if none did.
    package var bytes: Range<UInt64>? {
        guard let count = sent?.count, count > 0 else { return nil }
        switch status {
        case 200: return 0..<count
        case 206:
            guard case .part(let range, _)? = label else { return nil }
            return range.lowerBound..<range.lowerBound + min(count, UInt64(range.count))
        default: return nil
        }
    }

    /// What is asked for, whatever is wrong with it on purpose: the target behind `/faults/…`.
    package var resource: String {
        let prefix = "/faults/"
        guard target.hasPrefix(prefix) else { return target }
        let rest = target.dropFirst(prefix.count)
        return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? target
    }

    /// What tells the version of the bytes that went out; empty for nothing.
    package var validator: String { entityTag ?? lastModified ?? "" }

    /// The length of the representation as the response told it.
    package var total: UInt64? {
        if status == 200 { return length }
        guard case .part(_, let total)? = label else { return nil }
        return total
    }

    private var label: ContentRange? {
        guard let contentRange else { return nil }
        do throws(ContentRangeViolation) {
            return try ContentRange([UInt8](contentRange.utf8)[...])
        } catch {
            return nil
        }
    }

    /// Where the asked range begins; `nil` if none was asked for, or several, or an end.
    package var askedFrom: UInt64? {
        guard let range, let list = RangeSpecifier.list([UInt8](range.utf8)[...]), list.count == 1
        else { return nil }
        switch list[0] {
        case .bounded(let first, _), .from(let first): return first
        case .suffix: return nil
        }
    }
}
