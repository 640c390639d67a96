internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic
internal import Transport

/// A request as it goes on to its origin.
final class OutgoingRequest: Sendable {
    let head: RequestHead
    let origin: OriginTarget
    let target: [UInt8]?
    let host: [UInt8]?
    let framing: BodyFraming
    /// What the client wants to speak on the exchange from then on, if that has to be asked for in
    /// another way than the client did; `nil` for all other requests.
    let upgrade: StreamUpgrade?
    /// Whether what it says to a proxy goes on.
    let keepsProxyFields: Bool

    init(
        head: RequestHead, origin: OriginTarget, target: [UInt8]?, host: [UInt8]?,
        framing: BodyFraming, upgrade: StreamUpgrade? = nil, through entry: Entry
    ) {
        keepsProxyFields = !entry.isProxy
        self.head = head
        self.origin = origin
        self.target = target
        self.host = host
        self.framing = framing
        self.upgrade = upgrade
    }

    /// Whether it may be sent again if a connection that was open already turns out to be dead:
    /// nothing of it may have had an effect twice (RFC 9110 §9.2.2, RFC 9112 §9.3.1).
    var isRepeatable: Bool {
        guard framing == .none else { return false }
        if head.knownMethod == .get || head.knownMethod == .head { return true }
        return ["OPTIONS", "TRACE", "PUT", "DELETE"].contains(head.method.text)
    }
}

/// A request to speak another protocol, as it is put in both versions of HTTP.
struct StreamUpgrade: Sendable {
    /// Such as `websocket`.
    let protocolName: [UInt8]
    /// What HTTP/1 needs for it (RFC 6455 §4.1).
    let fields: [AddedField]
}

/// Why an exchange cannot go on; says which side is to blame.
enum RelayFailure: Error {
    case origin(StreamFailure)
    /// The origin ended where more was due.
    case originEnded
    case originViolation(HTTP1Violation)
    /// The origin's stream of HTTP/2 brings nothing more.
    case originStream(HTTP2StreamFailure)
    /// The origin ended TLS without close_notify where only the end tells that all has come.
    case originTruncated
    /// Whoever answers in the origin's place has no answer.
    case unanswered(ToolResponse)
    case client(StreamFailure)
    case clientStream(HTTP2StreamFailure)
    /// The client ended where more was due.
    case clientEnded
    /// The client has gone while its origin was waited for.
    case clientLeft
    case clientViolation(HTTP1Violation)

    init(_ failure: OriginReadFailure) {
        self =
            switch failure {
            case .stream(let failure): .origin(failure)
            case .ended: .originEnded
            case .violation(let violation): .originViolation(violation)
            }
    }
}

extension HTTP1Relay {
    /// Sends a request on and brings the response back.
    func forward(_ outgoing: OutgoingRequest) async throws(ConnectionEnd) -> Next {
        if let answered = try await answerInPlace(outgoing) { return answered }
        var rule = RetryRule(
            isRepeatable: outgoing.isRepeatable, mirrorsOrigin: task.mirrorsOrigin)
        while true {
            let leg: OriginLeg
            if task.mirrorsOrigin, let own = task.origin, !own.isReady {
                dropOrigin()
                return try await fail(.originEnded)
            }
            do throws(OriginFailure) {
                leg = try await acquire(outgoing.origin)
            } catch {
                task.note(error)
                return await answer(ToolResponse(error.failure))
            }
            let isUsed = leg.exchangeCount > 0
            leg.exchangeCount += 1
            leg.notePersonal(outgoing.head.fields)
            do throws(RelayFailure) {
                let next =
                    try await leg.http2 == nil
                    ? relay(outgoing, over: leg) : relayAcross(outgoing, over: leg)
                await worker.recorder.waitForRoom()
                return next
            } catch {
                // A connection that refused one stream may take the next.
                if !error.isUnprocessed { dropOrigin() }
                let attempt = RetryRule.Attempt(
                    isOnUsedConnection: isUsed, hasResponseBegun: hasResponseBegun,
                    hasTakenContent: hasTakenContent, isCut: worker.isCut)
                if rule.allows(attempt, after: error) { continue }
                return try await fail(error)
            }
        }
    }

