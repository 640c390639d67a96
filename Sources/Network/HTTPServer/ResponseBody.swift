package import Base

/// Where a response's content comes from: pulled as fast as the client reads.
package protocol ResponseBodySource: AnyObject {
    /// Appends at most `buffer.room` bytes, which is more than none, and returns how many; 0 is
    /// the end.
    ///
    /// - Throws: `ResponseInterruption`, which the client must see as a cut.
    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int

    /// What follows the content (RFC 9110 §6.5); read once, after the end.
    var trailers: [ResponseField] { get }
}

extension ResponseBodySource {
    package var trailers: [ResponseField] { [] }
}

/// A response that cannot go on: the head has been sent, so all that is left is how to stop.
///
/// A file that shrank ends this way, and so does a fault that was asked for.
package struct ResponseInterruption: Error, Sendable, Equatable {
    package enum Ending: Sendable, Equatable {
        /// The connection is closed in order (FIN), the message left incomplete.
        case close
        /// The connection is reset (RST).
        case reset
    }

    package let ending: Ending
    package let cause: Failure

    package init(_ ending: Ending, cause: Failure) {
        self.ending = ending
        self.cause = cause
    }
}

/// The content of one response.
package enum ResponseBody {
    case none
    case bytes([UInt8])
    /// - length: in bytes; `nil` when it is not known before the end.
    case stream(length: UInt64?, any ResponseBodySource)

    /// The content's length in bytes; `nil` when it is not known before the end.
    package var length: UInt64? {
        switch self {
        case .none: 0
        case .bytes(let bytes): UInt64(bytes.count)
        case .stream(let length, _): length
        }
    }

    /// The content as a stream.
    package var source: any ResponseBodySource {
        switch self {
        case .none: BytesSource([])
        case .bytes(let bytes): BytesSource(bytes)
        case .stream(_, let source): source
        }
    }
}

/// Bytes that are already in memory, as a stream.
package final class BytesSource: ResponseBodySource {
    private let bytes: [UInt8]
    private var offset = 0

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        let count = buffer.appendFitting(bytes, from: offset)
        offset += count
        return count
    }
}
