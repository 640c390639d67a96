import Base
import HTTPCodecs
import HTTPModel
import Testing

/// What a reader made of its input.
enum Reading<Head: Equatable & Sendable>: Equatable, Sendable {
    case head(Head, consumed: Int)
    case incomplete
    case violation(HTTP1Violation)
}

/// Reads `bytes` whole, byte by byte with and without the hint, and cut in two at every offset.
///
/// - Parameter read: gets a prefix and how much of it an earlier call saw.
/// - Returns: what the whole came to, and every way of cutting that came to something else.
func readings<Head>(
    of bytes: [UInt8], by read: ([UInt8], Int) -> Reading<Head>
) -> (whole: Reading<Head>, deviations: [String]) {
    let whole = read(bytes, 0)
    var deviations: [String] = []
    for hinted in [true, false] {
        var result = Reading<Head>.incomplete
        for count in stride(from: 0, through: bytes.count, by: 1) {
            result = read(Array(bytes.prefix(count)), hinted && count > 0 ? count - 1 : 0)
            if result != .incomplete { break }
        }
        if result != whole { deviations.append("byte by byte, hint \(hinted): \(result)") }
    }
    for cut in bytes.indices {
        var result = read(Array(bytes.prefix(cut)), 0)
        if result == .incomplete { result = read(bytes, cut) }
        if result != whole { deviations.append("cut at \(cut): \(result)") }
    }
    return (whole, deviations)
}

/// A request's head as text, for comparing.
struct RequestParts: Equatable, Sendable {
    var version: HTTPVersion
    var known: KnownMethod
    var method: String
    var target: String
    var fields: [String]
    var raw: [UInt8]

    init(_ head: RequestHead) {
        version = head.version
        known = head.knownMethod
        method = head.method.text
        target = head.target.text
        fields = head.fields.pairs.map { "\($0.name)=\($0.value)" }
        raw = head.raw
    }
}

/// A response's head as text, for comparing.
struct ResponseParts: Equatable, Sendable {
    var version: HTTPVersion
    var status: Int
    var reason: String
    var fields: [String]
    var raw: [UInt8]

    var codes: [String]
    var sent: [UInt8] = []

    init(_ head: ResponseHead) {
        codes = head.leniency.notes.map(\.code)
        HeadWriter.writeResponse(head, into: &sent)
        version = head.version
        status = head.status
        reason = head.reason.text
        fields = head.fields.pairs.map { "\($0.name)=\($0.value)" }
        raw = head.raw
    }
}

func readRequest(
    _ bytes: [UInt8], limits: HeadLimits = HeadLimits(), alreadyScanned: Int = 0
) -> Reading<RequestParts> {
    do throws(HTTP1Violation) {
        let result = try RequestReader.read(
            bytes.span, limits: limits, alreadyScanned: alreadyScanned)
        guard let result else { return .incomplete }
        return .head(RequestParts(result.head), consumed: result.consumed)
    } catch {
        return .violation(error)
    }
}

func readResponse(
    _ bytes: [UInt8], limits: HeadLimits = HeadLimits(), alreadyScanned: Int = 0
) -> Reading<ResponseParts> {
    do throws(HTTP1Violation) {
        let result = try ResponseReader.read(
            bytes.span, limits: limits, alreadyScanned: alreadyScanned)
        guard let result else { return .incomplete }
        return .head(ResponseParts(result.head), consumed: result.consumed)
    } catch {
        return .violation(error)
    }
}

/// The head of a request that is known to be sound.
func requestHead(_ text: String) throws -> RequestHead {
    try #require(try RequestReader.read(Array(text.utf8).span)).head
}

/// The head of a response that is known to be sound.
func responseHead(_ text: String) throws -> ResponseHead {
    try #require(try ResponseReader.read(Array(text.utf8).span)).head
}

/// Text in which `~HH` stands for one byte, for what no string can hold.
func wire(_ text: String) -> [UInt8] {
    var result: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
        if byte == 0x7E, let value = bytes(fromHex: rest.prefix(2).text), value.count == 1 {
            result += value
            rest = rest.dropFirst(2)
        } else {
            result.append(byte)
        }
    }
    return result
}
