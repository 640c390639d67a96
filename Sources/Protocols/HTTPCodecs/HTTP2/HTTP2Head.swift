internal import Base
package import HTTPModel

/// A header block of HTTP/2 as it was decoded: pseudo-header fields apart, the fields in wire order.
package struct HTTP2Head: Sendable {
    /// 0 in a request, and in trailers.
    package private(set) var status = 0
    /// The values of all pseudo-header fields; one array, because heads are copied often.
    private var pseudo: [UInt8] = []
    private var methodRange = 0..<0
    private var schemeRange = 0..<0
    private var authorityRange = 0..<0
    private var pathRange = 0..<0
    private var protocolRange = 0..<0
    /// The fields as lines of HTTP/1, without the empty line.
    private var lines: [UInt8] = []
    private var slices: [FieldSlice] = []
    /// As RFC 9113 §6.5.2 counts it, in bytes.
    package private(set) var size = 0

    init() {}

    /// What the peer reads of a header block that goes out to it.
    package init(sending fields: HTTP2Fields) {
        for entry in fields.entries {
            let bytes = fields.bytes.span
            add(
                bytes.extracting(entry.name..<entry.name + entry.nameCount),
                bytes.extracting(entry.value..<entry.value + entry.valueCount))
        }
    }

    package var method: ArraySlice<UInt8> { pseudo[methodRange] }
    package var scheme: ArraySlice<UInt8> { pseudo[schemeRange] }
    package var authority: ArraySlice<UInt8> { pseudo[authorityRange] }
    package var path: ArraySlice<UInt8> { pseudo[pathRange] }
    /// `:protocol` of an extended CONNECT (RFC 8441 §4); empty for every other request.
    package var protocolName: ArraySlice<UInt8> { pseudo[protocolRange] }

    /// Whether the peer asks to speak another protocol on the stream.
    package var isExtendedConnect: Bool { !protocolRange.isEmpty }

    /// Whether it says neither what is asked for nor what is answered.
    var isTrailers: Bool { status == 0 && pseudo.isEmpty }

    mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        size += name.count + value.count + 32
        guard name.count == 0 || name[0] != 0x3A else { return addPseudo(name, value) }
        // A host that says the same as :authority says nothing (RFC 9113 §8.3.1).
        if value.count == authorityRange.count, case .host = KnownField(name: name),
            value.indices.allSatisfy({ pseudo[authorityRange.lowerBound + $0] == value[$0] })
        {
            return
        }
        if lines.isEmpty {
            lines.reserveCapacity(Self.usualSize)
            slices.reserveCapacity(8)
        }
        let start = lines.count
        append(name)
        lines.append(0x3A)
        lines.append(0x20)
        let valueStart = lines.count
        append(value)
        let valueEnd = lines.count
        lines.append(0x0D)
        lines.append(0x0A)
        slices.append(
            FieldSlice(
                known: KnownField(name: name), name: start..<start + name.count,
                value: valueStart..<valueEnd))
    }

    private mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe lines.append(contentsOf: $0) }
    }

    private mutating func addPseudo(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        if name.count == 7, equals(name, ignoringCase: ":status") {
            status = value.indices.reduce(0) { ($0 &* 10 &+ Int(value[$1]) &- 0x30) & 0xFFFF }
            return
        }
        if pseudo.isEmpty { pseudo.reserveCapacity(Self.usualSize) }
        let range = pseudo.count..<pseudo.count + value.count
        switch name.count {
        case 7 where equals(name, ignoringCase: ":method"): methodRange = range
        case 7 where equals(name, ignoringCase: ":scheme"): schemeRange = range
        case 10 where equals(name, ignoringCase: ":authority"): authorityRange = range
        case 5 where equals(name, ignoringCase: ":path"): pathRange = range
        case 9 where equals(name, ignoringCase: ":protocol"): protocolRange = range
        default: return
        }
        unsafe value.withUnsafeBufferPointer { unsafe pseudo.append(contentsOf: $0) }
    }

    /// In bytes: what most heads are shorter than.
    private static let usualSize = 224

    // MARK: As heads

    /// The head as HTTP/1 would spell it: `host` is `:authority`, and comes first.
    ///
    /// - Throws: the violation of a target that does not fit on a line.
    package func requestHead() throws(HTTP1Violation) -> RequestHead {
        let isTunnel = method.elementsEqual("CONNECT".utf8) && path.isEmpty
        let target = isTunnel ? authority : path
        guard !target.isEmpty, target.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw .invalidTarget
        }
        guard !method.isEmpty, method.allSatisfy(\.isTokenByte) else { throw .invalidMethod }
        guard authority.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw .invalidTarget }
        var raw: [UInt8] = []
        raw.reserveCapacity(method.count + target.count + authority.count + lines.count + 64)
        raw += method
        raw.append(0x20)
        let targetStart = raw.count
        raw += target
        let targetEnd = raw.count
        HeadWriter.append(" HTTP/2.0\r\n", to: &raw)
        var fields: [FieldSlice] = []
        fields.reserveCapacity(slices.count + 2)
        if !authority.isEmpty {
            fields.append(Self.add("host", authority, .host, to: &raw))
        }
        if isExtendedConnect {
            fields.append(Self.add(":protocol", protocolName, .other, to: &raw))
        }
        addFields(to: &raw, &fields)
        return RequestHead(
            version: .http2, knownMethod: Self.knownMethod(method),
            methodRange: 0..<method.count, targetRange: targetStart..<targetEnd,
            fields: Fields(raw: raw, slices: fields))
    }

    /// What came, as text, whether it makes a head or not.
    package var text: [UInt8] {
        method + [0x20] + (path.isEmpty ? authority : path) + [UInt8](" HTTP/2.0\r\n".utf8)
            + lines + [0x0D, 0x0A]
    }

    package func responseHead() -> ResponseHead {
        var raw: [UInt8] = []
        raw.reserveCapacity(lines.count + 32)
        HeadWriter.append("HTTP/2.0 ", to: &raw)
        let status = min(999, max(100, status))
        raw.append(contentsOf: String(status).utf8)
        let end = raw.count
        HeadWriter.append("\r\n", to: &raw)
        var fields: [FieldSlice] = []
        fields.reserveCapacity(slices.count)
        addFields(to: &raw, &fields)
        return ResponseHead(
            version: .http2, status: status, reasonRange: end..<end,
            fields: Fields(raw: raw, slices: fields))
    }

    /// The trailer section as HTTP/1 would spell it, through the empty line.
    package func trailers() -> Fields {
        var raw: [UInt8] = []
        var fields: [FieldSlice] = []
        addFields(to: &raw, &fields)
        return Fields(raw: raw, slices: fields)
    }

    private static func add(
        _ name: StaticString, _ value: ArraySlice<UInt8>, _ known: KnownField, to raw: inout [UInt8]
    ) -> FieldSlice {
        let start = raw.count
        HeadWriter.append(name, to: &raw)
        let nameEnd = raw.count
        HeadWriter.append(": ", to: &raw)
        let valueStart = raw.count
        raw += value
        defer { HeadWriter.append("\r\n", to: &raw) }
        return FieldSlice(known: known, name: start..<nameEnd, value: valueStart..<raw.count)
    }

    private func addFields(to raw: inout [UInt8], _ fields: inout [FieldSlice]) {
        let shift = raw.count
        raw += lines
        HeadWriter.append("\r\n", to: &raw)
        for slice in slices {
            fields.append(
                FieldSlice(
                    known: slice.known, name: slice.name.shifted(by: shift),
                    value: slice.value.shifted(by: shift)))
        }
    }

    private static func knownMethod(_ method: ArraySlice<UInt8>) -> KnownMethod {
        switch method.count {
        case 3 where method.elementsEqual("GET".utf8): .get
        case 4 where method.elementsEqual("HEAD".utf8): .head
        case 4 where method.elementsEqual("POST".utf8): .post
        case 7 where method.elementsEqual("CONNECT".utf8): .connect
        default: .other
        }
    }
}

extension Range<Int> {
    fileprivate func shifted(by count: Int) -> Range<Int> {
        lowerBound + count..<upperBound + count
    }
}
