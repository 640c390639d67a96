internal import Base
internal import Contents
internal import HTTPModel
internal import Traffic

/// Makes an exchange out of a flow.
struct MitmproxyFlowReader {
    let value: TnetstringValue
    private let request: TnetstringValue
    /// Null if there is none.
    private let response: TnetstringValue
    /// What our own export keeps besides; `nil` in the dump of another tool.
    private let native: JSONNode?

    init(_ value: TnetstringValue) {
        self.value = value
        request = value["request"] ?? .null
        response = value["response"] ?? .null
        native = Self.extras(value, "exchange")
    }

    /// Whether it has what an exchange must have.
    var isReadable: Bool {
        request["method"]?.bytes != nil && request["host"]?.bytes != nil
            && request["headers"] != nil
    }

    var connectionKey: String {
        let client = value["client_conn"]
        return client?["id"]?.text ?? "\(client?["timestamp_start"] ?? .null)"
    }

    var createdAt: Timestamp {
        // Up to version 15, a flow has no time of its own.
        (value["timestamp_created"] ?? request["timestamp_start"]
            ?? value["client_conn"]?["timestamp_start"])?.moment ?? Timestamp(microseconds: 0)
    }

    /// What our own export kept under a name in the metadata; `nil` if there is none.
    func extras(_ name: String) -> JSONNode? { Self.extras(value, name) }

    private static func extras(_ value: TnetstringValue, _ name: String) -> JSONNode? {
        guard let text = value["metadata"]?["sallyport"]?[name]?.bytes else { return nil }
        var items = JSONItemReader(
            walking: [], stringByteLimit: text.count, nodeLimit: extrasNodeLimit)
        items.append(text)
        items.finish()
        // What somebody changed there counts as not there.
        do { return try items.next()?.value } catch { return nil }
    }

    /// The exchange without its contents.
    func record(id: Int64, connection: Int64) -> ExchangeRecord {
        let start = request["timestamp_start"]?.moment ?? createdAt
        var record = ExchangeRecord(
            id: id, connection: connection, startedAt: start,
            scheme: Self.scheme(request, value), authority: authority)
        record.protocolName = native?["protocol"]?.text ?? requestVersion.name
        record.requestHead = head(.request).bytes
        if response != .null {
            record.responseHead = head(.response).bytes
            record.status = Int(clamping: response["status_code"]?.integer ?? 0)
        }
        record.interimHeads = (native?["interimHeads"]?.elements ?? []).compactMap(Self.raw)
        record.sentRequestHead = native?["sentRequestHead"].flatMap(Self.raw) ?? []
        record.sentResponseHead = native?["sentResponseHead"].flatMap(Self.raw) ?? []
        addTimes(to: &record)
        addOutcome(to: &record)
        return record
    }

    private func addTimes(to record: inout ExchangeRecord) {
        let start = record.startedAt
        if let native {
            record.durationMicroseconds = native["durationUs"]?.count
            record.firstByteMicroseconds = native["firstByteUs"]?.count
            return
        }
        let first = response["timestamp_start"]?.moment
        let last = response["timestamp_end"]?.moment ?? value["error"]?["timestamp"]?.moment
        record.firstByteMicroseconds = first.map { $0.microseconds(since: start) }
        record.durationMicroseconds = last.map { $0.microseconds(since: start) }
    }

    private func addOutcome(to record: inout ExchangeRecord) {
        if let native {
            record.originProtocolName = native["originProtocol"]?.text
            record.stream = Int32(clamping: native["stream"]?.integer ?? 0)
            record.answeredByTool = native["answeredByTool"]?.isTrue ?? false
        }
        guard let error = value["error"] else { return }
        record.error =
            native?["error"]?.text ?? (response == .null ? "no-response" : "mitmproxy-error")
        let text = error["msg"]?.text ?? ""
        record.errorDetail = native?["errorDetail"]?.text == nil && native != nil ? nil : text
    }

    private static func scheme(
        _ request: TnetstringValue, _ flow: TnetstringValue
    ) -> ExchangeRecord.Scheme {
        switch request["scheme"]?.text.map({ $0.lowercased() }) ?? "" {
        case "https", "wss": return .https
        case "http", "ws": return .http
        default:
            // A CONNECT has none.
            let kept = extras(flow, "exchange")?["scheme"]?.text
            return kept.flatMap(ExchangeRecord.Scheme.init(rawValue:)) ?? .http
        }
    }

    /// As `Host` is written.
    private var authority: String {
        let host = request["host"]?.text ?? ""
        let port = UInt16(clamping: request["port"]?.integer ?? 0)
        let standard: UInt16 = Self.scheme(request, value) == .https ? 443 : 80
        if let kept = native?["authority"]?.text {
            let (name, number) = HARConnectionText.split(kept)
            if name == host, number ?? standard == port { return kept }
        }
        if port == standard || port == 0 { return HostPort.bracketed(host) }
        return HostPort(host: host, port: port).description
    }

    // MARK: Heads

    private struct Head {
        let bytes: [UInt8]
        /// Whether it is spelled as it came.
        let isKept: Bool
        let isUncoded: Bool
    }

