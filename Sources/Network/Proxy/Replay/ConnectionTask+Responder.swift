internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

/// What is served by a responder in the place of origins.
extension ConnectionTask {
    /// Secures the client's leg, which is the only one, and serves what is spoken inside.
    func serve(
        _ responder: any OriginResponder, for target: OriginTarget, _ hello: ClientHello,
        _ opening: PeekedOpening, _ dialled: DialledOrigin?, _ entry: Entry
    ) async throws(ConnectionEnd) {
        let protocols = responder.protocols(of: target.name, target.port, offering: hello.alpn)
        let stream: TLSStream
        do throws(ConnectionEnd) {
            stream = try await secure(
                hello.serverName ?? target.host, opening, protocols: protocols)
        } catch {
            dialled?.close()
            throw error
        }
        switch session?.parameters.alpn {
        case "h2":
            dialled?.close()
            try await serveHTTP2(stream, through: entry)
        case let name where name == "http/1.1" || dialled == nil:
            dialled?.close()
            try await serveHTTP(stream, through: entry)
        case let name:
            guard let dialled else { return }
            adopt(dialled, for: target)
            guard let origin else { return }
            // What is left of it is no connection that another client may have.
            origin.isPersonal = true
            if name == nil {
                try await serveUnnamed(
                    stream, through: entry, originFailure: nil, serverName: hello.serverName)
            } else {
                try await serveSecuredDialogue(stream, origin, nil, early: nil, late: nil)
            }
        }
    }
}

extension ConnectionTask {
    /// How the client has reached the proxy.
    fileprivate var place: (address: SocketAddress, listener: SocketAddress) {
        (channel.localAddress ?? port.address, port.address)
    }
}

extension ProxyWorker {
    /// Begins the answer to a request by a responder; `nil` if its origin is to be asked.
    func respond(
        to outgoing: OutgoingRequest, of task: ConnectionTask, in version: HTTPVersion
    ) -> (any OriginExchange)? {
        let responders = responders(for: outgoing.origin.host)
        if responders.isEmpty { return nil }
        let head = outgoing.head
        var request = ResponderRequest(
            head: head, isSecure: outgoing.origin.isSecure, authority: outgoing.origin.authority,
            target: outgoing.target ?? Array(head.target),
            opensWebSocket: outgoing.upgrade != nil
                || head.fields.contains(.upgrade, token: "websocket"))
        if wiring.isOwn(outgoing.origin.host) { request.place = task.place }
        for responder in responders {
            guard let answer = responder.respond(to: request) else { continue }
            return ResponderOriginExchange(answer, to: outgoing, in: version, loop: loop)
        }
        return nil
    }

    /// Makes the end of a connection that a responder plays an origin's part on.
    func stage(
        _ responder: any OriginResponder, _ host: String, _ port: UInt16
    ) throws(OriginFailure) -> DialledOrigin {
        let ends = try makePair()
        background.add { [self] in await play(responder, host, port, on: ends.far) }
        // Told as the address of nobody: it was never looked for.
        guard let nowhere = SocketAddress(literal: "0.0.0.0", port: port) else {
            preconditionFailure("0.0.0.0 is an address")
        }
        return DialledOrigin(channel: ends.near, address: nowhere, reach: .everywhere)
    }

    /// Makes a connection to ourselves.
    func makePair() throws(OriginFailure) -> (near: Channel, far: Channel) {
        do throws(SystemError) {
            return try Channel.pair(on: loop)
        } catch {
            throw OriginFailure(
                failure: Failure("connect-failed", party: .tool, "no socket is left: \(error)"),
                outcome: .originUnreachable)
        }
    }

    private func play(
        _ responder: any OriginResponder, _ host: String, _ port: UInt16, on channel: Channel
    ) async {
        let stream = PlainStream(channel)
        defer { channel.close() }
        // Until it is clear what the client speaks, it has an origin that listens.
        let dialogue =
            responder.dialogue(with: host, port)
            ?? ListeningDialogue { responder.noteUnanswered(host, port) }
        let tunnel = TunnelTask(
            client: stream, origin: DialogueStream(dialogue, loop: loop), worker: self, early: nil,
            late: nil
        ) { _, _ in }
        _ = await tunnel.run()
    }
}

/// Of an origin that nothing is known of: it ends at the first word.
///
/// `@unchecked Sendable`: one loop drives it.
private final class ListeningDialogue: ResponderDialogue, @unchecked Sendable {
    private let heard: () -> Void
    private var isOver = false

    /// - Parameter heard: called at the first word.
    init(heard: @escaping () -> Void) {
        self.heard = heard
    }

    func receive(_ bytes: Span<UInt8>) {
        if !isOver { heard() }
        isOver = true
    }

    func noteEnd() { isOver = true }
    func next() -> DialogueStep { isOver ? .end : .needMore }
}

extension ToolResponse {
    /// For a request that a responder has no answer for.
    init(_ miss: ResponderMiss) {
        self.init(502, "replay-miss", miss.detail)
        self.miss = miss
    }
}
