internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Traffic

/// Recorded heads, read again.
enum RecordedHeads {
    /// The request of an exchange, without its content; `nil` for one that is malformed, or asked
    /// for a tunnel.
    static func request(of record: ExchangeRecord) -> RequestFacts? {
        let lines = plainLines(record.requestHead)
        guard let head = read(lines.bytes, RequestReader.read)?.head else { return nil }
        let opensWebSocket =
            lines.hasProtocol
            || record.status == 101
                && head.fields.contains(.upgrade, token: "websocket")
            || head.fields.contains(.upgrade, token: "websocket")
        guard head.knownMethod != .connect || opensWebSocket else { return nil }
        return RequestFacts(
            method: head.method.text, isSecure: record.scheme == .https,
            authority: record.authority, target: path(head.target), fields: head.fields,
            opensWebSocket: opensWebSocket)
    }

    /// The head of a request, read as one of HTTP/1; `nil` for one that is malformed.
    static func head(of record: ExchangeRecord) -> RequestHead? {
        read(request: plainLines(record.requestHead).bytes)
    }

    static func read(request bytes: [UInt8]) -> RequestHead? {
        read(bytes, RequestReader.read)?.head
    }

    /// A final or interim response's head.
    static func response(_ bytes: [UInt8]) -> ResponseHead? {
        let isHTTP2 = bytes.starts(with: "HTTP/2".utf8)
        var line = bytes
        if isHTTP2, line.count > 8 { line.replaceSubrange(5..<8, with: "1.1".utf8) }
        guard let head = read(line, ResponseReader.read)?.head else { return nil }
        guard isHTTP2 else { return head }
        return ResponseHead(
            version: .http2, status: head.status, reasonRange: head.reasonRange,
            fields: Fields(raw: bytes, slices: head.fields.slices))
    }

    /// A trailer section; none if it cannot be read.
    static func trailers(_ bytes: [UInt8]) -> Fields {
        guard !bytes.isEmpty else { return .none }
        let line = [UInt8]("HTTP/1.1 200 \r\n".utf8)
        guard let head = read(line + bytes, ResponseReader.read)?.head else { return .none }
        let slices = head.fields.slices.map { slice in
            FieldSlice(
                known: slice.known, name: slice.name.shifted(by: -line.count),
                value: slice.value.shifted(by: -line.count))
        }
        return Fields(raw: bytes, slices: slices)
    }

    /// What was recorded was within the limits that held then.
    private static let limits = HeadLimits(
        startLineLimit: 1 << 24, fieldLineLimit: 1 << 24, blockLimit: 1 << 24,
        fieldCountLimit: 1 << 16, leniency: .response)

    private static func read<Head>(
        _ bytes: [UInt8],
        _ read: (Span<UInt8>, HeadLimits, Int) throws(HTTP1Violation) -> (
            head: Head, consumed: Int
        )?
    ) -> (head: Head, consumed: Int)? {
        do throws(HTTP1Violation) {
            return try read(bytes.span, limits, 0)
        } catch {
            return nil
        }
    }

    /// A request's head as HTTP/1 knows it: of a version that may lack Host, without `:protocol`.
    private static func plainLines(_ head: [UInt8]) -> (bytes: [UInt8], hasProtocol: Bool) {
        guard let end = head.firstIndex(of: 0x0A), end >= 10,
            head[..<end].dropLast().suffix(8).elementsEqual("HTTP/2.0".utf8)
        else { return (head, false) }
        var bytes = head
        bytes.replaceSubrange(end - 4..<end - 1, with: "1.0".utf8)
        let name = [UInt8]("\n:protocol:".utf8)
        guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: name) }),
            let stop = bytes[(start + 1)...].firstIndex(of: 0x0A)
        else { return (bytes, false) }
        bytes.removeSubrange(start + 1...stop)
        return (bytes, true)
    }

    /// The path and query of a target, which names the origin too where a proxy was asked.
    static func path(_ target: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard target.first != 0x2F, let mark = target.firstIndex(of: 0x3A),
            target[mark...].starts(with: "://".utf8)
        else { return target }
        let rest = target[(mark + 3)...]
        guard let start = rest.firstIndex(where: { $0 == 0x2F || $0 == 0x3F }) else {
            return [0x2F]
        }
        return rest[start] == 0x2F ? rest[start...] : ([0x2F] + rest[start...])[...]
    }
}

extension Range<Int> {
    fileprivate func shifted(by count: Int) -> Range<Int> {
        lowerBound + count..<upperBound + count
    }
}
