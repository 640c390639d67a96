import Base
import Contents
import Negotiation
import Sockets
import Testing

@testable import Origins

/// Which proxy leads to a host.
struct ProxySettingsTests {
    typealias Row = (variables: [String: String], url: String, way: String)

    static let environments: [Row] = [
        ([:], "https://a.test", "direct"),
        (["https_proxy": "http://p:1"], "https://a.test", "http p 1"),
        (["https_proxy": "http://p:1"], "http://a.test", "direct"),
        (["HTTPS_PROXY": "p:1"], "https://a.test", "http p 1"),
        (["HTTPS_PROXY": "q:1", "https_proxy": "p:1"], "https://a.test", "http p 1"),
        (["http_proxy": "p"], "http://a.test", "http p 1080"),
        // A request of a client could have set it.
        (["HTTP_PROXY": "http://evil:1"], "http://a.test", "direct"),
        (["all_proxy": "socks5h://p:9"], "http://a.test", "socks5 p 9"),
        (["ALL_PROXY": "socks5://[::1]:9", "http_proxy": "p:1"], "https://a.test", "socks5 ::1 9"),
        (["https_proxy": ""], "https://a.test", "direct"),
        (["https_proxy": "http://u:p%40w@p:1/"], "https://a.test", "http p 1 as u:p@w"),
        (["https_proxy": "p:1", "no_proxy": "a.test"], "https://a.test", "direct"),
        (["https_proxy": "p:1", "NO_PROXY": "b.test, .a.test"], "https://w.a.test", "direct"),
        (["https_proxy": "p:1", "no_proxy": "*"], "https://a.test", "direct"),
    ]

    @Test(arguments: environments)
    func readsEnvironments(_ row: Row) throws {
        let settings = ProxySettings.environment(try ProxyEnvironment(row.variables))
        #expect(try Self.way(settings, row.url) == row.way)
    }

    @Test(arguments: [
        "ftp://p:1", "https://p:1", "http://p:0", "http://p:70000", "http://a b:1", "://",
    ])
    func refusesWhatIsNoProxy(_ value: String) {
        let failure = #expect(throws: Failure.self) {
            try ProxyEnvironment(["https_proxy": value])
        }
        #expect(failure?.code == "proxy-variable-invalid")
        // It may hold a password.
        #expect(failure?.detail.contains(value) == false)
    }

    static let exceptions: [(list: String, host: String, port: UInt16, isIncluded: Bool)] = [
        ("a.test", "a.test", 443, true),
        ("a.test", "A.Test.", 443, true),
        ("a.test", "w.a.test", 443, true),
        ("a.test", "ba.test", 443, false),
        (".a.test", "w.a.test", 443, true),
        (".a.test", "a.test", 443, false),
        ("*.a.test", "w.a.test", 443, true),
        ("*.a.test", "a.test", 443, false),
        ("a.test:8443", "a.test", 8443, true),
        ("a.test:8443", "a.test", 443, false),
        ("10.0.0.0/8", "10.9.8.7", 443, true),
        ("10.0.0.0/8", "11.0.0.1", 443, false),
        ("192.168.4.0/22", "192.168.7.255", 443, true),
        ("192.168.4.0/22", "192.168.8.0", 443, false),
        ("10.0.0.0/0", "1.2.3.4", 443, true),
        ("10.0.0.0/33", "10.0.0.0", 443, false),
        ("10.0.0.0/8", "10.0.0.1.test", 443, false),
        ("127.0.0.1", "127.0.0.1", 80, true),
        ("127.0.0.1:80", "127.0.0.1", 81, false),
        ("::1", "::1", 80, true),
        ("[::1]:80", "::1", 80, true),
        ("fd00::/8", "fd12::1", 80, true),
        ("fd00::/8", "fe80::1", 80, false),
        ("*", "anything", 1, true),
        ("a.test b.test", "b.test", 1, true),
        ("  ,, ,", "a.test", 1, false),
        (".", "a.test", 1, false),
    ]

    @Test(arguments: exceptions)
    func knowsExceptions(_ row: (list: String, host: String, port: UInt16, isIncluded: Bool)) {
        #expect(ProxyExceptions(row.list).include(row.host, row.port) == row.isIncluded)
    }

    /// What goes to loopback by a proxy elsewhere leaves the machine.
    @Test(arguments: [
        ("http://127.0.0.1:8080", "127.0.0.1", true), ("http://p.test:1", "127.0.0.1", false),
        ("http://p.test:1", "x.localhost", false), ("", "localhost", true), ("", "a.test", false),
    ])
    func knowsWhatStaysHere(_ proxy: String, _ host: String, _ staysHere: Bool) throws {
        var configuration = OriginConfiguration()
        configuration.proxies = .environment(try ProxyEnvironment(["all_proxy": proxy]))
        let connector = OriginConnector(
            configuration, on: try EventLoop(index: 0), resolver: Resolver())
        let target = OriginTarget(isSecure: false, host: host, port: 80)
        #expect(connector.staysHere(target) == staysHere)
    }

    static let answers: [(answer: String, ways: String?)] = [
        ("DIRECT", "direct"),
        ("PROXY p:1", "http p 1"),
        ("proxy p:1;direct", "http p 1, direct"),
        ("PROXY p:1; SOCKS q:2 ; SOCKS5 r; DIRECT", "http p 1, socks5 q 2, socks5 r 1080, direct"),
        ("SOCKS4 p:1; HTTPS p:2; HTTP p:3", "http p 3"),
        ("HTTPS p:2", nil),
        ("TELEPORT p:1", nil),
        ("", nil),
        ("PROXY p:0", nil),
    ]

    @Test(arguments: answers)
    func readsAnswersOfScripts(_ row: (answer: String, ways: String?)) {
        do throws(ProxyScriptViolation) {
            #expect(
                try ProxySettings.ways(row.answer).map(Self.text).joined(separator: ", ")
                    == row.ways)
        } catch {
            #expect(row.ways == nil, "\(error.detail)")
        }
    }

    private static func way(_ settings: ProxySettings, _ url: String) throws -> String {
        let isSecure = url.hasPrefix("https:")
        let host = String(url.split(separator: "/")[1])
        return try settings.ways(to: host, isSecure ? 443 : 80, isSecure: isSecure)
            .map(text).joined(separator: ", ")
    }

    private static func text(_ way: OriginWay) -> String {
        guard case .upstream(let proxy) = way else { return "direct" }
        let login = proxy.credential.map { " as \($0.basicBytes.text)" } ?? ""
        return "\(proxy.scheme) \(proxy.host) \(proxy.port)\(login)"
    }
}
