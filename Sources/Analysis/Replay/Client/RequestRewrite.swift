internal import Base
internal import HTTPCodecs
package import HTTPModel
package import Traffic

/// A recorded request as it goes out again.
package struct RequestRewrite {
    package let method: KnownMethod
    /// Through the empty line.
    package let head: [UInt8]
    /// Whole, if any of it was replaced; `nil` for the recorded one.
    package let content: [UInt8]?
    package let isChunked: Bool
    package let trailers: Fields
    /// Whether the recorded request told its length, which HTTP/2 can do without.
    package let tellsLength: Bool

    /// Where a request goes: an authority with its scheme.
    package struct Destination: Sendable {
        package let origin: String
        package let authority: String

        package init(origin: String, authority: String) {
            self.origin = origin
            self.authority = authority
        }
    }

    /// - Parameters:
    ///   - webSocketKey: for a request that opens a WebSocket: the key of this time, in base64.
    ///   - content: the recorded content, needed only if a value in it is replaced.
    /// - Returns: `nil` if what is recorded is no request that can be sent.
    package init?(
        _ record: ExchangeRecord, to destination: Destination, webSocketKey: String? = nil,
        _ live: inout LiveValues, content: () throws -> [UInt8]
    ) rethrows {
        guard let recorded = RecordedHeads.head(of: record) else { return nil }
        var edits = live.edits(ofRequest: record.id)
        edits += Self.origins(in: recorded, of: record, destination)
        let contentEdits = edits.filter { $0.slot.part == .content }
        self.content =
            contentEdits.isEmpty ? nil : Self.applied(contentEdits, to: try content())
        var bytes = Self.applied(edits.filter { $0.slot.part == .head }, to: recorded.raw)
        if webSocketKey != nil, bytes.starts(with: "CONNECT ".utf8) {
            // As HTTP/2 asks for it (RFC 8441 §4).
            bytes.replaceSubrange(0..<7, with: "GET".utf8)
        }
        guard let head = RecordedHeads.read(request: bytes) else { return nil }
        method = head.knownMethod
        let size = UInt64(self.content.map { Int64($0.count) } ?? max(0, record.requestBody.size))
        trailers = RecordedHeads.trailers(record.requestBody.trailers)
        // Trailers go out behind chunks alone (RFC 9112 §7.1.2).
        isChunked =
            size > 0 && head.fields.contains(.transferEncoding) || !trailers.slices.isEmpty
        tellsLength = head.fields.contains(.contentLength)
        var forwarding = Forwarding(
            host: Array(destination.authority.utf8), joinsCookies: true, dropping: ["expect"])
        if isChunked {
            forwarding.framing = .chunked
        } else if size > 0 || head.fields.contains(.contentLength) {
            forwarding.framing = .length(size)
        }
        if let webSocketKey { Self.openWebSocket(webSocketKey, head.fields, &forwarding) }
        var output: [UInt8] = []
        HeadWriter.writeRequest(
            head, target: RecordedHeads.path(head.target), forwarding: forwarding, into: &output)
        self.head = output
    }

    /// Asks for a WebSocket as RFC 6455 §4.1 has it. Of the extensions, compression is offered as it
    /// was; the others are not: messages were recorded without what those do to them.
    private static func openWebSocket(
        _ key: String, _ fields: Fields, _ forwarding: inout Forwarding
    ) {
        let extensions = [UInt8](
            fields.all(named: "sec-websocket-extensions").joined(separator: [0x2C]))
        let offer = PerMessageDeflateOffer(requestField: extensions[...])
        forwarding.dropping += [
            "te", "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions",
        ]
        forwarding.adding = [
            ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", key),
        ].compactMap { AddedField($0.0.utf8, $0.1.utf8) }
        if let offer, let field = AddedField("Sec-WebSocket-Extensions".utf8, offer.field) {
            forwarding.adding.append(field)
        }
    }

    /// The recorded origin in Origin and Referer: what an origin compares with its own name.
    private static func origins(
        in head: RequestHead, of record: ExchangeRecord, _ destination: Destination
    ) -> [(slot: RequestSlot, bytes: [UInt8])] {
        let recorded = Array("\(record.scheme.rawValue)://\(record.authority)".utf8)
        guard !recorded.elementsEqual(destination.origin.utf8) else { return [] }
        return head.fields.slices.compactMap { slice in
            let name = head.fields.name(slice)
            guard name.equalsIgnoringCase("origin") || name.equalsIgnoringCase("referer") else {
                return nil
            }
            let value = head.fields.value(slice)
            guard value.starts(with: recorded),
                value.count == recorded.count || value[value.startIndex + recorded.count] == 0x2F
            else { return nil }
            let range = value.startIndex..<value.startIndex + recorded.count
            let slot = RequestSlot(part: .head, range: range, spelling: .plain, name: name.text)
            return (slot, Array(destination.origin.utf8))
        }
    }

    static func applied(
        _ edits: [(slot: RequestSlot, bytes: [UInt8])], to bytes: [UInt8]
    ) -> [UInt8] {
        var result: [UInt8] = []
        var position = 0
        for edit in edits.sorted(by: { $0.slot.range.lowerBound < $1.slot.range.lowerBound }) {
            let range = edit.slot.range
            guard range.lowerBound >= position, range.upperBound <= bytes.count else { continue }
            result += bytes[position..<range.lowerBound]
            let isText = bytes[range].first == 0x22
            result += spelled(edit.bytes, edit.slot.spelling, isText: isText)
            position = range.upperBound
        }
        return result + bytes[position...]
    }

    private static func spelled(
        _ bytes: [UInt8], _ spelling: RequestSlot.Spelling, isText: Bool
    ) -> [UInt8] {
        switch spelling {
        case .plain: return bytes
        case .percent: return PercentCoding.encoded(bytes)
        case .json:
            let isNumber = bytes.allSatisfy(\.isASCIIDigit) && bytes.first != 0x30
            return isNumber && !isText ? bytes : JSONText.string(bytes.text).line
        }
    }
}
