internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic
internal import Transport

extension ExchangeTask {
    /// Sends the request on and brings the response back.
    func forward(_ outgoing: OutgoingRequest) async throws(ConnectionEnd) {
        var rule = RetryRule(
            isRepeatable: outgoing.isRepeatable, mirrorsOrigin: task.mirrorsOrigin)
        while let origin = try await origin(for: outgoing) {
            if origin.version != client.version {
                record?.record.originProtocolName = origin.version.text
            }
            do throws(RelayFailure) {
                try await pass(outgoing, origin)
            } catch {
                noteEvidence(of: origin)
                let attempt = RetryRule.Attempt(
                    isOnUsedConnection: origin.isOnUsedConnection,
                    hasResponseBegun: hasResponseBegun, hasTakenContent: hasTakenContent,
                    isCut: worker.isCut)
                origins.giveUp(origin, after: error)
                if rule.allows(attempt, after: error) { continue }
                return try await fail(error)
            }
            if let requestFailure { try client.end(.answered(requestFailure)) }
            return
        }
    }

    /// Who is asked next.
    ///
    /// Apart, so that its frame is not held while the response is waited for.
    ///
    /// - Returns: `nil` if there is nobody, and the client has been told.
    @inline(never)
    private func origin(
        for outgoing: OutgoingRequest
    ) async throws(ConnectionEnd) -> (any OriginExchange)? {
        // Nobody is asked for a client that has left in the meantime.
        if let failure = client.lost {
            try await fail(failure)
            return nil
        }
        if let responder = worker.respond(to: outgoing, of: task, in: client.version) {
            return responder
        }
        if origins.hasLostOrigin(of: outgoing) {
            let (code, detail) = RelayFailure.originEnded.words(responseHead: [])
            finish(error: code, detail)
            try client.end(.lostOrigin(detail))
            return nil
        }
        if let ready = origins.originAtHand(for: outgoing) { return ready }
        do throws(OriginFailure) {
            return try await origins.origin(for: outgoing)
        } catch {
            task.note(error)
            await answer(ToolResponse(error.failure))
            return nil
        }
    }

    /// Records a head that broke the protocol, as far as it came.
    @inline(never)
    private func noteEvidence(of origin: any OriginExchange) {
        guard let record, record.record.responseHead.isEmpty else { return }
        if let head = origin.refusedHead {
            record.note(head)
        } else {
            record.record.responseHead = origin.brokenHead
        }
    }

    private func pass(
        _ outgoing: OutgoingRequest, _ origin: any OriginExchange
    ) async throws(RelayFailure) {
        if let failure = client.lost { throw failure }
        waitedFor = origin
        isAwaitingResponse = false
        defer { waitedFor = nil }
        if outgoing.upgrade != nil, origin.refusesUpgrades { throw .unanswered(.noExtendedConnect) }
        if outgoing.isChanged { record?.record.sentRequestHead = outgoing.head.raw }
        if outgoing.hasContent { client.beginContent(outgoing.framing, for: origin) }
        let switched: ResponseHead?
        if !outgoing.hasContent || client.hasWholeContent(outgoing) {
            do throws(RelayFailure) {
                try await send(outgoing, to: origin)
            } catch  where error.isOriginGone {
                return try await readLast(of: origin, behind: error)
            }
            switched = try await receive(origin)
        } else {
            switched = try await passBothWays(outgoing, origin)
        }
        // Only here, where nothing of the request is sent any more: what goes on as a tunnel reads
        // and writes both connections itself.
        if let switched { return try await goOn(behind: switched, origin) }
        origin.finish(isWhole: isRequestComplete)
        guard let requestFailure else {
            if outgoing.hasContent, !isRequestComplete, !isContentUnasked {
                task.noteOnce(
                    "request-unfinished",
                    "a response was whole before its request, the rest of which was not read")
            }
            return finish()
        }
        let (code, detail) = requestFailure.words
        finish(error: code, detail)
    }

    /// Reads what an origin had said before it broke off: an alert that explains it, or a response.
    private func readLast(
        of origin: any OriginExchange, behind failure: RelayFailure
    ) async throws(RelayFailure) {
        let switched: ResponseHead?
        do throws(RelayFailure) {
            switched = try await receive(origin)
        } catch {
            throw hasResponseBegun || error.demandsCertificate ? error : failure
        }
        guard switched == nil else { throw failure }
        origin.finish(isWhole: false)
        finish()
    }

    // MARK: The request

