import Foundation
import ProcessStart
import Testing

extension RealClientTests {
    /// Clients that know of no proxy, and are led to it by the system.
    struct TransparentTests {
        enum Way: String, CaseIterable {
            /// By a change of the destination that the kernel remembers.
            case redirect
            /// By handing the connection over as it is.
            case tproxy
        }

        @Test(
            .needs(.bash, .curl, .nft, .ip, .unshare, .nsenter), .needsNamespaces,
            arguments: Way.allCases)
        func isInterceptedOnItsWay(_ way: Way) async throws {
            let folder = try Folder()
            let program = try await Namespace.start(
                [
                    Peer.bash.path ?? "", Peer.script("gateway.sh"), Peer.sallyport.path ?? "",
                    Peer.curl.path ?? "", folder.path, way.rawValue,
                ], in: folder)
            let code = try await program.end()
            try #require(code == 0, "\(program.story)")
            let said = String(decoding: program.output, as: UTF8.self).split(separator: "\n")
            #expect(
                said == [
                    "200 198.51.100.7 80", "200 198.51.100.7 443", "200 2001:db8:7::7 80",
                    "200 2001:db8:7::7 443",
                ], "\(program.story)")
            let capture = Capture(path: folder.path("way.sallyport"), folder: folder)
            try await expectFlows(capture)
            try await expectConnections(capture, way)
        }

        private func expectFlows(_ capture: Capture) async throws {
            let flows = try await capture.flows()
            #expect(
                flows.map(\.url) == [
                    "http://198.51.100.7/assets/1/1000", "https://198.51.100.7/assets/1/1000",
                    "http://[2001:db8:7::7]/assets/1/1000",
                    "https://[2001:db8:7::7]/assets/1/1000",
                ])
            #expect(flows.allSatisfy { $0.status == 200 && $0.responseBytes == 1000 })
        }

        private func expectConnections(_ capture: Capture, _ way: Way) async throws {
            let connections = try await capture.connections()
            let served = connections.filter { $0.exchanges == 1 }
            #expect(
                served.map(\.host) == [
                    "198.51.100.7", "198.51.100.7", "2001:db8:7::7", "2001:db8:7::7",
                ])
            #expect(served.map(\.sni) == [nil, "origin.test", nil, "origin.test"])
            #expect(served.allSatisfy { $0.outcome == "completed" })
            // Those that came to the proxy itself, each told once and led nowhere.
            let others = connections.filter { $0.exchanges == 0 }
            #expect(others.count == (way == .redirect ? 2 : 0), "\(others)")
            #expect(others.allSatisfy { $0.outcome == "refused" })
        }
    }
}

/// A network namespace of its own for a program and its children; it ends with them.
enum Namespace {
    /// The options with which this user may make one, `nil` for none.
    static let options: [String]? = {
        for options in [["--net"], ["--map-root-user", "--net"]] where tries(options) {
            return options
        }
        return nil
    }()

    private static func tries(_ options: [String]) -> Bool {
        guard let path = Peer.unshare.path else { return false }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = options + ["true"]
        process.standardError = FileHandle.nullDevice
        do {
            try ProcessStart.alone { try process.run() }
        } catch {
            return false
        }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// Starts a program in one; SIGTERM lets it end its children.
    static func start(_ command: [String], in folder: Folder) async throws -> Program {
        try Program(.unshare, (options ?? []) + command, in: folder, lastSignal: SIGTERM)
    }
}

extension Peer {
    static let nft = Peer("nft")
    static let ip = Peer("ip")
    static let unshare = Peer("unshare")
    static let nsenter = Peer("nsenter")
}

extension Trait where Self == ConditionTrait {
    /// Skips a test if this user may make no network namespace, unless peers are required.
    static var needsNamespaces: Self {
        .enabled(
            if: Namespace.options != nil || Peer.isRequired,
            "this user may make no network namespace")
    }
}
