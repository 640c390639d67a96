import Base
import Proxy
import TLS

/// A client of the product's own TLS, back to back with a machine.
final class MemoryClient {
    let session: TLSSession
    let machine: any ProbeMachine
    /// All that the machine said.
    private(set) var received: [UInt8] = []

    convenience init(_ machine: any ProbeMachine, versions: TLSVersions = .modern) {
        self.init(machine, in: TLSClientContext(versions: versions, trustsSystem: false))
    }

    init(
        _ machine: any ProbeMachine, in context: TLSClientContext, for host: String = "localhost"
    ) {
        self.machine = machine
        session = context.makeSession(
            verifying: host, serverName: host, protocols: [], resumptionKey: "test")
        session.incoming = ByteBuffer(capacity: 1 << 18)
        session.outgoing = ByteBuffer(capacity: 1 << 16)
    }

    /// What the client begins with.
    static func hello(_ versions: TLSVersions = .modern) -> [UInt8] {
        hello(in: TLSClientContext(versions: versions, trustsSystem: false), for: "localhost")
    }

    static func hello(in context: TLSClientContext, for host: String) -> [UInt8] {
        let session = context.makeSession(
            verifying: host, serverName: host, protocols: [], resumptionKey: "hello")
        session.incoming = ByteBuffer(capacity: 1 << 16)
        session.outgoing = ByteBuffer(capacity: 1 << 16)
        _ = session.handshake()
        return session.outgoing?.copy ?? []
    }

    /// Goes on with the handshake for as long as something moves.
    @discardableResult
    func handshake(chunk: Int = .max) -> TLSProgress {
        var progress = session.handshake()
        for _ in 0..<64 where progress == .wantRead {
            guard carry(chunk: chunk) else { return progress }
            progress = session.handshake()
        }
        carry(chunk: chunk)
        return progress
    }

    func send(_ bytes: [UInt8]) {
        let buffer = ByteBuffer(capacity: max(1, bytes.count))
        buffer.append(bytes)
        while session.write(buffer) == .wantWrite { carry() }
        carry()
    }

    /// - Returns: whether the machine answered.
    @discardableResult
    func carry(chunk: Int = .max) -> Bool {
        if let outgoing = session.outgoing, !outgoing.isEmpty {
            let bytes = outgoing.copy
            outgoing.removeAll()
            var place = 0
            while place < bytes.count {
                let end = min(bytes.count, chunk == .max ? bytes.count : place + chunk)
                machine.receive(Array(bytes[place..<end]).span)
                place = end
            }
        }
        let answer = machine.takeOutgoing()
        received += answer
        session.incoming?.compact()
        if let incoming = session.incoming { incoming.append(Array(answer.prefix(incoming.room))) }
        return !answer.isEmpty
    }
}
