internal import Base
internal import HTTPServer

/// Streams another source with one bit turned.
final class FlippedSource: ResponseBodySource {
    private let source: any ResponseBodySource
    private let place: UInt64
    private let bit: Int
    private var offset: UInt64 = 0
    private let plain = ByteBuffer(capacity: 32_768)

    init(_ source: any ResponseBodySource, at place: UInt64, bit: Int) {
        self.source = source
        self.place = place
        self.bit = bit
    }

    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        guard place >= offset || !plain.isEmpty else {
            return try await source.read(into: buffer)
        }
        if plain.isEmpty, try await source.read(into: plain) == 0 { return 0 }
        let count = min(plain.count, buffer.room)
        var bytes = plain.copy(0..<count)
        if (offset..<offset + UInt64(count)).contains(place) {
            bytes[Int(place - offset)] ^= 1 << UInt8(bit)
        }
        plain.consume(count)
        // What is behind the bit goes straight on, once nothing of it waits.
        offset += UInt64(count)
        buffer.append(bytes)
        return count
    }

    var trailers: [ResponseField] { source.trailers }
}
