import Base
import Foundation
import Sockets
import Testing

@testable import Confinement

/// The tool itself, built, in namespaces: what the command does comes out at the sockets.
@Suite(
    .timeLimit(.minutes(10)), .serialized, .enabled(if: Place.isAllowed, "namespaces are forbidden")
)
struct ConfinementTests {
    @Test func commandRunsAndItsCodeComesBack() throws {
        try confined("sh", "-c", "exit 7") { child in
            #expect(child.wait() >> 8 & 0xFF == 7)
        }
    }

    /// Who is not served must do nothing: half of a command's work is worse than none.
    @Test func commandRunsOnlyOnceItIsLetGo() throws {
        let mark = NSTemporaryDirectory() + "sallyport-begun-\(UUID().uuidString)"
        defer { Files.remove(mark) }
        try confined("touch", mark, begins: false) { child in
            child.close()
            #expect(child.wait() >> 8 & 0xFF == 126)
            #expect(!FileManager.default.fileExists(atPath: mark))
        }
        try confined("touch", mark) { child in
            #expect(child.wait() == 0)
            #expect(FileManager.default.fileExists(atPath: mark))
        }
    }

    @Test(arguments: [
        ("an IPv4 address", "198.51.100.7", 8123),
        ("the web", "203.0.113.1", 443),
        ("an IPv6 address", "2001:db8::5", 80),
        ("loopback", "127.0.0.1", 5432),
        ("loopback of IPv6", "::1", 5432),
    ])
    func connectionsComeOutWithTheirDestination(
        name: String, host: String, port: Int
    ) throws {
        try confined("python3", "-c", Scripts.echoOnce, host, "\(port)") { child in
            let connection = try accept(child.tcpListeners)
            defer { close(connection) }
            let meant = SocketAddress.originalDestination(of: connection)
            #expect(meant == SocketAddress(literal: host, port: UInt16(port)))
            #expect(receive(connection) == "hello")
            send(connection, "answer")
            #expect(child.wait() == 0)
            #expect(child.counters()?.tcpConnections == 1)
            #expect(child.limits.isEmpty)
        }
    }

    /// Who connects is found inside, by a socket that was made there.
    @Test func ownServersAreReachedInside() throws {
        try confined("python3", "-c", Scripts.serveOnce) { child in
            // It connects to the outside once it listens, and tells its port.
            let connection = try accept(child.tcpListeners)
            defer { close(connection) }
            let port = try #require(UInt16(receive(connection)))
            let address = try #require(SocketAddress(literal: "127.0.0.1", port: port))
            let diagnosis = SocketDiagnosis(descriptor: dup(child.diagnosis))
            #expect(diagnosis.isListening(at: address))
            #expect(!diagnosis.isListening(at: address.withPort(1)))
            let inside = try child.insideSocket(isIPv6: false)
            defer { close(inside) }
            #expect(connect(inside, address))
            #expect(receive(inside) == "inside")
            #expect(child.wait() == 0)
        }
    }

    @Test(arguments: ["8.8.8.8", "127.0.0.1", "2001:4860:4860::8888"])
    func namesAreAskedHere(server: String) throws {
        try confined("python3", "-c", Scripts.datagram, server, "53", "question") { child in
            let (socket, question, client) = try receiveDatagram(child.dnsSockets)
            #expect(question == "question")
            answer(socket, "answer", to: client)
            #expect(child.wait() == 0)
            #expect(child.counters()?.dnsFlows == 1)
        }
    }

    @Test func resolverFileNamesOurs() throws {
        try confined("sh", "-c", "grep -q '^nameserver 127.0.0.53$' /etc/resolv.conf") { child in
            #expect(child.wait() == 0)
        }
    }

    @Test(arguments: [
        ("QUIC", "198.51.100.7", 443, DatagramAttempt.Kind.quic),
        ("QUIC by IPv6", "2001:db8::1", 443, .quic),
        ("another", "198.51.100.7", 123, .udp),
        ("multicast", "224.0.0.251", 5353, .udp),
    ])
    func datagramsAreRefusedAtOnceAndListed(
        name: String, host: String, port: Int, kind: DatagramAttempt.Kind
    ) throws {
        try confined("python3", "-c", Scripts.refusedDatagram, host, "\(port)") { child in
            #expect(child.wait() == 0)
            let attempts = DatagramAttemptReader.drain(try #require(child.attempts))
            let address = try #require(SocketAddress(literal: host, port: UInt16(port)))
            #expect(attempts.map(\.kind) == [kind, kind])
            #expect(attempts.allSatisfy { $0.destination == address.address })
            #expect(attempts.allSatisfy { $0.destinationPort == UInt16(port) })
            #expect(
                attempts.allSatisfy {
                    $0.payload == Array("connected".utf8) || $0.payload == Array("free".utf8)
                })
            let counters = child.counters()
            #expect((kind == .quic ? counters?.quicDatagrams : counters?.udpDatagrams) == 2)
            #expect(counters?.otherPackets == 0)
        }
    }

