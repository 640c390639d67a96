import Base
import HTTPModel
import Testing

@testable import HTTPCodecs

@Suite struct RequestTargetTests {
    private static func described(_ target: RequestTarget) -> String {
        switch target {
        case .origin(let path): "origin \(path.text)"
        case .absolute(let scheme, let host, let port, let path, let hasUserinfo):
            "\(scheme) \(host) \(port) \(path.text)\(hasUserinfo ? " userinfo" : "")"
        case .authority(let host, let port): "authority \(host) \(port)"
        case .asterisk: "asterisk"
        }
    }

    static let rows: [(String, String, String)] = [
        ("GET", "/", "origin /"),
        ("GET", "/a?b=c", "origin /a?b=c"),
        ("GET", "//a/b", "origin //a/b"),
        ("GET", "/http://b/", "origin /http://b/"),
        ("OPTIONS", "*", "asterisk"),
        ("OPTIONS", "/a", "origin /a"),
        ("GET", "*", "invalid-target"),
        ("options", "*", "invalid-target"),
        ("OPTIONS", "**", "invalid-target"),
        ("GET", "http://a", "http a 80 /"),
        ("GET", "http://a/", "http a 80 /"),
        ("GET", "HTTP://ExamPle.COM:8080/Path?Q", "http example.com 8080 /Path?Q"),
        ("GET", "https://a", "https a 443 /"),
        ("GET", "https://a:443/x", "https a 443 /x"),
        ("GET", "http://a:/x", "http a 80 /x"),
        ("GET", "http://a?b", "http a 80 /?b"),
        ("GET", "http://a/?b@c:1/", "http a 80 /?b@c:1/"),
        ("OPTIONS", "http://a", "http a 80 *"),
        ("OPTIONS", "http://a/", "http a 80 /"),
        ("OPTIONS", "http://a?b", "http a 80 /?b"),
        ("GET", "http://u@a/", "http a 80 / userinfo"),
        ("GET", "http://u:p%40@a:81/x", "http a 81 /x userinfo"),
        ("GET", "http://@a/", "http a 80 / userinfo"),
        ("GET", "http://a@b@c/", "invalid-target"),
        ("GET", "http://a\\@b/", "invalid-target"),
        ("GET", "http://a#@b/", "invalid-target"),
        ("GET", "http://[::1]:8080/", "http ::1 8080 /"),
        ("GET", "http://[2001:DB8::1]/", "http 2001:db8::1 80 /"),
        ("GET", "http://::1/", "invalid-target"),
        ("GET", "http://[::1/", "invalid-target"),
        ("GET", "http://[::1]x/", "invalid-target"),
        ("GET", "http://[::1%25eth0]/", "invalid-target"),
        ("GET", "http:///x", "invalid-target"),
        ("GET", "http://:80/x", "invalid-target"),
        ("GET", "http://u@/x", "invalid-target"),
        ("GET", "http://a:0/", "invalid-target"),
        ("GET", "http://a:65536/", "invalid-target"),
        ("GET", "http://a:80a/", "invalid-target"),
        ("GET", "http://a:80:80/", "invalid-target"),
        ("GET", "http://a%00b/", "invalid-target"),
        ("GET", "http://a,b/", "invalid-target"),
        ("GET", "http://ä/", "invalid-target"),
        ("GET", "http:/a", "invalid-target"),
        ("GET", "http:a", "invalid-target"),
        ("GET", "a:443", "invalid-target"),
        ("GET", "a", "invalid-target"),
        ("GET", "?a", "invalid-target"),
        ("GET", "://a", "invalid-target"),
        ("GET", "ftp://a/", "unsupported-scheme"),
        ("GET", "ws://a/", "unsupported-scheme"),
        ("CONNECT", "a:443", "authority a 443"),
        ("CONNECT", "A.Example:1", "authority a.example 1"),
        ("CONNECT", "[::1]:65535", "authority ::1 65535"),
        ("CONNECT", "10.0.0.1:8443", "authority 10.0.0.1 8443"),
        ("CONNECT", "a", "invalid-target"),
        ("CONNECT", "a:", "invalid-target"),
        ("CONNECT", ":443", "invalid-target"),
        ("CONNECT", "a:0", "invalid-target"),
        ("CONNECT", "a:99999", "invalid-target"),
        ("CONNECT", "a:-1", "invalid-target"),
        ("CONNECT", "u@a:443", "invalid-target"),
        ("CONNECT", "a:443/", "invalid-target"),
        ("CONNECT", "/", "invalid-target"),
        ("CONNECT", "https://a:443", "invalid-target"),
        ("CONNECT", "*", "invalid-target"),
    ]

