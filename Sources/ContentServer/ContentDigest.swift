internal import Base
internal import HTTPServer
internal import TLS

/// Digests all of `source` with SHA-256, letting other connections run in between.
func digest(
    of source: any ResponseBodySource
) async throws(ResponseInterruption) -> [UInt8] {
    let hash = RunningSHA256()
    let buffer = ByteBuffer(capacity: 65_536)
    var sinceYield = 0
    while true {
        let count = try await source.read(into: buffer)
        guard count > 0 else { return hash.finish() }
        unsafe buffer.withUnsafeReadable { unsafe hash.update($0) }
        buffer.removeAll()
        sinceYield += count
        if sinceYield >= bytesBetweenYields {
            sinceYield = 0
            await Task.yield()
        }
    }
}

/// About a millisecond of digesting: as long as other connections may wait for it.
private let bytesBetweenYields = 1 << 20

/// Streams the SHA-256 of another source, as a line of hexadecimal.
final class DigestSource: ResponseBodySource {
    /// In bytes: 64 digits and a line feed.
    static let length: UInt64 = 65
    private let content: any ResponseBodySource
    private var line: [UInt8] = []
    private var offset = 0

    init(_ content: any ResponseBodySource) {
        self.content = content
    }

    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        if line.isEmpty { line = [UInt8]((try await digest(of: content).hex + "\n").utf8) }
        let count = buffer.appendFitting(line, from: offset)
        offset += count
        return count
    }
}
