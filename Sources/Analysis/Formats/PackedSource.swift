package import Base
internal import HTTPCodecs

/// The bytes of a file, unpacked if they are packed by zlib or gzip.
package struct PackedSource {
    private let input: () throws -> [UInt8]
    private let malformed: (String) -> Failure
    private var decoder: ContentDecoder?
    /// What was read and not unpacked yet.
    private var packed: ArraySlice<UInt8> = []
    private var isBegun = false

    /// - Parameter malformed: makes the error for a compression that is damaged in some way.
    package init(
        _ input: @escaping () throws -> [UInt8], malformed: @escaping (String) -> Failure
    ) {
        self.input = input
        self.malformed = malformed
    }

    /// What a file that begins so begins with when it is unpacked.
    package static func start(of bytes: [UInt8]) -> [UInt8] {
        guard let coding = compression(of: bytes) else { return bytes }
        var plain: [UInt8] = []
        let decoder = ContentDecoder([coding], limit: .recorded)
        let start = Array(bytes.prefix(step))
        decoder.decode(start.span) { piece in
            plain += piece
            return false
        }
        return plain
    }

    /// The next bytes, none at the end.
    package mutating func next() throws -> [UInt8] {
        while true {
            if packed.isEmpty {
                let bytes = isBegun ? try input() : try begin()
                guard decoder != nil else { return bytes }
                packed = bytes[...]
            }
            guard let decoder else { return [] }
            if packed.isEmpty {
                guard decoder.finish() == .complete else {
                    throw malformed("its compression is damaged, or its end is missing")
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
                throw malformed(
                    stop == .limited
                        ? "it unpacks to too much" : "its compression is damaged")
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
        decoder = Self.compression(of: start).map {
            ContentDecoder([$0], limit: .recorded)
        }
        return start
    }

    static func compression(of start: [UInt8]) -> ContentCoding? {
        guard start.count >= 2 else { return nil }
        if start[0] == 0x1F, start[1] == 0x8B { return .gzip }
        // RFC 1950 §2.2.
        let isZlib = start[0] & 0x0F == 8 && (Int(start[0]) << 8 | Int(start[1])) % 31 == 0
        return isZlib ? .deflate : nil
    }

    /// In bytes: deflate makes a megabyte of them at most.
    private static let step = 1024
}
