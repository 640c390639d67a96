import Foundation
import Testing

/// A client, and the way on which it comes to an origin.
struct Pairing: Sendable {
    enum Client: String, Sendable {
        case curl
        case nghttp
        case node

        var peer: Peer {
            switch self {
            case .curl: .curl
            case .nghttp: .nghttp
            case .node: .node
            }
        }
    }

    enum Version: Sendable {
        case http1
        /// By ALPN with TLS, with prior knowledge without.
        case http2
        /// HTTP/1 with an offer to upgrade to HTTP/2 (RFC 7540 §3.2), which these origins decline.
        case upgradable

        /// As a capture has it.
        var name: String { self == .http2 ? "HTTP/2" : "HTTP/1.1" }
    }

    enum Entry: Sendable {
        /// A proxy that is asked, without TLS, for an absolute URL.
        case absolute
        /// A proxy that is asked for a tunnel.
        case connect
        /// A proxy that is asked for a tunnel on a stream of HTTP/2.
        case connectOverHTTP2
        /// A server in the origin's place.
        case reverse
        /// The same, with TLS in front of an origin without.
        case reverseWithTLS

        var isReverse: Bool { self == .reverse || self == .reverseWithTLS }
    }

    let client: Client
    let version: Version
    let entry: Entry

    init(_ client: Client, _ version: Version, _ entry: Entry) {
        self.client = client
        self.version = version
        self.entry = entry
    }

    var name: String { "\(client.rawValue), \(version), \(entry)" }

    /// All that can come to an origin.
    static func all(to server: OriginServer) -> [Pairing] {
        (server.isSecure ? secure : plain).filter { pairing in
            switch pairing.client {
            // It offers both versions by ALPN, and gets the origin's.
            case .curl:
                let isTLS = server.isSecure || pairing.entry == .reverseWithTLS
                return pairing.version == .http1 || !isTLS || server.speaksHTTP2
            case .nghttp: return true
            // Of the other origins it asks what curl cannot.
            case .node:
                return server.peer.name == Peer.node.name
                    || pairing.version == .http2 && pairing.entry == .connect && server.isSecure
            }
        }
    }

    private static let secure = [
        Pairing(.curl, .http1, .connect),
        Pairing(.curl, .http2, .connect),
        Pairing(.curl, .http1, .reverse),
        Pairing(.curl, .http2, .reverse),
        Pairing(.nghttp, .http2, .reverse),
        Pairing(.node, .http1, .absolute),
        Pairing(.node, .http2, .absolute),
        Pairing(.node, .http1, .connect),
        Pairing(.node, .http2, .connect),
        Pairing(.node, .http1, .connectOverHTTP2),
        Pairing(.node, .http2, .connectOverHTTP2),
        Pairing(.node, .http1, .reverse),
        Pairing(.node, .http2, .reverse),
    ]

    private static let plain = [
        Pairing(.curl, .http1, .absolute),
        Pairing(.curl, .http1, .connect),
        Pairing(.curl, .http2, .connect),
        Pairing(.curl, .http1, .reverse),
        Pairing(.curl, .http2, .reverse),
        Pairing(.curl, .upgradable, .connect),
        Pairing(.curl, .upgradable, .reverse),
        Pairing(.curl, .http1, .reverseWithTLS),
        Pairing(.curl, .http2, .reverseWithTLS),
        Pairing(.nghttp, .http2, .reverse),
        Pairing(.nghttp, .http2, .reverseWithTLS),
        Pairing(.node, .http1, .absolute),
        Pairing(.node, .http2, .absolute),
        Pairing(.node, .http1, .connect),
        Pairing(.node, .http2, .connect),
        Pairing(.node, .http2, .connectOverHTTP2),
        Pairing(.node, .http1, .reverse),
        Pairing(.node, .http2, .reverse),
        Pairing(.node, .http2, .reverseWithTLS),
    ]
}

/// One content that a client fetches or sends, and what has to come of it.
struct Transfer: Sendable {
    let method: String
    /// The path and the query of its URL.
    let target: String
    /// The name of the content that is sent, if any.
    let upload: String?
    /// The name of the content that has to come back.
    let answer: String
    /// Where the client puts what comes.
    let output: String