    /// A head as our export kept it, unless it was edited since.
    private func head(_ direction: Direction) -> Head {
        let side = direction == .request ? request : response
        let fields = Self.fields(side["headers"])
        let name = direction == .request ? "requestHead" : "responseHead"
        if let kept = native?[name].flatMap(Self.raw) {
            if isTold(kept, direction, fields) {
                return Head(bytes: kept, isKept: true, isUncoded: false)
            }
            // Of a content with masked secrets, the coding was left out.
            let plain = RecordedHead.removing("content-encoding", from: kept)
            if plain != kept, isTold(plain, direction, fields) {
                return Head(bytes: plain, isKept: true, isUncoded: true)
            }
        }
        if direction == .request {
            let bytes = MitmproxyTarget.spell(request, version: requestVersion.word, fields: fields)
            return Head(bytes: bytes, isKept: false, isUncoded: false)
        }
        let version = HARVersion(response["http_version"]?.text ?? "") ?? requestVersion
        let line = RecordedHead.statusLine(
            version: version.word, status: Int(clamping: response["status_code"]?.integer ?? 0),
            reason: response["reason"]?.text ?? "")
        return Head(
            bytes: RecordedHead.spell(startLine: line, fields), isKept: false, isUncoded: false)
    }

    /// Whether the flow tells the same as a head.
    private func isTold(
        _ bytes: [UInt8], _ direction: Direction, _ fields: [RecordedHead.Field]
    ) -> Bool {
        let head = RecordedHead(bytes)
        if direction == .response {
            let words = head.startLine.split(separator: 0x20)
            let status = response["status_code"]?.integer.map { String($0) }
            return fields == head.fields && words.dropFirst().first?.text == status
                && head.statusLine.reason == response["reason"]?.text
        }
        var probe = ExchangeRecord(
            id: 0, connection: 0, startedAt: createdAt, scheme: Self.scheme(request, value),
            authority: "")
        probe.requestHead = bytes
        probe.stream = Int32(clamping: native?["stream"]?.integer ?? 0)
        let target = MitmproxyTarget(probe, head)
        return target.method == request["method"]?.bytes && target.path == request["path"]?.bytes
            && target.authority == request["authority"]?.bytes && target.fields == fields
            && target.scheme == request["scheme"]?.bytes
    }

    private var requestVersion: HARVersion {
        let version = HARVersion(request["http_version"]?.text ?? "") ?? HARVersion.standard
        // `HTTP/2.0`, as records have it.
        return version
    }

    private static func raw(_ node: JSONNode) -> [UInt8]? { node.bytes ?? node["base64"]?.base64 }

    private static func fields(_ value: TnetstringValue?) -> [RecordedHead.Field] {
        (value?.elements ?? []).compactMap { pair in
            guard pair.elements.count == 2, let name = pair.elements[0].bytes,
                let text = pair.elements[1].bytes
            else { return nil }
            return RecordedHead.Field(name: name, value: text)
        }
    }

    // MARK: Contents

    struct Content {
        var bytes: [UInt8] = []
        /// How long it was, where not all of it is there.
        var fullSize: Int64?
        var isMissing = false
    }

    func content(_ direction: Direction) -> Content {
        let side = direction == .request ? request : response
        guard side != .null else { return Content() }
        let kept = native?[direction == .request ? "request" : "response"]
        var content = Content()
        guard let bytes = side["content"]?.bytes else {
            content.isMissing = true
            content.fullSize = kept?["size"]?.count ?? length(side)
            return content
        }
        content.bytes = bytes
        if kept?["truncated"]?.isTrue ?? false { content.fullSize = kept?["size"]?.count }
        return content
    }

    private func length(_ side: TnetstringValue) -> Int64? {
        Self.fields(side["headers"]).first { $0.name.equalsIgnoringCase("content-length") }
            .flatMap { Int64($0.value.text) }.flatMap { $0 > 0 ? RecordedNumber.bounded($0) : nil }
    }

    func trailers(_ direction: Direction) -> [UInt8] {
        let side = direction == .request ? request : response
        let fields = Self.fields(side["trailers"])
        let name = direction == .request ? "request" : "response"
        if let kept = native?[name]?["trailers"].flatMap(Self.raw),
            RecordedHead(trailers: kept).fields == fields
        {
            return kept
        }
        return fields.isEmpty ? [] : RecordedHead.spell(startLine: nil, fields)
    }

    // MARK: What is not kept

    func noteHeadLosses(_ example: String, in report: inout LossReport) {
        let heads = [head(.request)] + (response == .null ? [] : [head(.response)])
        for head in heads where !head.isKept {
            report.note(native == nil ? .headRebuilt : .headEdited, example)
        }
        if heads.contains(where: \.isUncoded) { report.note(.codingUndone, example) }
    }

    /// Counts what any kind of flow may have and a capture has no place for.
    func noteLosses(_ example: String, in report: inout LossReport) {
        if let comment = value["comment"]?.bytes, !comment.isEmpty {
            report.note(.commentsLeftOut, example)
        }
        let isMarked = !(value["marked"]?.bytes?.isEmpty ?? true) || value["marked"]?.isTrue == true
        let isIntercepted = value["intercepted"]?.isTrue ?? false
        if isMarked || isIntercepted || value["is_replay"] != nil {
            report.note(.marksLeftOut, example)
        }
        if value["backup"] != nil { report.note(.editsLeftOut, example) }
        let metadata = value["metadata"]?.members ?? []
        if metadata.contains(where: { $0.name != "sallyport" && !$0.name.hasPrefix("websocket") }) {
            report.note(.metadataLeftOut, example)
        }
        noteConnectionLosses(example, in: &report)
    }

    private func noteConnectionLosses(_ example: String, in report: inout LossReport) {
        let client = value["client_conn"]
        let server = value["server_conn"]
        let offers = [client, server].flatMap { leg in
            (leg?["alpn_offers"]?.elements ?? []) + (leg?["cipher_list"]?.elements ?? [])
        }
        let hasCertificate =
            !(client?["certificate_list"]?.elements.isEmpty ?? true) || client?["clientcert"] != nil
        let hasVia = server?["via"] != nil || server?["via2"] != nil
        if !offers.isEmpty || hasCertificate || hasVia {
            report.note(.connectionDetailsLeftOut, example)
        }
    }

    private static let extrasNodeLimit = 100_000
}
