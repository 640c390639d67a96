internal import Base
internal import Contents
internal import HTTPModel
internal import Traffic

/// Makes an exchange out of an entry, of any of the dialects that are about.
struct HAREntryReader {
    private let entry: JSONNode
    private let request: JSONNode
    private let response: JSONNode
    let url: URLText
    let scheme: ExchangeRecord.Scheme
    /// What our own exports keep besides; `nil` in the file of another tool.
    let native: JSONNode?
    /// Whether `connection` tells connections apart.
    var numbersConnections = true

    /// Returns `nil` for an entry that has no request of HTTP, such as one of a `data:` URL.
    init?(_ entry: JSONNode) {
        guard let request = entry["request"], let url = request["url"]?.bytes.flatMap(URLText.init)
        else { return nil }
        switch url.scheme {
        case "https", "wss": scheme = .https
        case "http", "ws": scheme = .http
        default: return nil
        }
        self.entry = entry
        self.request = request
        self.url = url
        response = entry["response"] ?? .object([])
        native = entry["_sallyport"]
    }

    var authority: String { native?["authority"]?.text ?? url.authority }

    /// What tells the entries of one connection from others.
    var connectionKey: String {
        let peer = entry["serverIPAddress"]?.text ?? url.authority
        // Chrome's own number; what it and Firefox write as `connection` is the port of the origin,
        // and Firefox's that of the proxy behind one.
        let number = entry["_connectionId"]?.text
        let id = number ?? (numbersConnections ? entry["connection"]?.text : nil) ?? ""
        let port = HARConnectionText.split(url.authority).port ?? (scheme == .https ? 443 : 80)
        return id.isEmpty || id == "0" || number == nil && id == String(port)
            ? "\(scheme.rawValue) \(url.authority) \(peer)" : "\(id) \(peer)"
    }

    var serverAddress: String? {
        guard let text = entry["serverIPAddress"]?.text, !text.isEmpty else { return nil }
        // Chrome puts brackets around an address of IPv6.
        if text.hasPrefix("[") { return String(text.dropFirst().prefix { $0 != "]" }) }
        // ProxyPin adds the port.
        let pieces = text.split(separator: ":", omittingEmptySubsequences: false)
        return pieces.count == 2 && UInt16(pieces[1]) != nil ? String(pieces[0]) : text
    }

    var startedAt: Timestamp? {
        native?["startedUs"]?.moment
            ?? entry["startedDateTime"]?.bytes.flatMap(Timestamp.init(iso8601:))
    }

    var isAnswered: Bool { (response["status"]?.integer ?? 0) > 0 }

    /// The exchange without its contents.
    func record(id: Int64, connection: Int64, startedAt: Timestamp) -> ExchangeRecord {
        var record = ExchangeRecord(
            id: id, connection: connection, startedAt: startedAt, scheme: scheme,
            authority: authority)
        record.protocolName = native?["protocol"]?.text ?? requestVersion.name
        record.requestHead = raw("request", "head") ?? spelledRequest
        if isAnswered {
            record.responseHead = raw("response", "head") ?? spelledResponse(response)
            record.status = Int(clamping: response["status"]?.integer ?? 0)
        }
        record.interimHeads =
            native?["interimHeads"]?.elements.compactMap(Self.raw)
            ?? (entry["_interim"]?.elements ?? []).map(spelledResponse)
        record.sentRequestHead = native?["sentRequestHead"].flatMap(Self.raw) ?? []
        record.sentResponseHead = native?["sentResponseHead"].flatMap(Self.raw) ?? []
        addTimes(to: &record)
        addNative(to: &record)
        if native == nil { addError(to: &record) }
        return record
    }

    private func addError(to record: inout ExchangeRecord) {
        let told = response["_error"]?.text ?? entry["_error"]?.text ?? ""
        // Charles tells how far a response got.
        let state = response["_charlesStatus"]?.text ?? "COMPLETE"
        let detail = told.isEmpty && state != "COMPLETE" ? "Charles: \(state)" : told
        if !isAnswered {
            record.error = "no-response"
            record.errorDetail = detail.isEmpty ? "the HAR has no response" : detail
        } else if !detail.isEmpty {
            record.error = "har-error"
            record.errorDetail = detail
        }
    }

