internal import Base
package import HTTPModel

/// A decoded header block: a request, a response, or trailers (RFC 9113 §8.3).
///
/// A class, because a head changes hands often.
package final class HTTP2Head: Sendable {
    /// 0 in a request, and in trailers.
    package let status: Int
    /// As RFC 9113 §6.5.2 counts it, in bytes.
    package let size: Int
    private let pseudo: HTTP2PseudoFields
    private let start: HTTP2HeadStart
    /// As HTTP/1 has them behind `start`, which is in them.
    private let fields: Fields

    init(
        status: Int, size: Int, pseudo: HTTP2PseudoFields, start: HTTP2HeadStart, fields: Fields
    ) {
        self.status = status
        self.size = size
        self.pseudo = pseudo
        self.start = start
        self.fields = fields
    }

    package var method: ArraySlice<UInt8> { pseudo.method }
    package var scheme: ArraySlice<UInt8> { pseudo.scheme }
    package var authority: ArraySlice<UInt8> { pseudo.authority }
    package var path: ArraySlice<UInt8> { pseudo.path }
    /// `:protocol` of an extended CONNECT (RFC 8441 §4); empty for every other request.
    package var protocolName: ArraySlice<UInt8> { pseudo.protocolName }

    /// Whether the peer asks to speak another protocol on the stream.
    package var isExtendedConnect: Bool { !pseudo.protocolName.isEmpty }

    /// Whether it says neither what is asked for nor what is answered.
    var isTrailers: Bool { status == 0 && pseudo.isEmpty }

    /// Of a block that nobody keeps.
    static let empty = {
        var block = HTTP2HeaderBlock()
        return block.finish()
    }()

    /// The same, spelled anew.
    func respelled(as kind: HTTP2HeadStart.Kind) -> HTTP2Head {
        var lines = HTTP2HeadLines(kind, status, pseudo)
        lines.append(fields, behind: start)
        return HTTP2Head(
            status: status, size: size, pseudo: pseudo, start: lines.start, fields: lines.finish())
    }

    /// Most heads are what they were taken for.
    private func fields(as kind: HTTP2HeadStart.Kind) -> Fields {
        kind == start.kind ? fields : respelled(as: kind).fields
    }

    /// The head as HTTP/1 would spell it: `host` is `:authority`, and comes first.
    ///
    /// - Throws: the violation of a target that does not fit on a line.
    package func requestHead() throws(HTTP1Violation) -> RequestHead {
        let (method, target) = (pseudo.method, pseudo.target)
        guard !target.isEmpty, target.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw .invalidTarget
        }
        guard !method.isEmpty, method.allSatisfy(\.isTokenByte) else { throw .invalidMethod }
        guard authority.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw .invalidTarget }
        let targetStart = method.count + 1
        return RequestHead(
            version: .http2, knownMethod: Self.knownMethod(method),
            methodRange: 0..<method.count, targetRange: targetStart..<targetStart + target.count,
            fields: fields(as: .request))
    }

    /// What came, as text, whether it makes a head or not.
    package var text: [UInt8] {
        let asksForAuthority = path.isEmpty && Self.knownMethod(method[...]) == .connect
        let host =
            asksForAuthority || authority.isEmpty
            ? [] : [UInt8]("host: ".utf8) + authority + [0x0D, 0x0A]
        return method + [0x20] + (asksForAuthority ? authority : path)
            + [UInt8](" HTTP/2.0\r\n".utf8) + host + fields.raw[start.size...]
    }

    package func responseHead() -> ResponseHead {
        let end = "HTTP/2.0 200".utf8.count
        return ResponseHead(
            version: .http2, status: Self.bounded(status), reasonRange: end..<end,
            fields: fields(as: .response))
    }

    /// A status that a line of HTTP/1 can hold.
    static func bounded(_ status: Int) -> Int { min(999, max(100, status)) }

    /// The trailer section as HTTP/1 would spell it, through the empty line.
    package func trailers() -> Fields { fields(as: .trailers) }

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

extension HTTP2Fields {
    /// What the peer reads of a header block that goes out to it.
    package var received: HTTP2Head {
        var block = HTTP2HeaderBlock()
        let bytes = bytes.span
        for entry in entries {
            block.add(
                bytes.extracting(entry.name..<entry.name + entry.nameCount),
                bytes.extracting(entry.value..<entry.value + entry.valueCount))
        }
        return block.finish()
    }
}