    /// The connection that this client uses for an origin, or another one.
    private func acquire(_ target: OriginTarget) async throws(OriginFailure) -> OriginLeg {
        if let leg = task.origin {
            if leg.target == target, leg.isReady { return leg }
            task.origin = nil
            task.release(leg)
        }
        let name = serverName ?? (target.isSecure ? target.serverName : nil)
        let leg = try await task.leg(
            to: target, serverName: name, offer: worker.plan.offer(to: target, ["http/1.1"]))
        task.note(leg)
        if let failure = task.refusal(of: leg) {
            // Kept, it would serve the next request without being asked for its certificate.
            dropOrigin()
            throw failure
        }
        return leg
    }

    func dropOrigin() { task.dropOrigin() }

    private func relay(
        _ outgoing: OutgoingRequest, over leg: OriginLeg
    ) async throws(RelayFailure) -> Next {
        scratch.removeAll(keepingCapacity: true)
        offer = offer(of: outgoing.head, over: leg)
        HeadWriter.writeRequest(
            outgoing.head, target: outgoing.target.map { $0[...] },
            forwarding: forwarding(of: outgoing, over: leg), into: &scratch)
        leg.stream.channel.resumeWaiting()
        let reception: Reception
        if outgoing.framing == .none || isBuffered(outgoing.framing),
            !outgoing.head.fields.contains(.expect)
        {
            do throws(RelayFailure) {
                try await sendWhole(outgoing, over: leg)
            } catch  where error.isOriginGone {
                return try await readLast(of: leg, behind: error)
            }
            reception = try await receive(over: leg)
        } else {
            reception = try await relayAtOnce(outgoing, over: leg)
        }
        switch reception {
        case .delivered(let next): return next
        // Only here, where nothing of the request is sent any more: what goes on as a tunnel reads
        // and writes both connections itself.
        case .switched(let head): return try await goOn(behind: head, over: leg)
        }
    }

    /// An origin of the client's own is told what the client says of its connection, another one
    /// what holds between it and us.
    private func forwarding(of outgoing: OutgoingRequest, over leg: OriginLeg) -> Forwarding {
        let (version, fields) = (outgoing.head.version, outgoing.head.fields)
        guard leg.isOwned else {
            // HTTP/1.1 wants a Host that HTTP/1.0 does not (RFC 9112 §3.2).
            let host = fields.contains(.host) ? nil : Array(outgoing.origin.authority.utf8)
            return Forwarding(
                keepsUpgrade: !offer.isEmpty, keepsProxyFields: outgoing.keepsProxyFields,
                host: outgoing.host ?? host)
        }
        let isOld = version == .http10
        return Forwarding(
            keepsVersion: true, keepsUpgrade: !offer.isEmpty,
            keepsProxyFields: outgoing.keepsProxyFields,
            closes: isOld ? fields.contains(.connection, token: "close") : !requestKeepsAlive,
            keepsAlive: fields.asksToKeepAlive, host: outgoing.host)
    }

    /// Reads what an origin had said before it broke off: an alert that explains it, or a response.
    private func readLast(
        of leg: OriginLeg, behind failure: RelayFailure
    ) async throws(RelayFailure) -> Next {
        let reception: Reception
        do throws(RelayFailure) {
            reception = try await receive(over: leg)
        } catch {
            throw hasResponseBegun || error.demandsCertificate ? error : failure
        }
        guard case .delivered(let next) = reception else { throw failure }
        return next
    }

    /// Whether the whole body has arrived behind the head.
    private func isBuffered(_ framing: BodyFraming) -> Bool {
        guard case .length(let length) = framing, let clientBuffer else { return false }
        return length <= UInt64(clientBuffer.count)
    }

    /// Sends the head with a body that is there, in one piece if it fits.
    private func sendWhole(
        _ outgoing: OutgoingRequest, over leg: OriginLeg
    ) async throws(RelayFailure) {
        let out = loop.buffers.take()
        defer { loop.buffers.give(out) }
        try await sendHead(through: out, over: leg)
        if case .length(let length) = outgoing.framing, let clientBuffer {
            let content = clientBuffer.readable.extracting(..<Int(length))
            exchange?.append(content, .request)
            hasTakenContent = true
            if content.count > out.room { try await send(out, over: leg) }
            out.append(clientBuffer.readable.extracting(..<Int(length)))
            clientBuffer.consume(Int(length))
            if clientBuffer.isEmpty { releaseClientBuffer() }
        }
        isRequestComplete = true
        try await send(out, over: leg)
    }

    /// Puts the head into `out`; what does not fit goes ahead.
    private func sendHead(
        through out: ByteBuffer, over leg: OriginLeg
    ) async throws(RelayFailure) {
        let head = scratch
        var start = 0
        while head.count - start > out.room {
            let count = out.room
            out.append(head.span.extracting(start..<start + count))
            start += count
            try await send(out, over: leg)
        }
        out.append(head.span.extracting(start...))
    }

