internal import Base
internal import HTTPModel

/// A header block while it is decoded (RFC 9113 §8.3).
///
/// Its fields are spelled as HTTP/1 has them when they come, behind the start line that they follow,
/// so that a sound head is written once.
struct HTTP2HeaderBlock {
    /// 0 in a request, and in trailers.
    private(set) var status = 0
    /// As RFC 9113 §6.5.2 counts it, in bytes.
    private(set) var size = 0
    private var pseudo = HTTP2PseudoFields()
    /// `nil` until a field comes that is none of them.
    private var lines: HTTP2HeadLines?
    /// Whether a pseudo-header field came behind one that is none (RFC 9113 §8.3 forbids it).
    private var isDisordered = false

    var hasMethod: Bool { !pseudo.method.isEmpty }

    mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        size += name.count + value.count + 32
        guard name.count == 0 || name[0] != 0x3A else { return addPseudo(name, value) }
        let known = KnownField(name: name)
        // A host that says the same as :authority says nothing (RFC 9113 §8.3.1).
        if case .host = known, pseudo.hasAuthority(value) { return }
        if lines == nil { lines = begun() }
        lines?.append(known, name, value)
    }

    private mutating func addPseudo(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        if name.count == 7, equals(name, ignoringCase: ":status") {
            status = value.indices.reduce(0) { ($0 &* 10 &+ Int(value[$1]) &- 0x30) & 0xFFFF }
        } else {
            pseudo.add(name, value)
        }
        isDisordered = lines != nil
    }

    /// What the pseudo-header fields so far begin.
    private var kind: HTTP2HeadStart.Kind {
        status > 0 ? .response : pseudo.isEmpty ? .trailers : .request
    }

    private func begun() -> HTTP2HeadLines { HTTP2HeadLines(kind, status, pseudo) }

    /// Hands over what has come, and begins the next block.
    mutating func finish() -> HTTP2Head {
        var block = HTTP2HeaderBlock()
        swap(&block, &self)
        let lines = block.lines ?? block.begun()
        block.lines = nil
        let head = HTTP2Head(
            status: block.status, size: block.size, pseudo: block.pseudo, start: lines.start,
            fields: lines.finish())
        return block.isDisordered ? head.respelled(as: block.kind) : head
    }
}

/// The pseudo-header fields of a request.
struct HTTP2PseudoFields: Sendable {
    /// The values of all.
    private var bytes: [UInt8] = []
    private var methodRange = 0..<0
    private var schemeRange = 0..<0
    private var authorityRange = 0..<0
    private var pathRange = 0..<0
    private var protocolRange = 0..<0

    var isEmpty: Bool { bytes.isEmpty }
    var method: ArraySlice<UInt8> { bytes[methodRange] }
    var scheme: ArraySlice<UInt8> { bytes[schemeRange] }
    var authority: ArraySlice<UInt8> { bytes[authorityRange] }
    var path: ArraySlice<UInt8> { bytes[pathRange] }
    var protocolName: ArraySlice<UInt8> { bytes[protocolRange] }

    /// What stands in the start line: a CONNECT without a path has its authority there.
    var target: ArraySlice<UInt8> {
        path.isEmpty && method.elementsEqual("CONNECT".utf8) ? authority : path
    }

    func hasAuthority(_ value: Span<UInt8>) -> Bool {
        value.count == authorityRange.count
            && value.indices.allSatisfy { bytes[authorityRange.lowerBound + $0] == value[$0] }
    }

    mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        if bytes.isEmpty { bytes.reserveCapacity(Self.usualSize) }
        let range = bytes.count..<bytes.count + value.count
        switch name.count {
        case 7 where equals(name, ignoringCase: ":method"): methodRange = range
        case 7 where equals(name, ignoringCase: ":scheme"): schemeRange = range
        case 10 where equals(name, ignoringCase: ":authority"): authorityRange = range
        case 5 where equals(name, ignoringCase: ":path"): pathRange = range
        case 9 where equals(name, ignoringCase: ":protocol"): protocolRange = range
        default: return
        }
        unsafe value.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    /// In bytes: what most are shorter than.
    private static let usualSize = 224
}

/// A head as HTTP/1 spells it, while it is written: what the pseudo-header fields make, and then the
/// fields.
struct HTTP2HeadLines {
    private var lines: FieldLines
    let start: HTTP2HeadStart

    init(_ kind: HTTP2HeadStart.Kind, _ status: Int, _ pseudo: HTTP2PseudoFields) {
        // Interim responses and trailers are short, and may be many.
        let isLong = kind == .request || status >= 200
        var bytes: [UInt8] = []
        if isLong { bytes.reserveCapacity(Self.usualSize) }
        switch kind {
        case .request: Self.add(requestLine: pseudo, to: &bytes)
        case .response: Self.add(statusLine: status, to: &bytes)
        case .trailers: break
        }
        lines = FieldLines(behind: bytes, capacity: isLong ? 10 : 0)
        if kind == .request {
            // `host` is `:authority`, and comes first.
            Self.add("host", pseudo.authority, .host, to: &lines)
            Self.add(":protocol", pseudo.protocolName, .other, to: &lines)
        }
        start = HTTP2HeadStart(kind: kind, size: lines.size, fieldCount: lines.count)
    }

    private static func add(requestLine pseudo: HTTP2PseudoFields, to bytes: inout [UInt8]) {
        bytes += pseudo.method
        bytes.append(0x20)
        bytes += pseudo.target
        HeadWriter.append(" HTTP/2.0\r\n", to: &bytes)
    }

    private static func add(statusLine status: Int, to bytes: inout [UInt8]) {
        HeadWriter.append("HTTP/2.0 ", to: &bytes)
        let status = HTTP2Head.bounded(status)
        for digit in [status / 100, status / 10 % 10, status % 10] {
            bytes.append(UInt8(truncatingIfNeeded: 0x30 + digit))
        }
        HeadWriter.append("\r\n", to: &bytes)
    }

    private static func add(
        _ name: StaticString, _ value: ArraySlice<UInt8>, _ known: KnownField,
        to lines: inout FieldLines
    ) {
        guard !value.isEmpty else { return }
        name.withUTF8Buffer { unsafe lines.append(known, $0.span, value.span) }
    }

    mutating func append(_ known: KnownField, _ name: Span<UInt8>, _ value: Span<UInt8>) {
        lines.append(known, name, value)
    }

    /// Those of another start, behind this one.
    mutating func append(_ fields: Fields, behind other: HTTP2HeadStart) {
        for slice in fields.slices[other.fieldCount...] {
            lines.append(slice, of: fields, until: slice.value.upperBound + 2)
        }
    }

    consuming func finish() -> Fields { lines.finish() }

    /// In bytes: what most heads are shorter than.
    private static let usualSize = 480
}

/// What the pseudo-header fields make of a head.
struct HTTP2HeadStart: Sendable {
    enum Kind: Sendable {
        case request
        case response
        case trailers
    }

    let kind: Kind
    /// In bytes.
    let size: Int
    let fieldCount: Int
}
