internal import Base
internal import Contents
internal import HTTPCodecs
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
        if compression(of: start) != nil { return true }
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
        var source = HARSource(input)
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

    fileprivate static func compression(of start: [UInt8]) -> ContentCoding? {
        guard start.count >= 2 else { return nil }
        if start[0] == 0x1F, start[1] == 0x8B { return .gzip }
        // RFC 1950 §2.2.
        let isZlib = start[0] & 0x0F == 8 && (Int(start[0]) << 8 | Int(start[1])) % 31 == 0
        return isZlib ? .deflate : nil
    }

    private static let walked: Set<String> = [
        "", "log", "log.pages", "log.entries", "log._tlsErrors", "log._sallyport",
        "log._sallyport.connections", "log._sallyportMessages",
    ]
}

/// The bytes of a file, unpacked if they are packed.
private struct HARSource {
    private let input: () throws -> [UInt8]
    private var decoder: ContentDecoder?
    /// What was read and not unpacked yet.
    private var packed: ArraySlice<UInt8> = []
    private var isBegun = false

    init(_ input: @escaping () throws -> [UInt8]) {
        self.input = input
    }

    /// The next bytes, none at the end.
    mutating func next() throws -> [UInt8] {
        while true {
            if packed.isEmpty {
                let bytes = isBegun ? try input() : try begin()
                guard decoder != nil else { return bytes }
                packed = bytes[...]
            }
            guard let decoder else { return [] }
            if packed.isEmpty {
                guard decoder.finish() == .complete else {
                    throw HARImporter.malformed(
                        "its compression is damaged, or its end is missing", 0)
                }
                return []
            }
            var plain: [UInt8] = []
            let next = Array(packed.prefix(Self.step))
            decoder.decode(next.span) { piece in
                plain += piece
                return true
            }
            packed = packed.dropFirst(Self.step)
            if !plain.isEmpty { return plain }
            if let stop = decoder.stop {
                throw HARImporter.malformed(
                    stop == .limited
                        ? "it unpacks to too much" : "its compression is damaged", 0)
            }
        }
    }

    private mutating func begin() throws -> [UInt8] {
        isBegun = true
        var start = try input()
        while start.count < 2 {
            let more = try input()
            if more.isEmpty { break }
            start += more
        }
        decoder = HARImporter.compression(of: start).map {
            ContentDecoder([$0], limit: .recorded)
        }
        return start
    }

    /// In bytes: deflate makes a megabyte of them at most.
    private static let step = 1024
}
