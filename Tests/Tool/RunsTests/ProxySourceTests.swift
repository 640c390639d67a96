import Base
import Contents
import Foundation
import Sockets
import TLS
import Testing

@testable import Origins
@testable import Runs

/// Where a client's proxies are named, and which CAs a profile has trusted.
struct ProxySourceTests {
    /// By an option, whatever else names one; not for what `no_proxy` has.
    @Test(arguments: [
        ("a.test", "http p 1"), ("b.test", "direct"), ("x.b.test", "direct"),
    ])
    func takesTheOption(_ host: String, _ way: String) async throws {
        var source = ProxySource()
        source.proxy = UpstreamProxy(.http, host: "p", port: 1)
        source.variables = ["no_proxy": "b.test", "all_proxy": "http://other:2"]
        #expect(try await Self.way(source, to: host) == way)
    }

    @Test func takesTheVariables() async throws {
        var source = ProxySource()
        source.variables = ["all_proxy": "http://other:2"]
        #expect(try await Self.way(source, to: "a.test") == "http other 2")
    }

    /// Two programs have the same proxies if they read the same from their variables.
    @Test(arguments: [
        (["http_proxy": "a:1"], ["http_proxy": "a:1", "HTTP_PROXY": "b:1"], true),
        (["HTTPS_PROXY": "a:1"], ["https_proxy": "a:1"], true),
        ([:], ["no_proxy": "a"], true), (["http_proxy": ""], [:], true),
        (["http_proxy": "a:1"], [:], false), (["http_proxy": "a:1"], ["all_proxy": "a:1"], false),
        (["all_proxy": "a:1"], ["all_proxy": "a:1", "no_proxy": "b"], false),
    ])
    func comparesVariables(_ one: [String: String], _ other: [String: String], _ isSame: Bool) {
        var (first, second) = (ProxySource(), ProxySource())
        (first.variables, second.variables) = (one, other)
        #expect((first.variablesDigest == second.variablesDigest) == isSame)
        #expect(first.variablesDigest != nil)
        first.script = "a"
        #expect(first.variablesDigest == nil)
    }

    /// DER or PEM, whatever the payload's type says.
    @Test(arguments: ["root", "pkcs1", "pem"], [true, false])
    func trustsWhatAProfileSays(_ type: String, _ isPEM: Bool) throws {
        let folder = NSTemporaryDirectory() + "proxy-source-\(UUID().uuidString)"
        let authority = try CertificateAuthority.open(folder: folder)
        let der = authority.certificate.der
        let content = isPEM ? try Files.read(authority.certificatePath) : der
        let profile = ConfigurationProfile(
            identifier: "test.profile", title: "test", description: "",
            [
                .init(
                    "com.apple.security.\(type)", name: "ca", title: "CA",
                    [.init("PayloadContent", .data(content))])
            ]
        ) { _ in "00000000-0000-4000-8000-000000000000" }
        var source = ProxySource()
        source.profile = folder + "/profile"
        try Files.create(folder + "/profile", profile.document)
        #expect(try source.authorities().map(\.der) == [der])
        try FileManager.default.removeItem(atPath: folder)
    }

    private static func way(_ source: ProxySource, to host: String) async throws -> String {
        let loop = try EventLoop(index: 0)
        startThread(named: "test loop") { loop.run() }
        defer { loop.stop() }
        let settings = try await Task(executorPreference: loop) {
            try await source.settings(on: loop)
        }.value
        return try settings.ways(to: host, 80, isSecure: false).map(\.text).joined(separator: ", ")
    }
}

extension OriginWay {
    fileprivate var text: String {
        switch self {
        case .direct: "direct"
        case .upstream(let proxy): "\(proxy.scheme.rawValue) \(proxy.host) \(proxy.port)"
        }
    }
}
