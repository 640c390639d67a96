import Base
import Testing

@testable import Origins

/// URLs of clients' requests.
@Suite struct OriginLocationTests {
    @Test(arguments: [
        ("http://h", "http://h/"), ("HTTP://H:80/A", "http://h/A"),
        ("https://h:443?x=1", "https://h/?x=1"), ("http://h:8080/a#b", "http://h:8080/a"),
        ("http://[::1]:81/", "http://[::1]:81/"),
        // RFC 3986 §5.2.4.
        ("http://h/a/b/c/./../../g", "http://h/a/g"), ("http://h/../a", "http://h/a"),
        ("http://h/a/..", "http://h/"), ("http://h/a/.", "http://h/a/"),
        ("http://h/a/./b/../c?d/../e", "http://h/a/c?d/../e"),
        ("http://h/..a/b.", "http://h/..a/b."),
        ("http://h//a/..//", "http://h///"),
    ])
    func reads(_ text: String, _ url: String) throws {
        #expect(try OriginLocation(text).url == url)
    }

    @Test(arguments: [
        ("ftp://h/", "the URL ftp://h/ begins with neither http:// nor https://"),
        ("/a", "the URL /a begins with neither http:// nor https://"),
        ("http://u:p@h/a", "the URL h has a user in it, who would be shown wherever it is"),
        ("http:///a", "the URL http:///a has no host"),
        ("http://", "the URL http:// has no host"),
        ("http://:80/", "the URL http://:80/ has no host"),
        ("http://h:0/", "the URL http://h:0/ has a port that is no number from 1 to 65535"),
        ("http://h:65536/", "the URL http://h:65536/ has a port that is no number from 1 to 65535"),
        ("http://h:abc/", "the URL http://h:abc/ has a port that is no number from 1 to 65535"),
        (
            "http://[::1]:99999/",
            "the URL http://[::1]:99999/ has a port that is no number from 1 to 65535"
        ),
        ("http://h!/", "the URL http://h!/ has a host that no origin can have"),
        ("http://h/ä", "the URL http://h/ä is not printable ASCII, or too long"),
        // In one word, and without its query: a secret in it must not look like another word.
        ("http://h/a b", "the URL http://h/a%20b is not printable ASCII, or too long"),
        ("http://h/a?b=c d&token=e", "the URL http://h/a?… is not printable ASCII, or too long"),
        ("h/a?token=e", "the URL h/a?… begins with neither http:// nor https://"),
    ])
    func refuses(_ text: String, _ detail: String) {
        let failure = #expect(throws: Failure.self) { try OriginLocation(text) }
        #expect(failure?.code == "url-invalid")
        #expect(failure?.detail == detail)
    }

    @Test func takesSoManyBytes() throws {
        let long = "http://h/" + String(repeating: "a", count: OriginLocation.byteLimit - 9)
        #expect(try OriginLocation(long).url == long)
        #expect(throws: Failure.self) { try OriginLocation(long + "a") }
    }

    /// From `http://h/a/b/c?q` (RFC 3986 §5.4.1).
    @Test(arguments: [
        ("g", "http://h/a/b/g"), ("./g", "http://h/a/b/g"), ("g/", "http://h/a/b/g/"),
        ("/g", "http://h/g"), ("//g", "http://g/"), ("?y", "http://h/a/b/c?y"),
        ("g?y", "http://h/a/b/g?y"), ("#s", "http://h/a/b/c?q"), ("", "http://h/a/b/c?q"),
        (".", "http://h/a/b/"), ("..", "http://h/a/"), ("../g", "http://h/a/g"),
        ("../..", "http://h/"), ("../../../g", "http://h/g"), ("https://o/x", "https://o/x"),
    ])
    func follows(_ reference: String, _ url: String) throws {
        #expect(try OriginLocation("http://h/a/b/c?q").following(reference).url == url)
    }

    @Test func knowsItsOrigin() throws {
        let location = try OriginLocation("https://h/a")
        #expect(try location.isSameOrigin(as: OriginLocation("https://H:443/b")))
        #expect(try !location.isSameOrigin(as: OriginLocation("https://h:444/a")))
        #expect(try !location.isSameOrigin(as: OriginLocation("http://h:443/a")))
    }
}