    /// They stay inside, and are listed once.
    @Test func datagramsToItselfArrive() throws {
        try confined("python3", "-c", Scripts.ownDatagram) { child in
            #expect(child.wait() == 0)
            let attempts = DatagramAttemptReader.drain(try #require(child.attempts))
            #expect(attempts.map(\.kind) == [.inside])
            #expect(child.counters()?.insideFlows == 1)
        }
    }

    @Test func filesAreLaidOverTheSystems() throws {
        let script =
            "grep -q MARK /etc/ssl/certs/ca-certificates.crt && grep -q HASH /etc/ssl/certs/0a0b0c0d.0"
            + " && ls /etc/ssl/certs | wc -l | grep -qv '^[12]$'"
        try confined("sh", "-c", script) { child in
            #expect(child.wait() == 0)
            #expect(child.limits.isEmpty)
        }
        #expect(!FileManager.default.fileExists(atPath: "/etc/ssl/certs/0a0b0c0d.0"))
    }

    @Test func commandKeepsItsUserFolderAndVariables() throws {
        let folder = FileManager.default.currentDirectoryPath
        let conditions = [
            "$(id -u) = \(geteuid())", "$(id -g) = \(getegid())", "\"$(pwd)\" = '\(folder)'",
            "\"$MARK\" = 1",
        ]
        for condition in conditions {
            try confined("sh", "-c", "[ \(condition) ]") { child in
                #expect(child.wait() == 0, "\(condition)")
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func worksWithoutPrivileges() throws {
        let script =
            "[ $(id -u) = 65534 ] && grep -q 'CapEff:.0000000000000000' /proc/self/status"
            + " && grep -q MARK /etc/ssl/certs/ca-certificates.crt"
            + " && exec python3 -c \"$0\" 198.51.100.7 443"
        try confined("sh", "-c", script, Scripts.echoOnce, asNobody: true) { child in
            let connection = try accept(child.tcpListeners)
            defer { close(connection) }
            #expect(
                SocketAddress.originalDestination(of: connection)?.description
                    == "198.51.100.7:443")
            #expect(receive(connection) == "hello")
            send(connection, "answer")
            #expect(child.wait() == 0)
            #expect(child.counters()?.tcpConnections == 1)
            #expect(child.limits.isEmpty)
        }
    }

    @Test(arguments: ["198.51.100.7", "2001:db8::5", "127.0.0.1"])
    func withoutAFilterThePortsOfAListComeOut(host: String) throws {
        try confined(
            "python3", "-c", Scripts.echoOnce, host, "443", usesFilter: false
        ) { child in
            let connection = try accept(child.tcpListeners)
            defer { close(connection) }
            let meant = SocketAddress.originalDestination(of: connection)
            #expect(meant == SocketAddress(literal: host, port: 443))
            #expect(receive(connection) == "hello")
            send(connection, "answer")
            #expect(child.wait() == 0)
            #expect(child.counters() == nil)
            #expect(child.limits.map(\.code) == ["only-ports", "attempts-not-listed"])
        }
    }

    @Test func withoutAFilterNamesAreAskedHere() throws {
        try confined(
            "python3", "-c", Scripts.datagram, "127.0.0.53", "53", "question", usesFilter: false
        ) { child in
            let (socket, question, client) = try receiveDatagram(child.dnsSockets)
            #expect(question == "question")
            answer(socket, "answer", to: client)
            #expect(child.wait() == 0)
        }
    }

    @Test func missingCommandIsTold() throws {
        do {
            try confined("no-such-command-anywhere") { _ in }
            Issue.record("it started")
        } catch let failure as Failure {
            #expect(failure.code == "command-not-started")
            #expect(failure.detail.contains("no-such-command-anywhere"))
        }
    }

    /// The namespaces, and the process that makes sockets in them, end with the tool.
    @Test func nothingIsLeftBehind() throws {
        var inside: String?
        try confined("sleep", "1000") { child in
            inside = link("/proc/\(child.id)/ns/net")
            kill(child.id, SIGKILL)
            #expect(child.wait() & 0x7F == SIGKILL)
        }
        let name = try #require(inside)
        for _ in 0..<2000 where try processes(in: name) > 0 { usleep(1000) }
        #expect(try processes(in: name) == 0)
    }

    private func processes(in namespace: String) throws -> Int {
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc")
        return names.count { Int($0) != nil && link("/proc/\($0)/ns/net") == namespace }
    }

    private func link(_ path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe readlink(path, $0.baseAddress!, $0.count)
        }
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
