/// Bytes between a producer and a consumer: written at the end, read at the start.
///
/// The capacity is fixed, so that what a peer sends cannot grow it. Every access is checked against
/// the bounds; the spans that it hands out live only as long as the access.
///
/// Not `Sendable`: one task fills and empties it.
@safe
package final class ByteBuffer {
    private let base: UnsafeMutablePointer<UInt8>
    package let capacity: Int
    private var start = 0
    private var end = 0
    /// While a pool keeps it: whether it does, and what it keeps below it.
    fileprivate var isUnused = false
    fileprivate var below: ByteBuffer?

    /// - Parameter capacity: in bytes.
    package init(capacity: Int) {
        precondition(capacity > 0, "a buffer must hold something")
        unsafe base = .allocate(capacity: capacity)
        self.capacity = capacity
    }

    deinit {
        unsafe base.deallocate()
    }

    /// How many bytes wait to be read.
    @inline(__always) package var count: Int { end - start }

    @inline(__always) package var isEmpty: Bool { start == end }

    /// How many bytes can be written without `compact()`.
    @inline(__always) package var room: Int { capacity - end }

    /// The bytes that wait.
    package var readable: Span<UInt8> {
        @_lifetime(borrow self) get {
            let span = unsafe Span<UInt8>(_unsafeStart: UnsafePointer(base) + start, count: count)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    package subscript(offset: Int) -> UInt8 {
        precondition(offset >= 0 && offset < count, "outside of the buffer")
        return unsafe base[start + offset]
    }

    /// Drops the first `count` bytes.
    @inline(__always)
    package func consume(_ count: Int) {
        precondition(count >= 0 && count <= end - start, "more than there is")
        start += count
        if start == end {
            start = 0
            end = 0
        }
    }

    package func removeAll() {
        start = 0
        end = 0
    }

    /// Moves what waits to the front, so that all the room is behind it.
    package func compact() {
        guard start > 0 else { return }
        unsafe base.update(from: base + start, count: count)
        end -= start
        start = 0
    }

    /// Lets `body` fill the room at the end; it returns how many bytes it wrote.
    package func fill<Failed: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failed) -> Int
    ) throws(Failed) -> Int {
        let space = unsafe UnsafeMutableRawBufferPointer(start: base + end, count: room)
        let count = try unsafe body(space)
        precondition(count >= 0 && count <= room, "wrote beyond the room")
        end += count
        return count
    }

    /// Lets `body` read what waits; nothing is consumed.
    package func withUnsafeReadable<Result, Failed: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failed) -> Result
    ) throws(Failed) -> Result {
        try unsafe body(UnsafeRawBufferPointer(start: base + start, count: count))
    }

    /// Writes all of `bytes`, which must fit into the room.
    package func append(_ bytes: Span<UInt8>) {
        precondition(bytes.count <= room, "no room")
        unsafe bytes.withUnsafeBufferPointer { source in
            if let address = source.baseAddress {
                unsafe (base + end).update(from: address, count: source.count)
            }
        }
        end += bytes.count
    }

    package func append(_ bytes: [UInt8]) {
        append(bytes.span)
    }

    package func append(_ text: StaticString) {
        let count = text.utf8CodeUnitCount
        precondition(count <= room, "no room")
        unsafe (base + end).update(from: text.utf8Start, count: count)
        end += count
    }

    /// A copy of what waits.
    package var copy: [UInt8] {
        unsafe [UInt8](UnsafeBufferPointer(start: base + start, count: count))
    }

    /// A copy of the bytes at `range`, which counts from the first byte that waits.
    package func copy(_ range: Range<Int>) -> [UInt8] {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "outside of the buffer")
        return unsafe [UInt8](
            UnsafeBufferPointer(start: base + start + range.lowerBound, count: range.count))
    }
}

/// Buffers of one capacity, kept for reuse.
///
/// An idle connection holds none. Not `Sendable`: each event loop has its own.
package final class BufferPool {
    package let capacity: Int
    /// How many unused buffers are kept; more are freed.
    package let keepLimit: Int
    /// The one that is lent next, above all others: a list of their own is faster than an array, and
    /// each request takes half a dozen.
    private var top: ByteBuffer?
    private var unusedCount = 0

    package init(capacity: Int, keepLimit: Int) {
        self.capacity = capacity
        self.keepLimit = keepLimit
    }

    package func take() -> ByteBuffer {
        guard let buffer = top else { return ByteBuffer(capacity: capacity) }
        top = buffer.below
        unusedCount -= 1
        buffer.below = nil
        buffer.isUnused = false
        // Whoever gave it back wrongly and wrote on is not to speak for whoever has it next.
        buffer.removeAll()
        return buffer
    }

    /// Keeps a buffer for reuse; one of another capacity is freed. One that was given back already is
    /// not kept twice: it would be lent to two.
    package func give(_ buffer: ByteBuffer) {
        guard unusedCount < keepLimit, buffer.capacity == capacity, !buffer.isUnused else { return }
        buffer.removeAll()
        buffer.isUnused = true
        buffer.below = top
        top = buffer
        unusedCount += 1
    }
}