    /// Sends a request of which nothing is still to come, its content together with the head if that
    /// fits.
    private func send(
        _ outgoing: OutgoingRequest, to origin: any OriginExchange
    ) async throws(RelayFailure) {
        guard outgoing.hasContent else {
            isRequestComplete = outgoing.upgrade == nil
            return try await origin.send(outgoing, with: nil, endsRequest: isRequestComplete)
        }
        let buffer = worker.loop.buffers.take()
        defer { worker.loop.buffers.give(buffer) }
        _ = try await client.readContent(into: buffer, of: self)
        isRequestComplete = client.hasReadContent
        try await origin.send(outgoing, with: buffer, endsRequest: false)
        try await sendContent(to: origin, through: buffer)
    }

    /// Sends what is left of the content.
    private func sendContent(
        to origin: any OriginExchange, through buffer: ByteBuffer
    ) async throws(RelayFailure) {
        while !client.hasReadContent {
            buffer.removeAll()
            guard try await client.readContent(into: buffer, of: self) > 0 else { break }
            try await origin.sendContent(buffer)
            if !client.hasReadContent { await worker.recorder.waitForRoom() }
        }
        let trailers = client.requestTrailers
        record?.noteTrailers(trailers.raw, .request)
        task.noteForbidden(trailers)
        try await origin.endContent(trailers: trailers)
        // Before anything else is waited for: the answer may be judged meanwhile.
        isRequestComplete = true
    }

