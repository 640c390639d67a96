import Foundation
import Sockets
import Testing
import Traffic

@testable import Processes

/// Connections of a program that runs beside the tests.
@Suite(.timeLimit(.minutes(10)))
struct ProcessAttributionTests {
    @Test(arguments: [
        ("IPv4", "127.0.0.1", "127.0.0.1"),
        ("IPv6", "::1", "::1"),
        ("IPv4 to a socket for both", "::", "127.0.0.1"),
        ("IPv4 from a socket for both", "127.0.0.1", "::ffff:127.0.0.1"),
    ])
    func findsTheProgram(name: String, host: String, to: String) throws {
        let server = try Server(host)
        let client = try Client([to, "\(server.port)", "1", "--token", "secret"])
        defer { client.end() }
        let connection = try server.accept()
        for diagnosis in [SocketDiagnosis(), nil] {
            let found = ProcessAttribution(diagnosis: diagnosis).process(
                client: connection.peer, server: connection.local)
            #expect(found?.id == client.id, "\(name), \(diagnosis == nil)")
            #expect(found?.executable.contains("python3") == true)
            #expect(found?.commandLine.suffix(2) == ["--token", "***"])
        }
    }

    @Test func knowsTheNextConnectionsWithoutASearch() throws {
        let server = try Server("127.0.0.1")
        let client = try Client(["127.0.0.1", "\(server.port)", "200"])
        defer { client.end() }
        let attribution = ProcessAttribution()
        let connections = try (0..<200).map { _ in try server.accept() }
        #expect(
            attribution.recentProcess(client: connections[0].peer, server: connections[0].local)
                == .unknown)
        let first = try #require(
            attribution.process(client: connections[0].peer, server: connections[0].local))
        for connection in connections {
            #expect(
                attribution.recentProcess(client: connection.peer, server: connection.local)
                    == .process(first))
        }
    }

    @Test func strangersAreNobody() throws {
        let attribution = ProcessAttribution()
        let away = try #require(SocketAddress(literal: "192.0.2.1", port: 1))
        let here = try #require(SocketAddress(literal: "127.0.0.1", port: 2))
        #expect(attribution.process(client: away, server: here) == nil)
        #expect(attribution.recentProcess(client: away, server: here) == .none)
        let server = try Server("127.0.0.1")
        let listener = here.withPort(server.port)
        #expect(attribution.process(client: listener, server: here) == nil)
    }
}
