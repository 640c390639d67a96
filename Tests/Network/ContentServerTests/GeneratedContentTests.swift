import Base
import ContentServer
import HTTPServer
import Testing

struct GeneratedContentTests {
    /// Outputs of the generator as others publish them.
    @Test func followsSplitMix64() {
        let zero = GeneratedContent(seed: 0)
        #expect(zero.word(0) == 0xE220_A839_7B1D_CDAF)
        #expect(zero.word(1) == 0x6E78_9E6A_A1B9_65F4)
        let known = GeneratedContent(seed: 1_234_567)
        #expect(
            (0..<5).map(known.word) == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
            ])
    }

    @Test func putsTheLowestByteFirst() {
        #expect(Self.bytes(seed: 0, 0..<10).hex == "afcd1d7b39a820e2f465")
    }

    /// Any slice equals the same slice of a sequential read.
    @Test(arguments: [0, 1, 7, UInt64.max])
    func hasRandomAccess(_ seed: UInt64) {
        let all = Self.bytes(seed: seed, 0..<64)
        for start in 0...40 {
            for end in start...64 {
                #expect(
                    Self.bytes(seed: seed, UInt64(start)..<UInt64(end))
                        == [UInt8](all[start..<end]))
            }
        }
    }

    @Test func reachesTheFarEnd() {
        let top = UInt64(Int64.max)
        let end = Self.bytes(seed: 9, top - 16..<top)
        let word = GeneratedContent(seed: 9).word((top - 16) / 8 + 1)
        // 2^63-17 is byte 7 of its word, so the next whole word starts one byte later.
        #expect((top - 16) % 8 == 7)
        let bytes: [UInt8] = (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
        #expect([UInt8](end[1..<9]) == bytes)
    }

    @Test(arguments: [1, 3, 8, 13, 100, 4096])
    func streamsTheSameBytes(room: Int) async throws {
        let asset = GeneratedAsset(seed: 5, size: 1000)
        let response = asset.representation().response(to: try request("GET", "/"))
        #expect(try await response.content(room: room) == Self.bytes(seed: 5, 0..<1000))
    }

    @Test(arguments: [
        ("0", 0), ("1", 1), ("1k", 1024), ("10M", 10 << 20), ("20g", 20 << 30), ("2t", 2 << 40),
        ("9223372036854775807", UInt64(Int64.max)),
    ])
    func readsSizes(_ text: String, _ size: UInt64) {
        #expect(
            GeneratedAsset(seed: [0x31], size: [UInt8](text.utf8))
                == GeneratedAsset(seed: 1, size: size))
    }

    @Test(arguments: [
        "", "k", "-1", "1kb", "1.5k", "0x10", " 1", "9223372036854775808", "8388608t",
        "18446744073709551616", "99999999999999999999g",
    ])
    func refusesSizes(_ text: String) {
        #expect(GeneratedAsset(seed: [0x31], size: [UInt8](text.utf8)) == nil)
    }

    static func bytes(seed: UInt64, _ range: Range<UInt64>) -> [UInt8] {
        let count = Int(range.upperBound - range.lowerBound)
        let buffer = ByteBuffer(capacity: max(1, count))
        GeneratedContent(seed: seed).append(to: buffer, offset: range.lowerBound, count: count)
        return buffer.copy
    }
}