    /// Sends the content while the response may already come: an origin may refuse early, ask for
    /// the content with 100 (RFC 9110 §10.1.1), answer while it listens, or answer and read on.
    ///
    /// - Returns: a head that changes over to another protocol; `nil` if the response has passed.
    @inline(never)
    private func passBothWays(
        _ outgoing: OutgoingRequest, _ origin: any OriginExchange
    ) async throws(RelayFailure) -> ResponseHead? {
        let both = BothEnds()
        if origin.http1 == nil { try await origin.send(outgoing, with: nil, endsRequest: false) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                let buffer = self.worker.loop.buffers.take()
                defer { self.worker.loop.buffers.give(buffer) }
                do throws(RelayFailure) {
                    if origin.http1 != nil {
                        try await origin.send(outgoing, with: nil, endsRequest: false)
                    }
                    try await self.sendContent(to: origin, through: buffer)
                    await self.worker.recorder.waitForRoom()
                } catch {
                    both.noteSend(error)
                    // An origin that stops listening may still have said why.
                    if error.endsReception { origin.stopReceiving() }
                    if both.isAnswered { self.client.stopRequest(isAnswered: true) }
                }
            }
            group.addTask {
                var hasFailed = false
                do throws(RelayFailure) {
                    both.switched = try await self.receive(origin)
                } catch {
                    both.noteReceive(error)
                    hasFailed = true
                }
                guard !self.isRequestComplete else { return }
                both.isAnswered = !hasFailed && both.switched == nil
                if both.isAnswered, self.goesOn(origin) {
                    self.client.hurryContent()
                    // As long as the origin is there.
                    origin.onLeaving { self.stopRequest(to: origin, both) }
                    return
                }
                self.stopRequest(to: origin, both)
            }
            await group.waitForAll()
        }
        if both.isAnswered { origin.onLeaving(nil) }
        client.resumeRequest()
        if let cause = both.cause { throw cause }
        requestFailure = both.requestFailure
        return isRequestComplete ? both.switched : nil
    }

    /// What the client still sends has no reader, or it may be read for another origin.
    private func stopRequest(to origin: any OriginExchange, _ both: BothEnds) {
        both.isStopped = true
        origin.stopSending()
        client.stopRequest(isAnswered: both.isAnswered)
    }

    /// Whether the content goes on behind the whole response: both sides do that by themselves if the
    /// request was not refused. A client that asked first knows that nobody waits for it, and an old one
    /// may wait for the end of its connection.
    private func goesOn(_ origin: any OriginExchange) -> Bool {
        !isRefused && !isContentUnasked && request?.version != .http10 && origin.readsOn
    }

    /// Whether the client waits to be asked for the content (RFC 9110 §10.1.1).
    private var isContentUnasked: Bool {
        !hasTakenContent && request?.fields.contains(.expect, token: "100-continue") == true
    }

    // MARK: The response

    /// Brings the responses to the client: the interim ones in order, and the final.
    ///
    /// - Returns: a final head that changes over to another protocol, and has not been passed on
    ///   yet; `nil` if the response has passed.
    func receive(_ origin: any OriginExchange) async throws(RelayFailure) -> ResponseHead? {
        var interims = InterimAllowance()
        isAwaitingResponse = true
        while true {
            // It may have said so together with its request.
            client.hurryIfEnded()
            let head = try await origin.nextHead(deadline: worker.loop.now + limits.responseTimeout)
            guard head.isInterim else {
                if origin.isSwitching { return head }
                guard head.status >= 200 else { throw .originViolation(.unaskedSwitch) }
                try await deliver(head, from: origin)
                return nil
            }
            try head.count(in: &interims)
            try await inform(head)
        }
    }

    /// Apart, because few origins have such responses.
    @inline(never)
    private func inform(_ head: ResponseHead) async throws(RelayFailure) {
        record?.record.interimHeads.append(head.raw)
        try await client.inform(task.withoutHTTP3(head) ?? head)
    }

    /// Passes the final response on.
    private func deliver(
        _ head: ResponseHead, from origin: any OriginExchange
    ) async throws(RelayFailure) {
        let isEmpty = origin.hasNoContent
        isRefused = head.status >= 400
        record?.note(head)
        record?.watchContent(behind: head.fields, .response)
        let sent =
            worker.interceptors.editors.isEmpty ? unedited(head) : try await edited(head)
        let isSent = try await client.begin(sent, from: origin, isEmpty: isEmpty, of: self)
        if !isSent, !isEmpty { try await passContent(from: origin) }
        let trailers = origin.trailers
        record?.noteTrailers(trailers.raw, .response)
        task.noteForbidden(trailers)
        if !isSent { try await client.endContent(trailers: trailers) }
    }

    /// How long a response's content is, in bytes; `nil` if its head does not tell.
    func contentLength(of head: ResponseHead) throws(RelayFailure) -> UInt64? {
        do throws(HTTP1Violation) {
            let framing = try MessageFraming.ofResponse(
                head, toMethod: request?.knownMethod ?? .other, offer: .none,
                isRequestWhole: isRequestComplete)
            return switch framing {
            case .length(let length): length
            case .none: 0
            case .chunked, .untilClose, .tunnel: nil
            }
        } catch {
            throw .originViolation(error)
        }
    }

    private func passContent(from origin: any OriginExchange) async throws(RelayFailure) {
        let content = worker.loop.buffers.take()
        defer { worker.loop.buffers.give(content) }
        while true {
            // What waits goes along with content that is there.
            if client.holdsBack, !origin.isContentWaiting { try await client.flush() }
            content.removeAll()
            let deadline = worker.loop.now + limits.bodyTimeout
            guard try await origin.readContent(into: content, deadline: deadline) > 0 else {
                return
            }
            passedTick = worker.loop.now
            record?.append(content.readable, .response)
            try await client.sendContent(content)
            if worker.recorder.isCongested { await worker.recorder.waitForRoom() }
        }
    }

    // MARK: Tunnels

    /// Passes a 101 or a 2xx to CONNECT on and relays what follows, in whatever protocol.
    private func goOn(
        behind head: ResponseHead, _ origin: any OriginExchange
    ) async throws(RelayFailure) {
        waitedFor = nil
        if try await client.changeOver(head, with: origin, of: self) { return }
        let sent = task.withoutHTTP3(head) ?? head
        record?.note(head)
        if sent.raw != head.raw { record?.record.sentResponseHead = sent.raw }
        hasResponseBegun = true
        let (stream, early) = try await client.switchOver(sent)
        let (far, late) = origin.tunnel()
        let id = record?.record.id ?? 0
        let messages =
            WebSocketRecorder.isBegun(by: head, asked: request)
            ? WebSocketRecorder(
                task, exchange: id, response: head, byteLimit: task.policy.value.recordedBody) : nil
        let tunnel = TunnelTask(
            client: stream, origin: far, worker: worker, early: early, late: late
        ) { [task] direction, bytes in
            if let messages {
                task.observe(direction, bytes, messages)
            } else {
                task.recordSegment(bytes, direction, exchange: id)
            }
        }
        let side = await task.passBytes(through: tunnel)
        messages?.finish()
        let isClosed = messages?.isClosed ?? false
        let broken = isClosed ? nil : task.brokenEnd(tunnel.failure, by: side)
        if client.ownsConnection {
            if let broken { task.note(broken) }
            task.record.closedBy = side
        } else if broken != nil, side == .client {
            client.noteBreak()
        }
        origin.finish(isWhole: false)
        finish(error: broken.map { _ in Self.code(ofBreakBy: side) }, broken?.cause)
    }

    /// The code of what relayed bytes and did not end in order.
    private static func code(ofBreakBy side: ConnectionRecord.Side) -> String {
        switch side {
        case .client: "client-closed"
        case .origin: "origin-closed"
        case .tool: "timed-out"
        }
    }
}
