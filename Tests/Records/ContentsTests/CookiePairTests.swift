import Base
import Testing

@testable import Contents

struct CookiePairTests {
    @Test(arguments: [
        ("a=b; c=d", ["a=b", "c=d"]), ("a = b;;c= d ;", ["a=b", "c=d"]), ("a", ["a"]),
        ("=b", ["=b"]), ("a=b=c", ["a=b=c"]), ("=;;", []), ("", []),
    ])
    func readsWhatIsSent(_ field: String, _ pairs: [String]) {
        #expect(CookiePair.sent(Array(field.utf8)[...]).map(text) == pairs)
    }

    @Test(arguments: [
        ("a=b; Path=/; Secure", "a=b", ["Path=/", "Secure"]), ("; Path=/", "", ["Path=/"]),
        ("a", "a", []), ("", "", []),
    ])
    func readsWhatIsSet(_ field: String, _ cookie: String, _ attributes: [String]) {
        let set = CookiePair.set(Array(field.utf8)[...])
        #expect(text(set.cookie) == cookie)
        #expect(set.attributes.map(text) == attributes)
    }

    @Test func readsLists() {
        let head = RecordedHead(Array("HTTP/1.1 200 OK\r\nA: b , ,c\r\na:\r\nA: d\r\n\r\n".utf8))
        #expect(head.elements(named: "a").map(\.text) == ["b", "c", "d"])
    }

    private func text(_ pair: CookiePair) -> String {
        pair.name.text + (pair.hasValue ? "=" : "") + pair.value.text
    }
}