    /// Every content in both directions.
    ///
    /// - Parameter mark: tells these from those of others.
    static func all(
        to origin: RunningOrigin, marked mark: String, into folder: Folder
    ) throws -> [Transfer] {
        try TestContents.names.flatMap { name in
            let output = try folder.folder("fetched/\(mark)")
            let download = Transfer(
                method: "GET", target: "/\(name)?\(mark)", upload: nil, answer: name,
                output: "\(output)/\(name)")
            let echoes = origin.server.echoes
            let upload = Transfer(
                method: echoes ? "POST" : "PUT",
                target: echoes ? "/echo?\(mark)-\(name)" : "/upload/\(mark)-\(name)",
                upload: name, answer: echoes ? name : "empty.bin",
                output: "\(output)/answer-\(name)")
            return [download, upload]
        }
    }
}

extension Pairing {
    /// Where a client connects to, and what it asks for.
    struct Way: Sendable {
        let url: String
        /// The proxy's address and port.
        let proxy: String
        let authority: String

        init(_ entry: Entry, to origin: String, by proxy: ProxyProcess) {
            self.proxy = proxy.address
            authority = proxy.authorityPath
            guard entry.isReverse else {
                url = origin
                return
            }
            let isSecure = origin.hasPrefix("https:") || entry == .reverseWithTLS
            let port = proxy.address.split(separator: ":").last ?? ""
            url = "\(isSecure ? "https" : "http")://localhost:\(port)"
        }

        var isSecure: Bool { url.hasPrefix("https:") }
    }

    /// Runs the client until it has made all transfers.
    func run(
        _ transfers: [Transfer], on way: Way, _ contents: TestContents, in folder: Folder
    ) async throws {
        switch client {
        case .curl: try await runCurl(transfers, way, contents, folder)
        case .nghttp: try await runNghttp(transfers, way, contents, folder)
        case .node: try await runNode(transfers, way, contents, folder)
        }
    }

    private func runCurl(
        _ transfers: [Transfer], _ way: Way, _ contents: TestContents, _ folder: Folder
    ) async throws {
        var common = ["-sS", "--fail", "--cacert", way.authority]
        switch version {
        case .http1: common.append("--http1.1")
        case .http2: common.append(way.isSecure ? "--http2" : "--http2-prior-knowledge")
        case .upgradable: common.append("--http2")
        }
        if !entry.isReverse { common += ["--proxy", "http://\(way.proxy)"] }
        if entry == .connect { common.append("--proxytunnel") }
        common += ["--write-out", "%{http_version}\n"]
        // With prior knowledge, it cannot use a connection again.
        let isAlone = version == .http2 && !way.isSecure
        for group in isAlone ? transfers.map({ [$0] }) : [transfers] {
            var arguments: [String] = []
            for transfer in group {
                if !arguments.isEmpty { arguments.append("--next") }
                arguments += common + ["-X", transfer.method, "-o", transfer.output]
                if let upload = transfer.upload { arguments += ["-T", contents.path(of: upload)] }
                arguments.append(way.url + transfer.target)
            }
            let said = try await Program.run(.curl, arguments, in: folder)
            let versions = String(decoding: said, as: UTF8.self).split(separator: "\n")
            #expect(Set(versions) == [version == .http2 ? "2" : "1.1"], "\(name)")
        }
    }

    private func runNghttp(
        _ transfers: [Transfer], _ way: Way, _ contents: TestContents, _ folder: Folder
    ) async throws {
        for transfer in transfers {
            var arguments = ["-H", ":method: \(transfer.method)"]
            if let upload = transfer.upload { arguments += ["-d", contents.path(of: upload)] }
            let content = try await Program.run(
                .nghttp, arguments + [way.url + transfer.target], in: folder)
            try content.write(to: URL(fileURLWithPath: transfer.output))
        }
    }

    private func runNode(
        _ transfers: [Transfer], _ way: Way, _ contents: TestContents, _ folder: Folder
    ) async throws {
        let jobs = transfers.map { transfer in
            NodeJob(
                method: transfer.method, path: transfer.target,
                upload: transfer.upload.map { contents.path(of: $0) }, output: transfer.output)
        }
        let results = try await runNode(jobs, on: way, in: folder)
        #expect(results.allSatisfy { $0.status / 100 == 2 }, "\(name)")
    }
}
