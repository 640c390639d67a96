internal import Base
internal import Sockets
internal import TLS
internal import Transport

extension HTTPServerTask {
    /// Makes the connection secure if its port is.
    func open() async throws(ServerEnd) -> ClientConnection.Security? {
        guard let tls = worker.tls else { return nil }
        return try await secure(tls)
    }

    /// Reads the ClientHello for the name that is asked for, then does the handshake.
    private func secure(
        _ context: TLSServerContext
    ) async throws(ServerEnd) -> ClientConnection.Security {
        channel.readDeadline = loop.now + limits.handshakeTimeout
        channel.writeDeadline = channel.readDeadline
        let hello = try await peekHello()
        let name = hello?.serverName
        var clientAuthorities: [Certificate]?
        let session: TLSSession
        let chosen = await host(for: hello)
        // What was made for it is no time of the client's.
        channel.readDeadline = loop.now + limits.handshakeTimeout
        channel.writeDeadline = channel.readDeadline
        switch chosen {
        case .sound(let authorities):
            clientAuthorities = authorities
            session = context.makeSession(
                for: name ?? worker.ownName, protocols: ["h2", "http/1.1"],
                asksForCertificate: authorities != nil)
        case .other(let configuration):
            do throws(Failure) {
                session = try ProbeTLSContext(configuration).makeSession()
            } catch {
                throw .ended
            }
        case .taken(let serve):
            guard let held else { throw .ended }
            self.held = nil
            await serve(channel, held)
            throw .ended
        }
        let secured = TLSStream(channel, session: session, readAhead: held)
        held = nil
        do throws(StreamFailure) {
            try await secured.handshake()
        } catch {
            throw .ended
        }
        take(secured)
        let parameters = session.parameters
        let chain = clientAuthorities == nil ? [] : session.clientChain
        return ClientConnection.Security(
            serverName: name, applicationProtocol: parameters.alpn, version: parameters.version,
            cipher: parameters.cipher, clientChain: chain,
            isClientVerified: clientAuthorities.map {
                Certificate.verifies(clientChain: chain, trusting: $0)
            } ?? false, endPointDigest: session.endPointDigest)
    }

    private func host(for hello: ClientHello?) async -> TLSHost {
        guard let hello, let hosts = worker.hosts else { return .sound() }
        return await hosts.host(for: hello)
    }

    private func peekHello() async throws(ServerEnd) -> ClientHello? {
        while true {
            try await receiveHello()
            guard let held else { throw .ended }
            // 22 is a handshake record; HTTP begins with a letter.
            guard held[0] == 22 else { throw .refused(400) }
            do throws(ClientHelloViolation) {
                if let hello = try ClientHelloReader.read(held.readable) { return hello }
            } catch {
                // OpenSSL finds the same fault and answers it with the right alert.
                return nil
            }
        }
    }

    private func receiveHello() async throws(ServerEnd) {
        do throws(ServerEnd) {
            if try await receive() { return }
        } catch {
            // No status can be told in the middle of a handshake.
            throw .ended
        }
        throw .ended
    }

    /// Whether the client speaks HTTP/2 without having asked (RFC 9113 §3.3); bytes are only held.
    func beginsWithPreface() async throws(ServerEnd) -> Bool {
        stream.readDeadline = loop.now + limits.idleTimeout
        while true {
            guard try await receive() else { return false }
            stream.readDeadline = loop.now + limits.headTimeout
            guard let held else { return false }
            let count = min(held.count, Self.preface.count)
            guard (0..<count).allSatisfy({ held[$0] == Self.preface[$0] }) else { return false }
            if count == Self.preface.count { return true }
        }
    }

    private static let preface = [UInt8]("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
}