    private func addNative(to record: inout ExchangeRecord) {
        guard let native else { return }
        record.originProtocolName = native["originProtocol"]?.text
        record.stream = Int32(clamping: native["stream"]?.integer ?? 0)
        record.error = native["error"]?.text
        record.errorDetail = native["errorDetail"]?.text
        record.answeredByTool = native["answeredByTool"]?.isTrue ?? false
    }

    private func addTimes(to record: inout ExchangeRecord) {
        if let native {
            record.durationMicroseconds = native["durationUs"]?.count
            record.firstByteMicroseconds = native["firstByteUs"]?.count
            return
        }
        let timings = entry["timings"]
        let part = { Int64(clamping: timings?[$0]?.double, thousandths: 1000) }
        // TLS is a part of `connect`; but Firefox and mitmproxy tell it beside that, which the sum
        // shows.
        var first = ["blocked", "dns", "connect", "send", "wait"].map(part).reduce(0, +)
        let sum = first + part("receive")
        let told = Int64(clamping: entry["time"]?.double, thousandths: 1000)
        let duration = told > 0 ? told : sum
        if abs(sum + part("ssl") - duration) < abs(sum - duration) { first += part("ssl") }
        record.durationMicroseconds = duration
        if isAnswered { record.firstByteMicroseconds = min(first, duration) }
    }

    // MARK: Heads

    /// What our own export kept as it came.
    func raw(_ side: String, _ name: String) -> [UInt8]? {
        native?[side]?[name].flatMap(Self.raw)
    }

    private static func raw(_ node: JSONNode) -> [UInt8]? {
        node.bytes ?? node["base64"]?.base64
    }

    private var spelledRequest: [UInt8] {
        let method = request["method"]?.bytes ?? Array("GET".utf8)
        var fields = Self.fields(request["headers"], isNative: native != nil)
        let isTunnel = RecordedHead.asksForTunnel(
            method: method,
            isProtocolNamed: fields.contains { $0.name.elementsEqual(":protocol".utf8) })
        let target = isTunnel ? Array(url.authority.utf8) : self.target
        if native == nil, !fields.contains(where: { $0.name.equalsIgnoringCase("host") }) {
            fields.insert(
                RecordedHead.Field(name: Array("host".utf8), value: Array(url.authority.utf8)),
                at: 0)
        }
        if native == nil { fields += HARCookies.missing(in: fields, of: request) }
        return RecordedHead.spell(
            startLine: method + [0x20] + target + Array(" \(requestVersion.word)".utf8), fields)
    }

    /// Insomnia keeps the parameters out of the URL.
    private var target: [UInt8] {
        let parameters = request["queryString"]?.elements ?? []
        guard native == nil, !parameters.isEmpty, !url.target.contains(UInt8(ascii: "?")) else {
            return url.target
        }
        return url.target + [UInt8(ascii: "?")] + URLText.form(HARContentReader.pairs(parameters))
    }

    private func spelledResponse(_ node: JSONNode) -> [UInt8] {
        let text = node["httpVersion"]?.text ?? ""
        let version = native != nil ? text : (HARVersion(text) ?? requestVersion).word
        let line = RecordedHead.statusLine(
            version: version, status: Int(clamping: node["status"]?.integer ?? 0),
            reason: node["statusText"]?.text ?? "")
        let fields = Self.fields(node["headers"], isNative: native != nil)
        return RecordedHead.spell(
            startLine: line, native == nil ? HARCookies.parting(fields, of: node) : fields)
    }

    private var requestVersion: HARVersion {
        let text = request["httpVersion"]?.text ?? ""
        let version = HARVersion(text) ?? HARVersion(response["httpVersion"]?.text ?? "")
        guard let version else { return HARVersion.standard }
        return native != nil ? HARVersion(name: version.name, word: text) : version
    }

