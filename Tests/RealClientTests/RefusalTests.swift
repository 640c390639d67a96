import Foundation
import Testing

extension RealClientTests {
    /// What is said of clients that do not trust the proxy's CA, for each way of refusing.
    struct RefusalTests {
        @Test(.needs(), arguments: Refusal.all)
        func isRecordedWithItsCause(_ refusal: Refusal) async throws {
            try refusal.peer.needed(for: refusal.name)
            let origin = try await Origin()
            let folder = try Folder()
            let proxy = try await ProxyProcess(for: origin, in: folder, reverse: refusal.isReverse)
            let client = try refusal.start(origin, proxy, folder)
            let code = try await client.end()
            #expect(code != 0, "the client was content: \(client.story)")

            let connections = try await proxy.capture.refusals(of: "localhost")
            try await proxy.end()
            for connection in connections {
                let cause = try #require(connection.cause)
                #expect(refusal.causes.contains(cause), "\(cause)")
                #expect(connection.alert == refusal.alert)
                #expect(connection.closedBy == "client")
                #expect((connection.tlsVersion != nil) == refusal.completesHandshake)
                #expect(connection.exchanges == 0 || !refusal.isReverse)
            }
            let flows = try await proxy.capture.flows(filter: "scheme=https")
            #expect(flows.isEmpty, "no request was made: \(flows)")
        }
    }
}

/// A client that does not trust what it is shown, and what is said of it.
struct Refusal: Sendable, CustomTestStringConvertible {
    typealias Start = @Sendable (Origin, ProxyProcess, Folder) throws -> Program

    let name: String
    let peer: Peer
    var isReverse = false
    /// The one that the client sends, if any.
    var alert: String?
    /// Whether the handshake had ended for the server.
    var completesHandshake = false
    /// Any of them: how the end looks depends on what was still under way to the client.
    let causes: [String]
    let start: Start

    var testDescription: String { name }

    static let all = byAlert + afterTheHandshake + withoutAWord
}

extension Refusal {
    /// A fatal alert in the handshake.
    private static let byAlert: [Refusal] = [
        .alert("curl", "unknown_ca", .curl, distrusting(.curl)),
        .alert("Python urllib", "unknown_ca", .python, distrusting(.urllib)),
        .alert("Python requests", "unknown_ca", .python, distrusting(.requests)),
        .alert("openssl s_client", "unknown_ca", .openssl) { origin, proxy, folder in
            try Program(
                .openssl,
                [
                    "s_client", "-proxy", proxy.address, "-connect", "localhost:\(origin.port)",
                    "-verify_return_error", "-CAfile", origin.authority.certificatePath,
                ], in: folder)
        },
        .alert("gnutls-cli", "bad_certificate", .gnutls, isReverse: true) { origin, proxy, folder in
            let port = proxy.address.split(separator: ":").last ?? ""
            return try Program(
                .gnutls,
                [
                    "--port", "\(port)", "--x509cafile", origin.authority.certificatePath,
                    "localhost",
                ], in: folder)
        },
    ]

    /// The handshake ends well, and then the connection ends without a request.
    private static let afterTheHandshake: [Refusal] = [
        .silent("git", "close_notify", .git, ["closed"]) { origin, proxy, folder in
            try Program(
                .git,
                [
                    "-c", "http.proxy=\(proxy.url)",
                    "-c", "http.sslCAInfo=\(origin.authority.certificatePath)",
                    "ls-remote", "\(origin.url)/none.git",
                ], in: folder)
        },
        .silent("curl, wrong pin", "close_notify", .curl, ["closed"]) { origin, proxy, folder in
            try Program(
                .curl,
                [
                    "-sS", "--cacert", proxy.authorityPath, "--proxy", proxy.url,
                    "--pinnedpubkey", "sha256//" + String(repeating: "A", count: 43) + "=",
                    "\(origin.url)/byte.bin",
                ], in: folder)
        },
        .silent("wget", nil, .wget, withoutNotice, distrusting(.wget)),
        .silent("Node, TLS 1.2", nil, .node, withoutNotice) { origin, proxy, folder in
            let client = RealClient(
                peer: .node, arguments: ["--tls-max-v1.2"] + RealClient.node.arguments)
            return try distrusting(client)(origin, proxy, folder)
        },
    ]

    /// The connection ends in the middle of the handshake, without an alert.
    private static let withoutAWord: [Refusal] = [
        .broken("Node", .node, distrusting(.node)),
        .broken("Java", .java, distrusting(.java)),
    ]

    private static let withoutNotice = ["closed without close_notify", "reset the connection"]

    private static func alert(
        _ name: String, _ alert: String, _ peer: Peer, isReverse: Bool = false,
        _ start: @escaping Start
    ) -> Refusal {
        Refusal(
            name: "\(name): alert", peer: peer, isReverse: isReverse, alert: alert,
            causes: ["client refused the certificate with the alert \(alert)"], start: start)
    }

    private static func silent(
        _ name: String, _ alert: String?, _ peer: Peer, _ ways: [String], isReverse: Bool = false,
        _ start: @escaping Start
    ) -> Refusal {
        Refusal(
            name: "\(name): \(alert ?? "nothing") after the handshake", peer: peer,
            isReverse: isReverse, alert: alert, completesHandshake: true,
            causes: ways.map {
                "client \($0) right after the handshake without a request: it does not trust the"
                    + " CA, or pins another certificate"
            }, start: start)
    }

    private static func broken(
        _ name: String, _ peer: Peer, _ start: @escaping Start
    ) -> Refusal {
        Refusal(
            name: "\(name): no alert in the handshake", peer: peer,
            causes: ["closed", "reset"].map {
                "client \($0) the connection in the handshake, after it was shown the certificate"
                    + " and without an alert: it does not trust the CA, or pins another"
                    + " certificate"
            }, start: start)
    }
}

extension Refusal {
    /// A client that trusts the origin's CA alone.
    private static func distrusting(_ client: RealClient) -> Start {
        { origin, proxy, folder in
            try client.start(
                at: origin.url, by: proxy.url, trusting: origin.authority.certificatePath,
                into: folder, names: ["byte.bin"])
        }
    }
}
