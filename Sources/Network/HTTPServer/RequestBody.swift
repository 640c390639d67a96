package import Base
package import HTTPModel

/// Where a request's content comes from: pulled, never pushed.
package protocol RequestBodySource: AnyObject {
    /// Appends at most `buffer.room` bytes and returns how many; 0 is the end.
    ///
    /// - Throws: `request-body` when the client breaks off or breaks the framing.
    func read(into buffer: ByteBuffer) async throws(Failure) -> Int

    /// What stood behind the content, once that has been read to its end.
    var trailers: Fields { get }

    /// Sends an interim response.
    func inform(_ status: Int, _ fields: [ResponseField]) async

    /// Waits; `nil` waits for ever.
    ///
    /// - Returns: whether the time has passed; else the client has left, or the server stops.
    func wait(milliseconds: UInt64?) async -> Bool

    /// Waits until `waker` is called, but no longer than so many milliseconds; `nil` for any time.
    ///
    /// - Returns: `false` if the client has left, or the server stops.
    func waitForWake(milliseconds: UInt64?) async -> Bool

    /// Ends such a wait, under way or the next; from any thread.
    var waker: @Sendable () -> Void { get }
}

/// The content of one request, which the route reads as fast as it wants, or not at all, and what it
/// can tell the client meanwhile.
///
/// Not `Sendable`: it belongs to the connection's task.
package final class RequestBody {
    /// The Content-Length in bytes; `nil` when the client does not say.
    package let length: UInt64?
    private let source: (any RequestBodySource)?
    /// What is already there and has not been read.
    private var held: ArraySlice<UInt8> = []
    /// Where reading pauses, from the first byte of the content, and for how many milliseconds.
    private var hold: (offset: UInt64, milliseconds: UInt64?)?
    /// Where the client is broken off, from the first byte of the content.
    private var breakOffset: UInt64?
    private var rewriteInterim: (([ResponseField]) -> [ResponseField]?)?
    /// How much was read, in bytes.
    package private(set) var count: UInt64 = 0
    /// Whether it failed because that was asked for.
    package private(set) var isBrokenOff = false

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
        if let hold, count >= hold.offset {
            self.hold = nil
            guard await wait(milliseconds: hold.milliseconds) else {
                throw Failure("request-body", party: .client, "request body: given up")
            }
        }
        if let breakOffset {
            guard count < breakOffset else {
                isBrokenOff = true
                throw Failure("request-body", party: .client, "request body: broken off")
            }
            if UInt64(buffer.room) > breakOffset - count {
                let piece = ByteBuffer(capacity: Int(breakOffset - count))
                let got = try await readOn(into: piece)
                buffer.append(piece.readable)
                return got
            }
        }
        return try await readOn(into: buffer)
    }

    private func readOn(into buffer: ByteBuffer) async throws(Failure) -> Int {
        guard held.isEmpty else {
            let piece = held.prefix(buffer.room)
            buffer.append([UInt8](piece))
            held = held.dropFirst(piece.count)
            count += UInt64(piece.count)
            return piece.count
        }
        guard let source else { return 0 }
        let got = try await source.read(into: buffer)
        count += UInt64(got)
        return got
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

    /// The trailer section, once the content has been read to its end (RFC 9110 §6.5).
    package var trailers: Fields { source?.trailers ?? .none }

    /// Sends an interim response at once, 103 or 104 (RFC 8297); several of them go out in order. One
    /// that the client's version does not know is left out, and so is one behind the final response.
    ///
    /// 100 is not the route's: it goes out when the content is first read.
    package func inform(_ status: Int, _ fields: [ResponseField]) async {
        guard let rewriteInterim else { return await source?.inform(status, fields) ?? () }
        if let fields = rewriteInterim(fields) { await source?.inform(status, fields) }
    }

    /// Sends interim responses with other fields; `nil` for none at all.
    package func rewritesInterim(_ rewrite: @escaping ([ResponseField]) -> [ResponseField]?) {
        rewriteInterim = rewrite
    }

    /// Lets the content fail at an offset, as if the client had left there.
    package func breakOff(at offset: UInt64) { breakOffset = offset }

    /// Stops reading at an offset, so that the client's window closes; `nil` for ever.
    package func withhold(at offset: UInt64, milliseconds: UInt64?) {
        hold = (offset, milliseconds)
    }

    /// Waits on the loop's clock; `nil` waits until somebody ends it.
    ///
    /// - Returns: whether the time has passed; else the client has left, or the server stops.
    package func wait(milliseconds: UInt64?) async -> Bool {
        await source?.wait(milliseconds: milliseconds) ?? true
    }

    /// Waits until `waker` is called, but no longer than so many milliseconds; `nil` for any time.
    ///
    /// - Returns: `false` if the client has left, or the server stops.
    package func waitForWake(milliseconds: UInt64?) async -> Bool {
        await source?.waitForWake(milliseconds: milliseconds) ?? false
    }

    /// Ends such a wait, under way or the next; from any thread.
    package var waker: @Sendable () -> Void {
        guard let source else { return {} }
        return source.waker
    }

    private static func tooLarge(_ byteLimit: Int) -> Failure {
        Failure(
            "request-too-large", party: .client, "request body: more than \(byteLimit) bytes")
    }

    /// Bytes a read, when a body is collected.
    private static let step = 16_384
}
