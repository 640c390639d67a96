package import HTTPModel

/// Walks over a body in wire form and tells which of its bytes are content.
///
/// It copies no content and looks at none of its bytes.
package struct BodyReader: Sendable {
    private enum State: Sendable {
        case complete
        /// So many bytes of content are to come.
        case length(UInt64)
        /// Apart: it is large, and most bodies have none.
        indirect case chunked(ChunkReader)
        case endless
        case failed(HTTP1Violation)
    }

    private var state: State
    /// The trailer section through its empty line, once complete; empty if there is none.
    ///
    /// A Content-Length, Transfer-Encoding or Host in it is kept and means nothing.
    package private(set) var trailers = Fields.none
    /// Of what `consume` took last, at its end: bytes that do not go on as they came.
    package private(set) var withheldCount = 0
    /// What goes on, once complete, in the place of all that was withheld: the trailers that may.
    package private(set) var closing: [UInt8] = []
    /// Whether a CR has to go on behind what `consume` took last: the next byte is an LF without.
    package private(set) var lacksReturn = false
    /// What of its lines was not as it has to be.
    package private(set) var leniency: HeadLeniency = []

    /// - Parameters:
    ///   - trailerLimits: of the trailer section; the start line's limit has no meaning. Their
    ///     leniency is that of the chunks' lines too.
    ///   - chunkLineLimit: of one size line with its extensions and CRLF, in bytes.
    ///   - chunkExtensionLimit: of all extensions of the body, in bytes: they are noise, and a
    ///     peer that sends more of them than this wants to keep the reader busy.
    package init(
        _ framing: BodyFraming, trailerLimits: HeadLimits = HeadLimits(),
        chunkLineLimit: Int = 4096, chunkExtensionLimit: Int = 65_536
    ) {
        switch framing {
        case .none, .length(0): state = .complete
        case .length(let count): state = .length(count)
        case .chunked:
            state = .chunked(
                ChunkReader(
                    trailerLimits: trailerLimits, lineLimit: chunkLineLimit,
                    extensionLimit: chunkExtensionLimit))
        case .untilClose, .tunnel: state = .endless
        }
    }

    /// Whether the end of the body was consumed; never for what ends with the connection.
    package var isComplete: Bool {
        if case .complete = state { true } else { false }
    }

    /// Consumes a prefix of `bytes`, never beyond the end of the body.
    ///
    /// - Parameter payload: called with the ranges of `bytes` that are content, in order. Those
    ///   reported before a violation stand.
    /// - Returns: how many bytes were consumed: all, unless the body is complete.
    /// - Throws: the violation, and the same again on every later call.
    package mutating func consume(
        _ bytes: Span<UInt8>, payload: (Range<Int>) -> Void
    ) throws(HTTP1Violation) -> Int {
        switch state {
        case .complete:
            return 0
        case .failed(let violation):
            throw violation
        case .endless:
            if !bytes.isEmpty { payload(0..<bytes.count) }
            return bytes.count
        case .length(let remaining):
            let count = Int(min(remaining, UInt64(bytes.count)))
            if count > 0 { payload(0..<count) }
            let rest = remaining - UInt64(count)
            state = rest == 0 ? .complete : .length(rest)
            return count
        case .chunked(var reader):
            state = .complete
            return try consume(bytes, with: &reader, payload: payload)
        }
    }

    private mutating func consume(
        _ bytes: Span<UInt8>, with reader: inout ChunkReader, payload: (Range<Int>) -> Void
    ) throws(HTTP1Violation) -> Int {
        do throws(HTTP1Violation) {
            let count = try reader.consume(bytes, payload: payload)
            withheldCount = reader.withheldCount
            lacksReturn = reader.lacksReturn
            if !reader.used.isEmpty { leniency = reader.used }
            if reader.isComplete {
                trailers = reader.trailers
                closing = reader.closing
            } else {
                state = .chunked(reader)
            }
            return count
        } catch {
            state = .failed(error)
            throw error
        }
    }
}