    /// Fields as objects, or as pairs, as Slack writes them. Of another tool's, the pseudo-fields of
    /// HTTP/2 are left out, and those that Chrome joined by line ends are parted.
    static func fields(_ node: JSONNode?, isNative: Bool) -> [RecordedHead.Field] {
        var fields: [RecordedHead.Field] = []
        for element in node?.elements ?? [] {
            let pair = element.elements
            let name = (pair.first ?? element["name"])?.text ?? ""
            let value = (pair.dropFirst().first ?? element["value"])?.text ?? ""
            if isNative {
                fields.append(RecordedHead.Field(name: Array(name.utf8), value: Array(value.utf8)))
                continue
            }
            guard !name.isEmpty, !name.hasPrefix(":"), !name.utf8.contains(where: { $0 < 0x21 })
            else { continue }
            for line in value.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
                fields.append(RecordedHead.Field(name: Array(name.utf8), value: Array(line)))
            }
            if value.isEmpty {
                fields.append(RecordedHead.Field(name: Array(name.utf8), value: []))
            }
        }
        return fields
    }

    func trailers(_ direction: Direction) -> [UInt8] {
        let side = direction == .request ? request : response
        if let raw = raw(direction == .request ? "request" : "response", "trailers") { return raw }
        let fields = Self.fields(side["_trailers"], isNative: native != nil)
        return fields.isEmpty ? [] : RecordedHead.spell(startLine: nil, fields)
    }

    func content(_ direction: Direction) -> HARContentReader {
        HARContentReader(
            side: direction == .request ? request : response, direction,
            native: native?[direction == .request ? "request" : "response"],
            mayHaveContent: direction == .request || mayHaveResponseContent)
    }

    /// Whether the response is of a kind that can have a content (RFC 9110 §6.4.1).
    private var mayHaveResponseContent: Bool {
        let status = response["status"]?.integer ?? 0
        let method = request["method"]?.bytes ?? []
        return !method.equalsIgnoringCase("head") && status != 204 && status != 304 && status >= 200
    }

    /// Whether a client took the response from its cache, as Chrome and Safari tell.
    private var isFromCache: Bool {
        let source = entry["_fromCache"]?.text ?? entry["_fetchType"]?.text ?? ""
        return !source.isEmpty && source != "Network Load"
    }

    // MARK: What is not kept

    func noteLosses(_ example: String, in report: inout LossReport) {
        guard native == nil else { return }
        report.note(.headRebuilt, example)
        if let comment = entry["comment"]?.text, !comment.isEmpty {
            report.note(.commentsLeftOut, example)
        }
        if let cache = entry["cache"], cache["beforeRequest"] != nil || cache["afterRequest"] != nil
        {
            report.note(.cacheLeftOut, example)
        }
        if isFromCache { report.note(.cacheAnswered, example) }
        let parts = ["blocked", "dns", "connect", "ssl", "send"].map {
            entry["timings"]?[$0]?.double ?? -1
        }
        if parts.contains(where: { $0 > 0 }) { report.note(.timingsMerged, example) }
    }
}

/// A version of HTTP, in any of its spellings.
struct HARVersion: Equatable {
    /// As records have it.
    let name: String
    /// As it stands in a recorded head.
    let word: String

    static let standard = HARVersion(name: "HTTP/1.1", word: "HTTP/1.1")

    init(name: String, word: String) {
        self.name = name
        self.word = word
    }

    /// Returns `nil` for what is no version, such as Chrome's `unknown`.
    init?(_ text: String) {
        switch text.lowercased() {
        case "http/1.1", "1.1", "http1.1": self = .standard
        case "http/1.0", "1.0", "http/0.9": self.init(name: "HTTP/1.0", word: "HTTP/1.0")
        case "h2", "h2c", "http/2", "http/2.0", "2.0", "2", "http2", "spdy":
            self.init(name: "HTTP/2", word: "HTTP/2.0")
        case let other
        where other.hasPrefix("h3") || other.hasPrefix("http/3")
            || other.contains("quic"):
            self.init(name: "HTTP/3", word: "HTTP/3.0")
        default: return nil
        }
    }
}
