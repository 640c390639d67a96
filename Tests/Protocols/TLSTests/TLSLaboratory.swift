import Base
import Glibc

@testable import TLS

/// An authority in a folder of its own, and contexts that know it.
final class TLSLaboratory {
    let folder: TemporaryFolder
    let authority: CertificateAuthority
    static let ticketKey = [UInt8](repeating: 42, count: 80)

    init() throws {
        folder = TemporaryFolder()
        authority = try CertificateAuthority.open(folder: folder.file("ca"))
    }

    func serverContext(
        _ versions: TLSVersions = .modern, ticketKey: [UInt8] = TLSLaboratory.ticketKey
    ) -> TLSServerContext {
        TLSServerContext(authority: authority, versions: versions, ticketKey: ticketKey)
    }

    /// Trusts the authority only.
    func clientContext(_ versions: TLSVersions = .modern) -> TLSClientContext {
        TLSClientContext(
            versions: versions, extraAuthorities: [authority.certificate], trustsSystem: false)
    }

    /// Two sessions of contexts of their own.
    func pair(
        _ versions: TLSVersions = .modern, name: String = "a.test", bufferSize: Int = 1 << 16
    ) -> TLSPair {
        TLSPair(
            client: clientContext(versions).makeSession(
                verifying: name, serverName: name, protocols: [], resumptionKey: name),
            server: serverContext(versions).makeSession(for: name, protocols: []),
            bufferSize: bufferSize)
    }
}

extension TLSVersions {
    static let only12 = TLSVersions(.tls12, .tls12)
    static let only13 = TLSVersions(.tls13, .tls13)
}

/// A client's and a server's session back to back, with the wire between them.
final class TLSPair {
    let client: TLSSession
    let server: TLSSession
    /// What each end's last step of the handshake came to.
    private(set) var clientProgress = TLSProgress.wantRead
    private(set) var serverProgress = TLSProgress.wantRead
    /// How many bytes go over the wire at once.
    var chunk = Int.max
    /// Changes what goes over the wire; the flights are counted from 0, the client's being even.
    var tamper: ((_ flight: Int, _ bytes: [UInt8]) -> [UInt8])?
    private(set) var flight = 0

    init(client: TLSSession, server: TLSSession, bufferSize: Int = 1 << 16) {
        self.client = client
        self.server = server
        for session in [client, server] {
            session.incoming = ByteBuffer(capacity: bufferSize)
            session.outgoing = ByteBuffer(capacity: bufferSize)
        }
    }

    /// Moves what one end has for the other, a chunk at the most.
    ///
    /// - Returns: how much was moved.
    @discardableResult
    func carry(from source: TLSSession, to target: TLSSession) -> Int {
        guard let outgoing = source.outgoing, let incoming = target.incoming else { return 0 }
        incoming.compact()
        let count = min(outgoing.count, incoming.room, chunk)
        guard count > 0 else { return 0 }
        var bytes = outgoing.copy(0..<count)
        outgoing.consume(count)
        outgoing.compact()
        if let tamper {
            bytes = tamper(flight, bytes)
            flight += 1
        }
        incoming.append(Array(bytes.prefix(incoming.room)))
        return count
    }

    /// Goes on with both handshakes until neither gets further.
    ///
    /// - Returns: whether both are done.
    @discardableResult
    func handshake() -> Bool {
        for _ in 0..<100_000 {
            if clientProgress != .done, !clientProgress.isFailure {
                clientProgress = client.handshake()
            }
            // The server's tickets come after the client's end of the handshake.
            if clientProgress == .done { _ = readAll(client) }
            var moved = carry(from: client, to: server)
            if serverProgress != .done, !serverProgress.isFailure {
                serverProgress = server.handshake()
            }
            moved += carry(from: server, to: client)
            if moved == 0, clientProgress != .wantWrite, serverProgress != .wantWrite { break }
        }
        return clientProgress == .done && serverProgress == .done
    }

    /// Sends bytes from one end, and tells what the other end read; the wire is emptied.
    func transfer(
        _ bytes: [UInt8], from source: TLSSession, to target: TLSSession, readSize: Int = 1 << 16
    ) -> [UInt8] {
        let sent = ByteBuffer(capacity: max(1, bytes.count))
        sent.append(bytes)
        var received: [UInt8] = []
        received.reserveCapacity(bytes.count)
        var isIdle = false
        while !isIdle {
            isIdle = true
            if !sent.isEmpty {
                let before = sent.count
                _ = source.write(sent)
                if sent.count < before { isIdle = false }
            }
            if carry(from: source, to: target) > 0 { isIdle = false }
            let plain = readAll(target, readSize: readSize)
            if !plain.isEmpty { isIdle = false }
            received += plain
            carry(from: target, to: source)
            _ = readAll(source, readSize: readSize)
        }
        return received
    }

    /// Reads what a session has, as far as it goes.
    func readAll(_ session: TLSSession, readSize: Int = 1 << 16) -> [UInt8] {
        var plain: [UInt8] = []
        let buffer = ByteBuffer(capacity: readSize)
        while case .bytes = session.read(into: buffer) {
            plain += buffer.copy
            buffer.removeAll()
        }
        return plain
    }
}

extension TLSProgress {
    var isFailure: Bool {
        if case .failed = self { return true }
        return false
    }

    var failure: TLSFailure? {
        if case .failed(let failure) = self { return failure }
        return nil
    }
}

/// A folder of a test's own, removed with all in it when the test is done.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        var template = [CChar]("/tmp/tls-tests-XXXXXX".utf8CString)
        path = unsafe String(cString: mkdtemp(&template))
    }

    deinit { _ = shell("rm -rf '\(path)'") }

    func file(_ name: String) -> String { path + "/" + name }
}

/// Runs a command line, and tells how it ended and what it printed on both streams.
func shell(_ command: String) -> (status: Int32, output: String) {
    guard let stream = unsafe popen("(\(command)) 2>&1 </dev/null", "r") else { return (-1, "") }
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = unsafe fread(&chunk, 1, chunk.count, stream)
        guard count > 0 else { break }
        output += chunk.prefix(count)
    }
    let status = unsafe pclose(stream)
    return (status >> 8 & 0xFF, output.text)
}
