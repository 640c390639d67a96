package import Base

/// Where a request's content comes from: pulled, never pushed.
package protocol RequestBodySource: AnyObject {
    /// Appends at most `buffer.room` bytes and returns how many; 0 is the end.
    ///
    /// - Throws: `request-body` when the client breaks off or breaks the framing.
    func read(into buffer: ByteBuffer) async throws(Failure) -> Int
}

/// The content of one request, which the route reads as fast as it wants, or not at all.
///
/// Not `Sendable`: it belongs to the connection's task.
package final class RequestBody {
    /// The Content-Length in bytes; `nil` when the client does not say.
    package let length: UInt64?
    private let source: (any RequestBodySource)?
    /// What is already there and has not been read.
    private var held: ArraySlice<UInt8> = []

    package init(length: UInt64?, source: any RequestBodySource) {
        self.length = length
        self.source = source
    }

    /// A body that is already there.
    package init(_ bytes: [UInt8]) {
        length = UInt64(bytes.count)
        source = nil
        held = bytes[...]
    }

    /// Appends at most `buffer.room` bytes and returns how many; 0 is the end.
    package func read(into buffer: ByteBuffer) async throws(Failure) -> Int {
        guard held.isEmpty else {
            let piece = held.prefix(buffer.room)
            buffer.append([UInt8](piece))
            held = held.dropFirst(piece.count)
            return piece.count
        }
        guard let source else { return 0 }
        return try await source.read(into: buffer)
    }

    /// Reads all that is left.
    ///
    /// - Throws: `request-too-large` beyond `byteLimit` bytes, else what the source throws.
    package func collect(byteLimit: Int) async throws(Failure) -> [UInt8] {
        if let length, length > UInt64(max(0, byteLimit)) { throw Self.tooLarge(byteLimit) }
        var collected: [UInt8] = []
        let buffer = ByteBuffer(capacity: Self.step)
        while try await read(into: buffer) > 0 {
            guard buffer.count <= byteLimit - collected.count else {
                throw Self.tooLarge(byteLimit)
            }
            collected.append(contentsOf: buffer.copy)
            buffer.removeAll()
        }
        return collected
    }

    private static func tooLarge(_ byteLimit: Int) -> Failure {
        Failure(
            "request-too-large", party: .client, "request body: more than \(byteLimit) bytes")
    }

    /// Bytes a read, when a body is collected.
    private static let step = 16_384
}