    private func send(_ buffer: ByteBuffer, over leg: OriginLeg) async throws(RelayFailure) {
        leg.stream.writeDeadline = loop.now + limits.bodyTimeout
        do throws(StreamFailure) {
            try await leg.stream.write(buffer)
        } catch {
            throw .origin(error)
        }
    }

    // MARK: Both directions at once

    /// Sends the body while the response may already come: an origin may refuse early, ask for the
    /// body with 100 (RFC 9110 §10.1.1), or answer while it listens.
    private func relayAtOnce(
        _ outgoing: OutgoingRequest, over leg: OriginLeg
    ) async throws(RelayFailure) -> Reception {
        let both = BothEnds()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do throws(RelayFailure) {
                    try await self.sendInPieces(outgoing, over: leg)
                } catch {
                    both.noteSend(error)
                    // An origin that stops listening may still have said why.
                    if !error.isOriginGone { leg.stream.channel.interrupt() }
                }
            }
            group.addTask {
                do throws(RelayFailure) {
                    both.reception = try await self.receive(over: leg)
                } catch {
                    both.noteReceive(error)
                }
                if !self.isRequestComplete {
                    self.client.channel.interrupt()
                    leg.stream.channel.interrupt()
                }
            }
            await group.waitForAll()
        }
        client.channel.resumeWaiting()
        if let cause = both.cause { throw cause }
        guard isRequestComplete else {
            dropOrigin()
            return .delivered(.close)
        }
        return both.reception
    }

    private func sendInPieces(
        _ outgoing: OutgoingRequest, over leg: OriginLeg
    ) async throws(RelayFailure) {
        let out = loop.buffers.take()
        defer { loop.buffers.give(out) }
        try await sendHead(through: out, over: leg)
        try await send(out, over: leg)
        var reader = BodyReader(outgoing.framing)
        while !reader.isComplete {
            try await fillClientBuffer()
            guard let buffer = clientBuffer else { throw .clientEnded }
            let consumed = try consumeRequestBody(buffer, &reader)
            out.append(buffer.readable.extracting(..<(consumed - reader.withheldCount)))
            buffer.consume(consumed)
            if buffer.isEmpty { releaseClientBuffer() }
            try await send(out, over: leg)
            if !reader.isComplete { await worker.recorder.waitForRoom() }
        }
        if !reader.closing.isEmpty {
            out.append(reader.closing)
            try await send(out, over: leg)
        }
        exchange?.noteTrailers(reader.trailers.raw, .request)
        task.noteForbidden(reader.trailers)
        // Before anything else is waited for: the answer may be judged meanwhile.
        isRequestComplete = true
        await worker.recorder.waitForRoom()
    }

    private func consumeRequestBody(
        _ buffer: ByteBuffer, _ reader: inout BodyReader
    ) throws(RelayFailure) -> Int {
        let bytes = buffer.readable
        hasTakenContent = true
        do throws(HTTP1Violation) {
            return try reader.consume(bytes) { range in
                exchange?.append(bytes.extracting(range), .request)
            }
        } catch {
            throw .clientViolation(error)
        }
    }

    func fillClientBuffer() async throws(RelayFailure) {
        if let clientBuffer, !clientBuffer.isEmpty { return }
        client.readDeadline = loop.now + limits.bodyTimeout
        let count: Int
        do throws(StreamFailure) {
            if clientBuffer == nil { try await client.waitReadable() }
            let buffer = clientBuffer ?? loop.buffers.take()
            clientBuffer = buffer
            count = try await client.read(into: buffer)
        } catch {
            releaseClientBuffer()
            throw .client(error)
        }
        if count == 0 {
            releaseClientBuffer()
            throw .clientEnded
        }
    }

    // MARK: Failures

    /// Whether it was for the client's sake that an origin was no longer waited for.
    private func hasClientLeft(_ failure: RelayFailure) -> Bool {
        switch failure {
        case .origin(.closed): client.channel.isBroken
        // It gave up what it was told that nobody waits for.
        case .originEnded, .origin(.reset): hasPassedEndOn && !hasResponseBegun
        case .origin(.timedOut): client.channel.peerEnded
        default: false
        }
    }

    /// Answers, or ends the connection, as far as the response had come.
    func fail(_ failure: RelayFailure) async throws(ConnectionEnd) -> Next {
        let failure = hasClientLeft(failure) ? RelayFailure.clientLeft : failure
        switch failure {
        case _ where task.isCut:
            finish()
            return .close
        case .origin, .originEnded, .originViolation, .originStream, .originTruncated:
            let (code, detail) = failure.words(responseHead: exchange?.record.responseHead ?? [])
            let isTimeout = code == "origin-timed-out"
            guard hasResponseBegun || (task.mirrorsOrigin && !isTimeout) else {
                task.note(failure, detail)
                return await answer(
                    ToolResponse(
                        isTimeout ? 504 : 502, code, detail,
                        hint: worker.origins.text.hint(failure.streamFailure)))
            }
            finish(error: code, detail)
            endAsOrigin(failure)
            throw ConnectionEnd(isTimeout ? .timedOut : .broken, detail, by: .origin)
        case .unanswered(let answer): return await self.answer(answer)
        case .client, .clientStream, .clientEnded, .clientLeft:
            let (code, detail) = failure.words
            finish(error: code, detail)
            client.close()
            throw ConnectionEnd(code == "timed-out" ? .timedOut : .broken, detail, by: .client)
        case .clientViolation(let violation):
            guard !hasResponseBegun else {
                finish(error: "bad-request", violation.detail)
                throw ConnectionEnd(
                    .refused, "client sent a malformed body: \(violation.code)", by: .tool)
            }
            try await refuse(violation)
        }
    }
}

