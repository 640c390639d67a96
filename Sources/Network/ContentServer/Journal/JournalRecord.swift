package import Base
internal import Contents
internal import HTTPCodecs
internal import HTTPModel
package import HTTPServer
internal import Redaction

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
    /// Of the whole target; the same in one process alone.
    let targetHash: Int
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
    /// Of the representation, in bytes, if that is known.
    package private(set) var total: UInt64?
    /// Which of its bytes the content has; empty if it has none.
    private(set) var parts: [ContentPart] = []
    /// Its content coding, if it was chosen for the client.
    private(set) var coding: String?
    /// Whether what was sent stands in the representation's place.
    private(set) var isSubstitute = false
    /// When it began, was answered and ended, in the order of all that the journal was told.
    var begun: UInt64 = 0
    var answered: UInt64?
    var ended: UInt64?
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
        targetHash = Self.hash(request.path)
        range = request.fields.first(named: "range").map { Self.shown($0.text) }
        // Most requests are of GET, and pay for nothing else.
        uploadOffset =
            request.method == .get
            ? nil : request.fields.first(named: "upload-offset").map { Self.shown($0.text) }
        conditions = Self.conditions(request.fields)
    }

    /// A request that no route saw, as far as its head can be read.
    init(_ refused: RefusedRequest) {
        let head = RecordedHead(refused.head)
        let connection = refused.connection
        client =
            head.first(named: "sallyport-client").flatMap { ClientLabel.text($0) }
            ?? connection.host
        version = refused.version.text
        scheme = (connection.security == nil ? ServerRequest.Scheme.http : .https).rawValue
        host = Self.shown(
            head.first(named: "host").flatMap { HostField.parse($0)?.host } ?? "")
        method = Self.shown(head.method.text)
        target = Self.shown(URLRedaction.redact(head.target).text)
        targetHash = RequestPath(head.target).map(Self.hash) ?? head.target.hashValue
        (range, conditions, uploadOffset) = (nil, [], nil)
        status = refused.status
    }

    /// Has the first of each that means something, whatever else a client sends.
    private static func conditions(_ fields: Fields) -> [String] {
        var found: [(isKnown: Bool, text: String)] = []
        var known: Set<String> = []
        for slice in fields.slices where slice.known == .other {
            let name = fields.name(slice)
            guard (8...19).contains(name.count), name.prefix(3).equalsIgnoringCase("if-") else {
                continue
            }
            let lower = name.text.lowercased()
            let isKnown = knownConditions.contains(lower) && known.insert(lower).inserted
            guard isKnown || found.count < conditionLimit else { continue }
            let value = SecretName.isField(name) ? redactionMark.text : fields.value(slice).text
            found.append((isKnown, shown("\(name.text): \(value)")))
        }
        var room = conditionLimit - known.count
        return found.compactMap { isKnown, text in
            room -= isKnown ? 0 : 1
            return isKnown || room >= 0 ? text : nil
        }
    }

    mutating func take(_ response: ServerResponse, faults: [String], received: UInt64) {
        status = response.status
        if method != "GET" { toldOffset = response.first("Upload-Offset").map(Self.shown) }
        self.received = received
        entityTag = response.first("ETag").map(Self.shown)
        lastModified = response.first("Last-Modified").map(Self.shown)
        contentRange = response.first("Content-Range").map(Self.shown)
        isSubstitute = response.isSubstitute
        coding = response.selected?.coding?.rawValue
        total = Self.total(response)
        parts = Self.parts(response, toMethod: method)
        self.faults = faults.prefix(16).map(Self.shown)
    }

    /// The target with what may be a secret left out.
    private static func target(_ path: RequestPath) -> String {
        // Most have none of what a secret can stand in.
        guard
            path.query != nil || path.raw.contains(UInt8(ascii: ";"))
                || path.segments.contains(where: { $0.starts(with: "eyJ".utf8) })
        else { return path.raw.text }
        let query = path.query.map { [UInt8(ascii: "?")] + $0 } ?? []
        return URLRedaction.redact(path.raw + query).text
    }

    /// Tells targets apart of which no more than a part is shown, and takes those for one that are
    /// spelled differently; what is wrong on purpose is no part of it.
    private static func hash(_ path: RequestPath) -> Int {
        let isFaulty = path.segments.first?.elementsEqual("faults".utf8) == true
        var hasher = Hasher()
        hasher.combine(Array(path.segments.dropFirst(isFaulty ? 2 : 0)))
        hasher.combine(path.query)
        return hasher.finalize()
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
    private static let conditionLimit = 8
    /// RFC 9110 §13.1
    private static let knownConditions: Set<String> = [
        "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range",
    ]
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
                JSONText.Member("brokenOff", .boolean(sent?.isDoubtful ?? false)),
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

    /// What is asked for, whatever is wrong with it on purpose: the target behind `/faults/…`.
    package var resource: String {
        let prefix = "/faults/"
        guard target.hasPrefix(prefix) else { return target }
        let rest = target.dropFirst(prefix.count)
        return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? target
    }

    /// What tells the version of the bytes that went out; empty for nothing.
    package var validator: String { entityTag ?? lastModified ?? "" }

    /// What tells two sets of bytes apart.
    var variant: String { "\(validator) \(coding ?? "")" }

    /// Where what is asked for begins; `nil` if no range was asked for, or from the start.
    var askedFrom: UInt64? {
        guard let range, let list = RangeSpecifier.list([UInt8](range.utf8)[...]) else {
            return nil
        }
        let starts = list.map { specifier -> UInt64? in
            switch specifier {
            case .bounded(let first, _), .from(let first): first
            // Where that is, the answer tells.
            case .suffix: parts.first?.range.lowerBound
            }
        }
        let known = starts.compactMap(\.self)
        guard known.count == starts.count, let first = known.min(), first > 0 else { return nil }
        return first
    }
}
