internal import Base

/// A reader, and how it is fed with bytes that nobody wrote.
package struct FuzzedReader: Sendable {
    package let name: String
    /// Valid samples, from which mutation starts.
    package let seeds: @Sendable () -> [[UInt8]]
    /// Words of the format, which blind changes would not find.
    package let words: [String]
    /// Of an input, in bytes.
    package let lengthLimit: Int
    /// Whether it must tell the same however the bytes are cut.
    package let isCut: Bool
    private let run: @Sendable ([UInt8], Cut, inout Transcript) -> Void

    package init(
        _ name: String, lengthLimit: Int = 4096, isCut: Bool = true, words: [String] = [],
        seeds: @escaping @Sendable () -> [[UInt8]],
        run: @escaping @Sendable ([UInt8], Cut, inout Transcript) -> Void
    ) {
        self.name = name
        self.seeds = seeds
        self.words = words
        self.lengthLimit = lengthLimit
        self.isCut = isCut
        self.run = run
    }

    /// Two ways of cutting an input that led to two results.
    package struct Difference {
        package let cut: Cut
        /// What was told of the input as a whole, and of the one that was cut.
        package let whole: [String]
        package let pieces: [String]

        /// The first place where they differ, for people.
        package var text: String {
            let count = zip(whole, pieces).prefix { $0 == $1 }.count
            let shown: (String, [String]) -> [String] = { name, lines in
                let rest = lines[count...].prefix(3)
                return ["- \(name):"]
                    + (rest.isEmpty ? ["  (nothing more)"] : rest.map { "  \($0)" })
            }
            let context = whole[max(0, count - 2)..<count].map { "  \($0)" }
            let lines = context + shown("whole", whole) + shown("\(cut)", pieces)
            return lines.joined(separator: "\n")
        }
    }

    /// Reads an input whole, byte by byte and cut in two.
    ///
    /// - Returns: how the results differ; `nil` if they are one.
    package func examine(_ bytes: [UInt8]) -> Difference? {
        let whole = transcript(bytes, .whole, isKept: false).digest
        guard isCut, bytes.count > 1 else { return nil }
        for cut in [Cut.bytes, .at(Self.offset(in: bytes))] {
            guard transcript(bytes, cut, isKept: false).digest != whole else { continue }
            return Difference(
                cut: cut, whole: transcript(bytes, .whole, isKept: true).lines ?? [],
                pieces: transcript(bytes, cut, isKept: true).lines ?? [])
        }
        return nil
    }

    /// What the reader makes of an input.
    package func transcript(_ bytes: [UInt8], _ cut: Cut, isKept: Bool) -> Transcript {
        var transcript = Transcript(isKept: isKept)
        run(bytes, cut, &transcript)
        transcript.finish()
        return transcript
    }

    /// An offset that depends on the input alone, so that a file is all that is needed to see a
    /// difference again.
    private static func offset(in bytes: [UInt8]) -> Int {
        1 + Int(number(of: bytes) % UInt64(bytes.count - 1))
    }

    /// A number that depends on the input alone, for what cannot be done with each.
    static func number(of bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash
    }
}
