internal import Base
internal import HTTPModel

/// A header block while it is decoded (RFC 9113 §8.3).
///
/// Its fields are spelled as HTTP/1 has them when they come, behind the start line that they follow,
/// so that a head is written once and copied nowhere.
struct HTTP2HeaderBlock {
    /// 0 in a request, and in trailers.
    private(set) var status = 0
    /// As RFC 9113 §6.5.2 counts it, in bytes.
    private(set) var size = 0
    private var pseudo = HTTP2PseudoFields()
    /// `nil` until a field comes that is none of them.
    private var lines: HTTP2HeadLines?
    /// Whether a pseudo-header field came behind others, as no sound peer has them (RFC 9113 §8.3).
    private var isDisordered = false

    var hasMethod: Bool { !pseudo.method.isEmpty }

    mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        size += name.count + value.count + 32
        guard name.count == 0 || name[0] != 0x3A else { return addPseudo(name, value) }
        let known = KnownField(name: name)
        // A host that says the same as :authority says nothing (RFC 9113 §8.3.1).
        if case .host = known, pseudo.hasAuthority(value) { return }
        if lines == nil { lines = begun() }
        lines?.add(name, value, known)
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
    private func begun() -> HTTP2HeadLines {
        HTTP2HeadLines(
            status > 0 ? .response : pseudo.isEmpty ? .trailers : .request, status, pseudo)
    }

    /// Hands over what has come, and begins the next block.
    mutating func finish() -> HTTP2Head {
        var all = HTTP2HeaderBlock()
        swap(&all, &self)
        var lines = all.lines ?? all.begun()
        all.lines = nil
        if all.isDisordered { lines = lines.moved(behind: all.begun()) }
        lines.end()
        return HTTP2Head(
            status: all.status, size: all.size, pseudo: all.pseudo, lines: lines)
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

/// A head as HTTP/1 spells it, while it is written.
struct HTTP2HeadLines: Sendable {
    /// What the fields stand behind.
    enum Start: Sendable {
        case request
        case response
        case trailers
    }

    let start: Start
    private(set) var raw: [UInt8] = []
    private(set) var slices: [FieldSlice] = []
    /// What of `raw` and `slices` the pseudo-header fields make.
    private(set) var ownBytes = 0
    private var ownSlices = 0

    init(_ start: Start, _ status: Int, _ pseudo: HTTP2PseudoFields) {
        self.start = start
        raw.reserveCapacity(Self.usualSize)
        slices.reserveCapacity(10)
        switch start {
        case .request: beginRequest(pseudo)
        case .response: beginResponse(status)
        case .trailers: break
        }
        ownBytes = raw.count
        ownSlices = slices.count
    }

    /// `host` is `:authority`, and comes first.
    private mutating func beginRequest(_ pseudo: HTTP2PseudoFields) {
        raw += pseudo.method
        raw.append(0x20)
        raw += pseudo.target
        HeadWriter.append(" HTTP/2.0\r\n", to: &raw)
        if !pseudo.authority.isEmpty { add("host", pseudo.authority, .host) }
        if !pseudo.protocolName.isEmpty { add(":protocol", pseudo.protocolName, .other) }
    }

    private mutating func beginResponse(_ status: Int) {
        HeadWriter.append("HTTP/2.0 ", to: &raw)
        let status = HTTP2Head.bounded(status)
        for digit in [status / 100, status / 10 % 10, status % 10] {
            raw.append(UInt8(truncatingIfNeeded: 0x30 + digit))
        }
        HeadWriter.append("\r\n", to: &raw)
    }

    mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>, _ known: KnownField) {
        let start = raw.count
        append(name)
        raw.append(0x3A)
        raw.append(0x20)
        let valueStart = raw.count
        append(value)
        slices.append(
            FieldSlice(
                known: known, name: start..<start + name.count, value: valueStart..<raw.count))
        raw.append(0x0D)
        raw.append(0x0A)
    }

    private mutating func add(
        _ name: StaticString, _ value: ArraySlice<UInt8>, _ known: KnownField
    ) {
        name.withUTF8Buffer { unsafe add($0.span, value.span, known) }
    }

    private mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe raw.append(contentsOf: $0) }
    }

    mutating func end() { HeadWriter.append("\r\n", to: &raw) }

    /// The same fields behind another start.
    func moved(behind other: HTTP2HeadLines) -> HTTP2HeadLines {
        var result = other
        let shift = result.raw.count - ownBytes
        result.raw += raw[ownBytes...]
        for slice in slices[ownSlices...] {
            result.slices.append(
                FieldSlice(
                    known: slice.known, name: slice.name.shifted(by: shift),
                    value: slice.value.shifted(by: shift)))
        }
        return result
    }

    /// In bytes: what most heads are shorter than.
    private static let usualSize = 480
}

extension Range<Int> {
    fileprivate func shifted(by count: Int) -> Range<Int> {
        lowerBound + count..<upperBound + count
    }
}
