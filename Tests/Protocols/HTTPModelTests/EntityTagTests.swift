import Base
import HTTPModel
import Testing

struct EntityTagTests {
    @Test(arguments: [
        ("\"xyzzy\"", "xyzzy", false), ("W/\"xyzzy\"", "xyzzy", true), ("\"\"", "", false),
        ("W/\"\"", "", true), ("\"a,b\"", "a,b", false), ("\"!#~\"", "!#~", false),
        ("\"W/\"", "W/", false), ("\"\\\"", "\\", false),
    ])
    func reads(_ text: String, _ opaque: String, _ isWeak: Bool) throws {
        let tag = try #require(EntityTag([UInt8](text.utf8)[...]))
        #expect(tag == EntityTag(opaque, isWeak: isWeak))
        #expect(tag.text == text)
    }

    @Test func readsBytesAboveASCII() {
        #expect(EntityTag([0x22, 0xC3, 0xBC, 0x22])?.opaque == [0xC3, 0xBC])
    }

    @Test(arguments: [
        "", "xyzzy", "\"", "\"xyzzy", "xyzzy\"", "w/\"xyzzy\"", "W/xyzzy", "W\"xyzzy\"",
        "\"a b\"", "\"a\"b\"", "\"a\" ", "\"a\"\"b\"", "\"\u{7F}\"", "*", "W/",
    ])
    func refuses(_ text: String) {
        #expect(EntityTag([UInt8](text.utf8)[...]) == nil)
    }

    /// The table of RFC 9110 §8.8.3.2.
    @Test(arguments: [
        ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false),
        ("W/\"1\"", "\"1\"", false, true), ("\"1\"", "\"1\"", true, true),
    ])
    func compares(_ left: String, _ right: String, _ strongly: Bool, _ weakly: Bool) throws {
        let left = try #require(EntityTag([UInt8](left.utf8)[...]))
        let right = try #require(EntityTag([UInt8](right.utf8)[...]))
        #expect(left.stronglyEquals(right) == strongly)
        #expect(right.stronglyEquals(left) == strongly)
        #expect(left.weaklyEquals(right) == weakly)
    }

    @Test(arguments: [
        (["*"], EntityTagCondition.any), ([" * "], .any),
        (["\"a\""], .tags([EntityTag("a")])),
        (
            ["\"a\", W/\"b\" ,,\"c,d\""],
            .tags([EntityTag("a"), EntityTag("b", isWeak: true), EntityTag("c,d")])
        ),
        (["\"a\"", "\"b\""], .tags([EntityTag("a"), EntityTag("b")])),
        (["\"a\", *"], .tags([])), (["\"a\" \"b\""], .tags([])), (["a"], .tags([])),
        ([""], .tags([])), ([","], .tags([])), (["\"a\", b"], .tags([])),
    ])
    func readsConditions(_ lines: [String], _ expected: EntityTagCondition) {
        #expect(EntityTagCondition(lines.map { [UInt8]($0.utf8)[...] }) == expected)
    }

    @Test func limitsLists() {
        let list = Array(repeating: "\"a\"", count: EntityTagCondition.limit)
        let fits = [UInt8](list.joined(separator: ",").utf8)
        guard case .tags(let tags) = EntityTagCondition([fits[...]]) else { return }
        #expect(tags.count == EntityTagCondition.limit)
        #expect(EntityTagCondition([(fits + [UInt8](",\"a\"".utf8))[...]]) == .tags([]))
    }
}
