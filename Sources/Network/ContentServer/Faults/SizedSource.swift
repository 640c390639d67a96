internal import Base
internal import HTTPServer

/// Streams exactly so many bytes: another source's first ones, with zeros behind its end.
final class SizedSource: ResponseBodySource {
    private let source: any ResponseBodySource
    private let held = ByteBuffer(capacity: 32_768)
    private var rest: UInt64

    init(_ source: any ResponseBodySource, length: UInt64) {
        self.source = source
        rest = length
    }

    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        guard rest > 0 else { return 0 }
        let held = held
        if held.isEmpty, try await source.read(into: held) == 0 {
            held.append([UInt8](repeating: 0, count: Int(min(rest, 4096))))
        }
        let count = Int(min(rest, UInt64(min(held.count, buffer.room))))
        buffer.append(held.readable.extracting(..<count))
        held.consume(count)
        rest -= UInt64(count)
        return count
    }
}
