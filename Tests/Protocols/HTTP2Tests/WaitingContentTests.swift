import Base
import Testing

@testable import HTTP2

/// Content between its frames and its reader.
struct WaitingContentTests {
    /// Frames of a byte, of some, and of many, read in steps of other sizes.
    @Test(arguments: [1, 7, 511, 4096, 70_000])
    func comesOutAsItCame(room: Int) {
        let kinds = [0, 1, 9, 511, 512, 1024, 16_384]
        // Each of them behind each.
        let sizes = kinds.flatMap { first in kinds.flatMap { [first, $0, 1] } }
        var (waiting, sent, read) = (WaitingContent(), [UInt8](), [UInt8]())
        let buffer = ByteBuffer(capacity: room)
        for (number, size) in sizes.enumerated() {
            let frame = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }
            waiting.append(frame)
            sent += frame
            guard number % 3 == 0 else { continue }
            #expect(waiting.read(into: buffer) == buffer.count)
            read += buffer.copy
            buffer.removeAll()
        }
        #expect(waiting.count == sent.count - read.count)
        while !waiting.isEmpty {
            _ = waiting.read(into: buffer)
            read += buffer.copy
            buffer.removeAll()
        }
        #expect(read == sent)
    }

    @Test func isThrownAwayWhole() {
        var waiting = WaitingContent()
        waiting.append([1, 2, 3])
        waiting.append([UInt8](repeating: 4, count: 1000))
        #expect(waiting.removeAll() == 1003)
        #expect(waiting.isEmpty)
        #expect(waiting.removeAll() == 0)
    }
}
