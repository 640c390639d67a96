import Base
import Testing

@testable import Contents

struct RecordedURLTests {
    /// Scheme, userinfo, authority, path and query.
    @Test(arguments: [
        ("https://u:p@h:1/a/b?c=d#e", ["https", "u:p", "h:1", "/a/b", "c=d"]),
        ("HTTP://h", ["HTTP", "", "h", "", ""]), ("http://h?q", ["http", "", "h", "", "q"]),
        ("http://h#f?x", ["http", "", "h", "", ""]), ("/a?b?c", ["", "", "", "/a", "b?c"]),
        ("/a://b", ["", "", "", "/a://b", ""]), ("*", ["", "", "", "*", ""]),
        ("h:443", ["", "", "h:443", "", ""]), ("?q", ["", "", "", "", "q"]),
        ("http://a@b@h/", ["http", "a@b", "h", "/", ""]), ("", ["", "", "", "", ""]),
        ("://h/a", ["", "", "://h/a", "", ""]), ("http://", ["http", "", "", "", ""]),
        ("coap+tcp://h/x", ["coap+tcp", "", "h", "/x", ""]),
    ])
    func takesApart(_ text: String, _ pieces: [String]) {
        let bytes = Array(text.utf8)
        let url = RecordedURL(bytes)
        let found = [url.scheme, url.userinfo, url.authority, url.path, url.query]
        #expect(found.map(\.text) == pieces)
        for piece in found + [url.target] { #expect(Array(piece) == Array(bytes[piece.indices])) }
        for end in bytes.indices { _ = RecordedURL(bytes[..<end]) }
    }

    @Test func findsParameters() {
        let url = RecordedURL(Array("/a;x=1;y/b;z=%32?q=a+b&&%71&r==#f".utf8))
        #expect(url.pathParameters.map(\.name.text) == ["x", "y", "z"])
        #expect(url.pathParameters.map(\.decoded.text) == ["1", "", "2"])
        #expect(url.parameters.map(\.name.text) == ["q", "q", "r"])
        #expect(url.parameters.map(\.value.text) == ["a+b", "", "="])
        #expect(url.parameters[0].decoded.text == "a b")
        #expect(Parameter.read(Array("a;b;c".utf8)[...], separator: 0x3B, limit: 2).count == 2)
    }
}
