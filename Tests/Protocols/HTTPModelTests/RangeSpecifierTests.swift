import HTTPModel
import Testing

struct RangeSpecifierTests {
    @Test func readsSpecifiers() {
        #expect(
            RangeSpecifier.list([UInt8]("bytes=1-2, 3- ,-4".utf8)[...])
                == [.bounded(first: 1, last: 2), .from(3), .suffix(4)])
    }

    @Test func limitsEmptyElements() {
        let commas = String(repeating: ",", count: 100_000)
        #expect(RangeSpecifier.list([UInt8]("bytes=\(commas)0-1".utf8)[...]) == nil)
        #expect(RangeSpecifier.list([UInt8]("bytes=0-1\(commas)".utf8)[...]) == nil)
    }
}
