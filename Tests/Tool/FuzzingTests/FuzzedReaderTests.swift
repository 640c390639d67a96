import Testing

@testable import Fuzzing

/// What Scripts/fuzz does for minutes, for a moment: each reader takes its seeds and some changes
/// of them whole, byte by byte and cut in two, and tells the same.
@Suite struct FuzzedReaderTests {
    private static let executions = 200

    @Test(arguments: FuzzedReader.all.map(\.name))
    func seedsAndTheirChangesAreReadAlike(name: String) throws {
        let reader = try #require(FuzzedReader.all.first { $0.name == name })
        let seeds = reader.seeds()
        #expect(!seeds.isEmpty)
        var mutator = Mutator(seed: 1, words: reader.words, lengthLimit: reader.lengthLimit)
        let inputs = seeds + (0..<Self.executions).map { _ in mutator.next(of: seeds) }
        for input in inputs {
            let difference = reader.examine(input)
            #expect(difference == nil, "\(input): \(difference?.text ?? "")")
        }
    }

    /// A seed that is refused at once would leave nothing to change.
    @Test func seedsAreUnderstood() throws {
        for name in ["http1-request", "chunks", "client-hello", "quic-frames", "har", "pcap"] {
            let reader = try #require(FuzzedReader.all.first { $0.name == name })
            let first = try #require(reader.seeds().first)
            let lines = reader.transcript(first, .whole, isKept: true).lines ?? []
            #expect(!lines.contains { $0.contains("iolation") }, "\(name): \(lines)")
        }
    }

    @Test func namesAreUnique() {
        let names = FuzzedReader.all.map(\.name)
        #expect(Set(names).count == names.count)
    }
}

@Suite struct MutatorTests {
    /// A crash is seen again by its seed.
    @Test func theSeedDecides() {
        let corpus = [Array("GET / HTTP/1.1\r\n\r\n".utf8), [0, 1, 2, 3]]
        let run: (UInt64) -> [[UInt8]] = { seed in
            var mutator = Mutator(seed: seed, words: ["Host"], lengthLimit: 64)
            return (0..<500).map { _ in mutator.next(of: corpus) }
        }
        #expect(run(1) == run(1))
        #expect(run(1) != run(2))
        #expect(run(3).allSatisfy { $0.count <= 64 })
    }
}

@Suite struct CutTests {
    @Test(arguments: [
        (Cut.whole, [2..<6]), (.bytes, [2..<3, 3..<4, 4..<5, 5..<6]), (.at(4), [2..<4, 4..<6]),
        (.at(0), [2..<6]), (.at(9), [2..<6]),
    ])
    func piecesCoverTheRange(cut: Cut, expected: [Range<Int>]) {
        var pieces: [Range<Int>] = []
        cut.pieces(of: 2..<6) { piece in
            pieces.append(piece)
            return true
        }
        #expect(pieces == expected)
    }
}

/// An oracle that notices nothing proves nothing.
@Suite struct OracleTests {
    private static func reader(
        _ run: @escaping @Sendable ([UInt8], Cut, inout Transcript) -> Void
    ) -> FuzzedReader {
        FuzzedReader("test", seeds: { [] }, run: run)
    }

    @Test func aResultThatDependsOnTheReadsIsSeen() throws {
        let reader = Self.reader { bytes, cut, transcript in
            var count = 0
            cut.pieces(of: 0..<bytes.count) { _ in
                count += 1
                return true
            }
            transcript.note("pieces", count)
        }
        let difference = try #require(reader.examine([1, 2, 3]))
        #expect(difference.text.contains("pieces 1"))
        #expect(difference.text.contains("pieces 3"))
    }

    @Test func contentInPiecesIsTheSame() {
        let reader = Self.reader { bytes, cut, transcript in
            cut.pieces(of: 0..<bytes.count) { piece in
                transcript.append(bytes.span.extracting(piece))
                return true
            }
            transcript.note("end")
        }
        #expect(reader.examine(Array("content".utf8)) == nil)
    }
}
