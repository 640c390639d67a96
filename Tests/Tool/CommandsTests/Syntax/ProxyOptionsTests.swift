import Base
import CommandSyntax
import Foundation
import Negotiation
import Origins
import Proxy
import Testing

@testable import Commands
@testable import Runs

/// What becomes of the options of a proxy.
struct ProxyOptionsTests {
    private func mode(_ text: String) throws -> PortMode {
        try ValueSyntax<PortMode>.portMode.read(text)
    }

    private func withFile(
        _ content: String, _ body: (_ path: String) throws -> Void
    ) throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("sallyport-options-\(UUID().uuidString)")
        try Data(content.utf8).write(to: url)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: url) } }
        try body(url.path)
    }

    private func failure(of options: ProxyOptions) -> Failure? {
        do throws(Failure) {
            _ = try options.plan()
            return nil
        } catch {
            return error
        }
    }

    // MARK: Ways in

    static let modes: [(text: String, mode: ProxyPlan.Mode, isTransparentSocket: Bool)] = [
        ("explicit", .explicit, false), ("transparent", .transparent, false),
        ("tproxy", .transparent, true),
        ("reverse:https://api.test", .reverse(.init(.https, host: "api.test", port: 443)), false),
        ("reverse:http://API.test/", .reverse(.init(.http, host: "api.test", port: 80)), false),
        ("reverse:tcp://db.test:5432", .reverse(.init(.tcp, host: "db.test", port: 5432)), false),
        ("reverse:https://[::1]:8443", .reverse(.init(.https, host: "::1", port: 8443)), false),
        ("reverse:https://[::1]", .reverse(.init(.https, host: "::1", port: 443)), false),
    ]

    @Test(arguments: modes, ["", "@127.0.0.1:0", "@[::1]:8443"])
    func readsModes(
        _ row: (text: String, mode: ProxyPlan.Mode, isTransparentSocket: Bool), _ place: String
    ) throws {
        let read = try mode(row.text + place)
        #expect(read.mode == row.mode)
        #expect(read.isTransparentSocket == row.isTransparentSocket)
        #expect(read.listen == (place.isEmpty ? nil : HostPort(String(place.dropFirst()))))
    }

    static let refusedModes = [
        "", "sideways", "EXPLICIT", "explicit@", "explicit@8080", "explicit@host", "@127.0.0.1:1",
        "reverse:", "reverse:https://", "reverse:https:///", "reverse:tcp://db.test",
        "reverse:ftp://a.test", "reverse:https://a.test:0", "reverse:https://a.test:99999",
        "reverse:https://a.test/path", "reverse:https://user@a.test", "transparent:443",
    ]

    @Test(arguments: refusedModes)
    func refusesModes(_ text: String) {
        #expect(throws: UsageFailure.self) { try mode(text) }
    }

    @Test func onlyOneModeIsAtTheCommonPlace() throws {
        var options = ProxyOptions()
        options.modes = try ["explicit", "transparent@127.0.0.1:8443"].map(mode)
        #expect(failure(of: options) == nil)
        #expect(try options.plan().wiring.ports.map(\.mode) == [.explicit, .transparent])
        options.modes = try ["explicit", "transparent"].map(mode)
        #expect(failure(of: options)?.code == "bad-address")
    }

    @Test func placesAreAddresses() throws {
        var options = ProxyOptions()
        options.modes = [try mode("transparent@proxy.example:8443")]
        #expect(failure(of: options)?.code == "bad-address")
    }

    // MARK: Passwords

    static let files: [(content: String, count: Int?)] = [
        ("jane:s3cret\n", 1), ("jane:s3cret", 1), ("jane:s3cret\r\njoe:\r\n", 2),
        ("\n\njane:a:b:c\n\n", 1), ("", nil), ("\n", nil), ("jane", nil), (":s3cret", nil),
        ("jane:s3cret\nnobody\n", nil), (String(repeating: "a", count: 256) + ":x", nil),
        ("x:" + String(repeating: "a", count: 256), nil),
        ("x:" + String(repeating: "a", count: 255), 1),
    ]

    @Test(arguments: files)
    func readsPasswords(_ row: (content: String, count: Int?)) throws {
        try withFile(row.content) { path in
            var options = ProxyOptions()
            options.credentials = path
            let found = failure(of: options)
            #expect(found?.code == (row.count == nil ? "bad-credentials" : nil))
            #expect(found?.detail.contains("s3cret") != true)
            if let count = row.count {
                let plan = try options.plan()
                #expect(plan.wiring.ports[0].credentials?.count == count)
            }
            options.credentials = nil
            options.upstreams = [UpstreamProxy(.http, host: "a.test", port: 1)]
            options.upstreamCredentials = [.init(place: nil, path: path)]
            #expect(failure(of: options)?.code == found?.code)
        }
    }

    @Test func missingFilesAreTold() {
        var options = ProxyOptions()
        options.credentials = "no-such-file"
        #expect(failure(of: options)?.code == "file-unreadable")
        options.credentials = nil
        options.upstreams = [UpstreamProxy(.http, host: "a.test", port: 1)]
        options.upstreamCredentials = [.init(place: nil, path: "no-such-file")]
        #expect(failure(of: options)?.code == "file-unreadable")
    }

    @Test func passwordGoesToItsUpstreamAlone() throws {
        try withFile("jane:s3cret\njoe:other\n") { path in
            var options = ProxyOptions()
            options.upstreams = try ["http://a.test:1", "*.b.test=socks5://[::1]:2/"].map {
                try ValueSyntax<UpstreamProxy>.upstream.read($0)
            }
            options.upstreamCredentials = try ["[::1]:2=\(path)"].map {
                try ValueSyntax<UpstreamCredentialFile>.upstreamCredential.read($0)
            }
            let upstreams = try options.policy().upstreams
            #expect(upstreams.map(\.host) == ["a.test", "::1"])
            #expect(upstreams.map(\.port) == [1, 2])
            #expect(upstreams.map(\.scheme) == [.http, .socks5])
            #expect(upstreams.map(\.hosts) == [[], [HostPattern("*.b.test")].compactMap { $0 }])
            let passwords = upstreams.map { $0.credential?.basicBytes.text }
            #expect(passwords == [nil, "jane:s3cret"])
            // Whose it is has to be said.
            for given in [path, "c.test:1=\(path)", "a.test:2=\(path)"] {
                options.upstreamCredentials = [
                    try ValueSyntax<UpstreamCredentialFile>.upstreamCredential.read(given)
                ]
                #expect(failure(of: options)?.code == "bad-credentials", "\(given)")
            }
        }
    }

    /// One proxy may be named for several hosts.
    @Test func passwordGoesToTheOnlyUpstream() throws {
        try withFile("jane:s3cret\n") { path in
            var options = ProxyOptions()
            options.upstreams = try ["*.a.test=http://p.test:1", "*.b.test=http://P.test:1"].map {
                try ValueSyntax<UpstreamProxy>.upstream.read($0)
            }
            for given in [path, "p.test:1=\(path)"] {
                options.upstreamCredentials = [
                    try ValueSyntax<UpstreamCredentialFile>.upstreamCredential.read(given)
                ]
                let passwords = try options.policy().upstreams.map {
                    $0.credential?.basicBytes.text
                }
                #expect(passwords == ["jane:s3cret", "jane:s3cret"])
            }
        }
    }

    static let refusedUpstreams = [
        "", "proxy.test:3128", "https://proxy.test:3128", "http://proxy.test", "http://:3128",
        "http://proxy.test:0", "http://proxy.test:3128/path", "socks4://proxy.test:1080",
        "=http://proxy.test:3128", "a..b=http://proxy.test:3128", "*x=http://proxy.test:3128",
        "http://jane:s3cret@proxy.test:3128",
    ]

    @Test(arguments: refusedUpstreams)
    func refusesUpstreams(_ text: String) {
        #expect(throws: UsageFailure.self) { try ValueSyntax<UpstreamProxy>.upstream.read(text) }
    }
}
