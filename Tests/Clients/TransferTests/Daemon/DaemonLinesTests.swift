import Base
import Testing

@testable import Transfer

struct DaemonLinesTests {
    private static let text = [UInt8]("first\n\nthird line\nlast, without an end".utf8)
    private static let lines = ["first", "", "third line"]

    @Test(arguments: 0...text.count)
    func areTheSameWhereverTheyAreCut(_ cut: Int) throws {
        var lines = DaemonLines()
        var read: [String] = []
        for part in [Self.text[..<cut], Self.text[cut...]] {
            lines.append(Array(part))
            while let line = try lines.next() { read.append(line.text) }
        }
        #expect(read == Self.lines)
        #expect(!lines.isEmpty)
    }

    @Test(arguments: [0, 1, 2])
    func haveABound(_ excess: Int) throws {
        var lines = DaemonLines()
        let long = [UInt8](repeating: 0x61, count: DaemonLines.lineLimit + excess - 1)
        lines.append(long)
        if excess == 2 {
            #expect(throws: Failure.self) { try lines.next() }
            return
        }
        #expect(try lines.next() == nil)
        lines.append([0x61, 0x0A])
        if excess == 0 {
            #expect(try lines.next()?.count == DaemonLines.lineLimit)
        } else {
            #expect(throws: Failure.self) { try lines.next() }
        }
    }

    @Test func manyShortOnesTakeNoTime() throws {
        var lines = DaemonLines()
        lines.append([UInt8](repeating: 0x0A, count: 72 << 10))
        var count = 0
        while try lines.next() != nil { count += 1 }
        #expect(count == 72 << 10)
        #expect(lines.isEmpty)
    }
}