extension HTTP1Relay {
    /// Ends the client's connection where its response, or more of it, was due.
    private func endAsOrigin(_ failure: RelayFailure) {
        if task.mirrorsOrigin, case .originEnded = failure {
            // As the origin did: without TLS in order, and else without close_notify.
            if task.session != nil { client.close() }
            return
        }
        // The client must not take half a response for a whole one.
        client.close(reset: true)
    }
}

extension RelayFailure {
    /// Whether the origin went away, as a connection does that was kept for too long.
    var isOriginGone: Bool {
        switch self {
        case .originEnded, .origin(.reset), .origin(.system), .origin(.tls): true
        case .originStream(.connectionLost): true
        default: false
        }
    }

    /// Whether the origin has surely done nothing with the request.
    var isUnprocessed: Bool {
        guard case .originStream(let failure) = self else { return false }
        return failure.isUnprocessed
    }

    /// The code and the words of the record.
    var words: (code: String, detail: String) {
        switch self {
        case .origin(let failure) where demandsCertificate:
            (OriginFailureText.certificateCode, "origin \(failure.detail)")
        case .originStream(let failure) where demandsCertificate:
            (OriginFailureText.certificateCode, "origin \(failure.detail)")
        case .origin(.timedOut): ("origin-timed-out", "origin did not answer in time")
        case .origin(let failure): ("origin-closed", "origin \(failure.detail)")
        case .originStream(.timedOut): ("origin-timed-out", "origin did not answer in time")
        case .originStream(.malformed(let detail)):
            ("bad-response", "the origin's response is malformed: \(detail)")
        case .originStream(.reset(let code)):
            ("origin-reset", "origin reset the stream with \(HTTP2ErrorCode.name(code))")
        case .originStream(.unsent):
            ("head-too-large", "the request's head or trailers are too large for HTTP/2")
        case .clientStream(.unsent):
            ("head-too-large", "the response's head or trailers are too large for HTTP/2")
        case .originStream(let failure): ("origin-closed", "origin \(failure.detail)")
        case .unanswered(let answer): (answer.code, answer.detail)
        case .originTruncated: ("origin-truncated", "origin ended TLS without close_notify")
        case .originEnded:
            ("origin-closed", "origin ended the connection before its response was whole")
        case .originViolation(let violation):
            (
                "bad-response",
                "the origin's response is malformed: \(violation.detail) (\(violation.code))"
            )
        case .client(.timedOut): ("timed-out", "client was silent in the middle of an exchange")
        case .client(let failure): ("client-closed", "client \(failure.detail)")
        case .clientStream(.timedOut):
            ("timed-out", "client was silent in the middle of an exchange")
        case .clientStream(.malformed(let detail)): ("bad-request", detail)
        case .clientStream(.reset(let code)):
            ("client-reset", "client reset the stream with \(HTTP2ErrorCode.name(code))")
        case .clientStream(let failure): ("client-closed", "client \(failure.detail)")
        case .clientEnded:
            ("client-closed", "client ended the connection in the middle of its request")
        case .clientLeft:
            ("client-closed", "client ended the connection before its response was whole")
        case .clientViolation(let violation): ("bad-request", violation.detail)
        }
    }
}