    @Test(arguments: rows)
    func reads(method: String, target: String, expected: String) throws {
        let head = try requestHead("\(method) \(target) HTTP/1.0\r\n\r\n")
        do throws(HTTP1Violation) {
            #expect(Self.described(try RequestTarget(head)) == expected)
        } catch {
            #expect(error.code == expected)
        }
    }
}

@Suite struct HostFieldTests {
    @Test(arguments: [
        ("a", "a"), ("A-b.Example.", "a-b.example."), ("a:80", "a 80"), ("a:", "a"),
        ("a:00080", "a 80"), ("_dmarc.a", "_dmarc.a"), ("xn--4ca", "xn--4ca"), ("a~b", "a~b"),
        ("127.0.0.1", "127.0.0.1"), ("0.0.0.0:1", "0.0.0.0 1"), ("1.2.3.com", "1.2.3.com"),
        ("127.0.0.1.", "127.0.0.1."), ("0xg", "0xg"), ("1a", "1a"),
        ("[::]", "::"), ("[::1]:80", "::1 80"), ("[1:2:3:4:5:6:7:8]", "1:2:3:4:5:6:7:8"),
        ("[1::8]", "1::8"), ("[1:2:3:4:5:6:7::]", "1:2:3:4:5:6:7::"),
        ("[::ffff:1.2.3.4]", "::ffff:1.2.3.4"), ("[1:2:3:4:5:6:1.2.3.4]:", "1:2:3:4:5:6:1.2.3.4"),
        ("[FE80::A]", "fe80::a"),
    ])
    func reads(value: String, expected: String) throws {
        let (host, port) = try #require(HostField.parse(Array(value.utf8)[...]))
        #expect((port.map { "\(host) \($0)" } ?? host) == expected)
    }

    @Test(arguments: [
        "", ".", "..", ".a", "a..b", "a..", " a", "a b", "a,b", "a/b", "a@b", "a#b", "a%41", "a;b",
        "a\\b", "a\tb", "ü", "a:b", "a:0", "a:65536", "a:000080", "a:+80", "a: 80", "a:80 ", ":80",
        "::1", "1", "2130706433", "0x7f000001", "0x7f.0.0.0x1", "1.2.3", "1.2.3.4.5", "256.1.1.1",
        "01.2.3.4", "1.2.3.04", "1.2.3.4..", "127.1", "0x", "a.1",
        "[]", "[", "]", "[::1", "::1]", "[::1]a", "[::1]:a", "[::1]:0", "[:::]", "[1::2::3]",
        "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:8:9]", "[1:2:3:4:5:6:7:8::]", "[12345::]", "[g::]",
        "[1.2.3.4]", "[1.2.3.4::]", "[::1.2.3]", "[::1.2.3.4:5]", "[::1%eth0]", "[v1.a]", "[:1]",
        "[1:]", "[a]",
    ])
    func refuses(value: String) {
        #expect(HostField.parse(Array(value.utf8)[...]) == nil)
    }

    @Test func refusesLongNames() {
        #expect(HostField.parse([UInt8](repeating: 0x61, count: 255)[...]) != nil)
        #expect(HostField.parse([UInt8](repeating: 0x61, count: 256)[...]) == nil)
    }

    @Test func readsSlicesThatDoNotStartAtZero() throws {
        let bytes = Array("xx[::1]:80".utf8)
        let (host, port) = try #require(HostField.parse(bytes[2...]))
        #expect(host == "::1")
        #expect(port == 80)
    }
}
