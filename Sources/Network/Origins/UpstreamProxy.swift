internal import Base
internal import HTTPCodecs
internal import HTTPModel
package import Negotiation
internal import Sockets
internal import Traffic
internal import Transport

/// Another proxy that leads to origins.
package struct UpstreamProxy: Sendable {
    package enum Scheme: String, Sendable, CaseIterable {
        /// By CONNECT (RFC 9110 §9.3.6).
        case http
        case socks5
    }

    package let scheme: Scheme
    package let host: String
    package let port: UInt16
    /// `nil` for a proxy that everybody may use.
    package var credential: SOCKSCredential?
    /// The hosts that it leads to.
    package var hosts: [HostPattern]

    package init(_ scheme: Scheme, host: String, port: UInt16, hosts: [HostPattern] = []) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.hosts = hosts
    }

    /// As an option says it, without its credential.
    package var text: String {
        let url = "\(scheme.rawValue)://\(HostPort(host: host, port: port))"
        return hosts.isEmpty ? url : "\(hosts[0].text)=\(url)"
    }

    func leads(to host: String) -> Bool {
        hosts.isEmpty || hosts.contains { $0.matches(host) }
    }
}

extension OriginConnector {
    /// Asks a proxy that was connected to for a host of its own side.
    func ask(
        _ upstream: UpstreamProxy, for host: String, _ port: UInt16, over channel: Channel
    ) async throws(OriginFailure) {
        channel.readDeadline = loop.now + configuration.connectTimeout
        channel.writeDeadline = channel.readDeadline
        do throws(Failure) {
            switch upstream.scheme {
            case .http: try await askByConnect(upstream, host, port, PlainStream(channel))
            case .socks5: try await askBySOCKS(upstream, host, port, PlainStream(channel))
            }
        } catch {
            channel.close()
            throw OriginFailure(failure: error, outcome: .originUnreachable)
        }
    }

    private func askByConnect(
        _ upstream: UpstreamProxy, _ host: String, _ port: UInt16, _ stream: PlainStream
    ) async throws(Failure) {
        let name = host.utf8.contains(0x3A) ? "[\(host)]" : host
        var head = "CONNECT \(name):\(port) HTTP/1.1\r\nHost: \(name):\(port)\r\n"
        if let credential = upstream.credential {
            head += "Proxy-Authorization: Basic \(Base64.encode(credential.basicBytes))\r\n"
        }
        try await send([UInt8]((head + "\r\n").utf8), upstream, stream)
        var interims = InterimAllowance()
        while true {
            let head = try await receiveHead(upstream, stream)
            if head.status / 100 == 2 { return }
            // An interim response may come first (RFC 9110 §15.2).
            guard head.status < 200 else {
                throw head.status == 407
                    ? loginWanted(upstream) : failure(upstream, "answers with \(head.status)")
            }
            do throws(HTTP1Violation) {
                try interims.take(head)
            } catch {
                throw failure(upstream, "answers with too many interim responses")
            }
        }
    }

    private func receiveHead(
        _ upstream: UpstreamProxy, _ stream: PlainStream
    ) async throws(Failure) -> ResponseHead {
        var answer: [UInt8] = []
        while answer.count < 16384 {
            answer.append(try await receive(upstream, stream))
            guard answer.suffix(4).elementsEqual([13, 10, 13, 10]) else { continue }
            do throws(HTTP1Violation) {
                if let head = try ResponseReader.read(answer.span, limits: HeadLimits())?.head {
                    return head
                }
            } catch {
                throw failure(upstream, "answers no HTTP: \(error.detail)")
            }
        }
        throw failure(upstream, "answers with a head that does not end")
    }

    private func askBySOCKS(
        _ upstream: UpstreamProxy, _ host: String, _ port: UInt16, _ stream: PlainStream
    ) async throws(Failure) {
        guard let name = SOCKSHost(host) else {
            throw failure(upstream, "cannot be asked for the host \(host)")
        }
        var machine = SOCKSClientMachine(
            to: SOCKSDestination(host: name, port: port), credential: upstream.credential)
        try await send(machine.start, upstream, stream)
        while true {
            let byte = [try await receive(upstream, stream)]
            let step: SOCKSClientMachine.Step
            do throws(SOCKSViolation) {
                step = try machine.receive(byte.span)
            } catch {
                throw error.wantsLogin ? loginWanted(upstream) : failure(upstream, error.detail)
            }
            if !step.send.isEmpty { try await send(step.send, upstream, stream) }
            if step.isDone { return }
        }
    }

    private func send(
        _ bytes: [UInt8], _ upstream: UpstreamProxy, _ stream: PlainStream
    ) async throws(Failure) {
        let out = loop.buffers.take()
        defer { loop.buffers.give(out) }
        out.append(bytes)
        do throws(StreamFailure) {
            try await stream.write(out)
        } catch {
            throw failure(upstream, error.detail)
        }
    }

    /// One byte: what is behind the answer is the origin's.
    private func receive(
        _ upstream: UpstreamProxy, _ stream: PlainStream
    ) async throws(Failure) -> UInt8 {
        let buffer = ByteBuffer(capacity: 1)
        do throws(StreamFailure) {
            guard try await stream.read(into: buffer) == 1 else {
                throw StreamFailure.reset
            }
            // While bytes are there nothing is waited for, and no deadline passes.
            guard loop.now < stream.readDeadline else { throw StreamFailure.timedOut }
        } catch {
            throw failure(upstream, error.detail)
        }
        return buffer[0]
    }

    /// Not to be asked again with the same login: proxies lock accounts (RFC 9110 §15.5.8).
    private func loginWanted(_ upstream: UpstreamProxy) -> Failure {
        Failure(
            OriginFailureText.proxyLoginCode, party: .origin,
            "the upstream proxy \(upstream.host) port \(upstream.port) wants a login"
                + (upstream.credential == nil ? "" : ", and does not take the one that it got"),
            hint: configuration.upstreamHint)
    }

    private func failure(_ upstream: UpstreamProxy, _ detail: String) -> Failure {
        Failure(
            "upstream-failed", party: .origin,
            "the upstream proxy \(upstream.host) port \(upstream.port) \(detail)")
    }
}
