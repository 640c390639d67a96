internal import Base
internal import Contents
internal import Recording
internal import Traffic

/// Reads HAR 1.2 as browsers and proxies write it, and our own exports without loss; also
/// compressed by zlib (`.zhar`) or gzip.
///
/// It holds one entry at a time.
package struct HARImporter: CaptureImporter {
    /// In bytes: a longer string, which is most of a content, is left out, since an entry is held
    /// whole.
    package var stringByteLimit = 256 << 20
    /// How many values one entry may hold; those behind are left out. A value costs about 50 bytes.
    package var nodeLimit = 1_000_000

    package init() {}

    /// Whether a file begins as a HAR may, compressed or not.
    package static func recognizes(_ start: [UInt8]) -> Bool {
        if PackedSource.compression(of: start) != nil { return true }
        let text = start.starts(with: [0xEF, 0xBB, 0xBF]) ? start.dropFirst(3) : start[...]
        return text.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "{")
    }

    /// Errors: `har-malformed`, `har-version`; those of `input`.
    package func read(
        _ input: @escaping () throws -> [UInt8], into writer: ImportWriter
    ) async throws {
        var items = JSONItemReader(
            walking: Self.walked, stringByteLimit: stringByteLimit, nodeLimit: nodeLimit)
        var machine = HARImportMachine(writer)
        var source = PackedSource(input) { Self.malformed($0, 0) }
        defer { machine.finish() }
        do {
            while true {
                let bytes = try source.next()
                try writer.checkpoint()
                items.append(bytes)
                if bytes.isEmpty { items.finish() }
                while let item = try items.next() {
                    try machine.take(item)
                    await writer.recorder.waitForRoom()
                }
                if bytes.isEmpty { break }
            }
        } catch let violation as JSONViolation {
            throw Self.malformed(
                "\(violation.kind.rawValue), at byte \(violation.offset)", machine.entryCount)
        }
        if !machine.hasLog { throw Self.malformed("it has no log", 0) }
    }

    static func malformed(_ what: String, _ entryCount: Int64) -> Failure {
        Failure(
            "har-malformed", party: .tool, "the file is no whole HAR: \(what)",
            hint: entryCount > 0 ? "the \(entryCount) entries before it were imported" : nil)
    }

    private static let walked: Set<String> = [
        "", "log", "log.pages", "log.entries", "log._tlsErrors", "log._sallyport",
        "log._sallyport.connections", "log._sallyportMessages",
    ]
}
