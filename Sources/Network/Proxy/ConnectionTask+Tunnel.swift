internal import Base
internal import Origins
internal import Recording
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

/// Tunnels, and what else may carry any protocol.
extension ConnectionTask {
    /// Serves what client and origin speak, whatever it is.
    func serveAnything(of host: String, _ port: UInt16) async throws(ConnectionEnd) {
        note(OriginTarget(isSecure: false, host: host, port: port))
        if let refusal = blocking(host) {
            throw ConnectionEnd(.refused, refusal.detail, by: .tool)
        }
        let dialled = isClaimed(host, port) ? nil : try await dial(host, port)
        try await serveTunnel(to: host, port, dialled, readAhead: nil)
    }

    /// Connects to what the connection is for; a failure is its end.
    func dial(_ host: String, _ port: UInt16) async throws(ConnectionEnd) -> DialledOrigin {
        do throws(OriginFailure) {
            return try await reachOrigin(host, port)
        } catch {
            throw ConnectionEnd(error.outcome, error.failure.detail, by: .tool)
        }
    }

    /// Connects to where a tunnel is to lead, before the client is told that it has one.
    ///
    /// - Parameter isNested: whether the tunnel is one of several, and its connection has a record of
    ///   its own.
    /// - Returns: `nil` where an audit may want to be the origin: which origin there is, and whether,
    ///   is none of the client's business then.
    func openTunnel(
        to target: OriginTarget, isNested: Bool
    ) async throws(OriginFailure) -> DialledOrigin? {
        if isClaimed(target.host, target.port) { return nil }
        guard isNested else { return try await reachOrigin(target.host, target.port) }
        do throws(OriginFailure) {
            return try await dialOrStage(target.host, target.port)
        } catch {
            // Nothing inside will tell of it; of several that fail, the first is told of.
            if record.outcome == .open {
                note(target)
                note(error)
            }
            throw error
        }
    }

    private func reachOrigin(
        _ host: String, _ port: UInt16
    ) async throws(OriginFailure) -> DialledOrigin {
        do throws(OriginFailure) {
            let dialled = try await dialOrStage(host, port)
            record.originAddress = dialled.address.description
            return dialled
        } catch {
            note(error)
            throw error
        }
    }

    /// Offers a tunnel to the audit, and connects to its origin if the audit leaves it.
    private func serveClaimedTunnel(
        to host: String, _ port: UInt16, _ readAhead: ByteBuffer?
    ) async throws(ConnectionEnd) {
        let early = try await serveProbe(to: host, port, readAhead)
        let dialled: DialledOrigin
        do throws(ConnectionEnd) {
            dialled = try await dial(host, port)
        } catch {
            if let early { loop.buffers.give(early) }
            throw error
        }
        try await serveTunnel(to: host, port, dialled, readAhead: early)
    }

    /// Looks into a tunnel.
    ///
    /// - Parameter dialled: the connection to the origin that was opened for it; `nil` where an audit
    ///   may want to be the origin.
    func serveTunnel(
        to host: String, _ port: UInt16, _ dialled: DialledOrigin?, readAhead: ByteBuffer?
    ) async throws(ConnectionEnd) {
        guard let dialled else {
            return try await serveClaimedTunnel(to: host, port, readAhead)
        }
        ownsOrigins = true
        let opening: PeekedOpening
        do throws(ConnectionEnd) {
            opening = try await peekTunnel(readAhead, dialled)
        } catch {
            dialled.close()
            throw error
        }
        switch opening.kind {
        case .tls(let hello):
            let target = named(
                OriginTarget(isSecure: true, host: host, port: port), by: hello.serverName)
            // Some clients send no SNI for short names; the origin still has to know who is meant.
            let name = hello.serverName ?? target.serverName
            try await intercept(
                target, hello, opening, serverName: name, dialled: dialled,
                entry: .fixed(target, host: nil))
        case .http:
            let target = OriginTarget(isSecure: false, host: host, port: port)
            if worker.responders(for: host).isEmpty {
                adopt(dialled, for: target, offer: policy.value.offer(to: target, []))
            } else {
                dialled.close()
            }
            try await serveHTTP(
                PlainStream(channel, readAhead: opening.takeBytes()),
                through: .fixed(target, host: nil))
        case .http2Preface:
            let target = OriginTarget(isSecure: false, host: host, port: port)
            record.protocolName = "h2c"
            if worker.responders(for: host).isEmpty {
                adopt(
                    dialled, for: target,
                    offer: policy.value.originVersion == .http1 ? .plain : .plainHTTP2)
            } else {
                dialled.close()
            }
            try await serveHTTP2(
                PlainStream(channel, readAhead: opening.takeBytes()),
                through: .fixed(target, host: nil))
        case .brokenTLS:
            dialled.close()
            try await refuse(opening)
        case .socks, .unknown, .silent:
            try await serveDialogue(dialled, early: opening.takeBytes())
        }
    }

    /// Serves a tunnel that was asked for inside of something else than a plain socket: what comes
    /// through it is a connection of its own.
    ///
    /// - Parameters:
    ///   - dialled: the connection to the origin that was opened for it; `nil` where an audit may
    ///     want to be the origin.
    ///   - ends: a pair of sockets: the client's end of the connection inside, and the tunnel's.
    ///   - readAhead: what came through the tunnel before; owned by it now.
    func nest(
        _ outer: any TunnelStream, to target: OriginTarget, dialled: DialledOrigin?,
        over ends: (near: Channel, far: Channel), readAhead: ByteBuffer?
    ) async {
        let inner = ConnectionTask(
            ends.near, peer: peer, port: self.port, worker: worker, policy: policy,
            isLocal: isLocal)
        let tunnel = TunnelTask(
            client: outer, origin: PlainStream(ends.far), worker: worker, early: readAhead,
            late: nil
        ) { _, _ in }
        nestingCount += 1
        await withDiscardingTaskGroup { group in
            group.addTask {
                await inner.runTunnel(of: self, to: target, dialled)
                tunnel.interruptClient(
                    in: self.worker.isDraining ? 100 : self.limits.halfCloseGrace)
            }
            group.addTask {
                _ = await tunnel.run()
                ends.far.close()
            }
        }
        nestingCount -= 1
    }

    private func runTunnel(
        of outer: ConnectionTask, to target: OriginTarget, _ dialled: DialledOrigin?
    ) async {
        worker.opened(self)
        // An audit treats two programs differently, and asks for the one inside.
        if dialled == nil { await outer.awaitProcess() }
        record.process = outer.record.process
        note(target)
        do throws(ConnectionEnd) {
            try await serveTunnel(to: target.host, target.port, dialled, readAhead: nil)
        } catch {
            note(error)
        }
        record.process = outer.record.process
        await end()
    }
}
