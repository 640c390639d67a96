package import Base

/// Collects lines and writes many at once.
package struct LineWriter {
    private let stream: OutputStream
    private var held: [UInt8] = []

    package init(_ stream: OutputStream) {
        self.stream = stream
    }

    package mutating func write(_ line: some Collection<UInt8>) throws(Failure) {
        held += line
        held.append(UInt8(ascii: "\n"))
        if held.count >= Self.byteLimit { try flush() }
    }

    package mutating func write(_ line: String) throws(Failure) {
        try write(line.utf8)
    }

    // MARK: A line in pieces

    /// Holds a piece, however much is held: `endLine` looks at the limit.
    mutating func append(_ piece: some Collection<UInt8>) { held += piece }

    mutating func append(_ piece: Span<UInt8>) {
        unsafe piece.withUnsafeBufferPointer { unsafe held.append(contentsOf: $0) }
    }

    mutating func append(spaces count: Int) {
        for _ in 0..<count { held.append(UInt8(ascii: " ")) }
    }

    mutating func endLine() throws(Failure) { try write([]) }

    package mutating func flush() throws(Failure) {
        try stream.write(held)
        held.removeAll(keepingCapacity: true)
    }

    /// One write system call a 32 KB is cheap, and less is not felt as a delay.
    private static let byteLimit = 32 * 1024
}
