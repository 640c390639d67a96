internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic
internal import Transport

/// One exchange, from its request's head to its record, in whatever versions of HTTP client and
/// origin speak: route, admit, forward, retry, answer, fail, record.
///
/// `@unchecked Sendable`: the task and its children run on one loop's executor.
final class ExchangeTask: @unchecked Sendable {
    let client: any ExchangeClient
    let origins: any OriginSource
    let task: ConnectionTask
    let worker: ProxyWorker
    /// `nil` for what broke the protocol before it was a request.
    let request: RequestHead?
    /// `nil` once it was taken back that there was an exchange.
    private(set) var record: ExchangeRecorder?
    /// Whether the last byte of the request was taken from the client, and has gone to the origin.
    var isRequestComplete = false
    /// When content of the response passed last, in milliseconds of the loop's clock.
    var passedTick: UInt64 = 0
    /// What the client did to the request although its response has passed whole.
    var requestFailure: RelayFailure?
    /// Whether something of a final response has gone to the client.
    var hasResponseBegun = false
    /// Whether the final response is an error of either side (RFC 9110 §15.5, §15.6).
    var isRefused = false
    /// Whether some of the request's content was taken; it cannot be had again.
    var hasTakenContent = false
    /// The origin that is asked, and whether its response is waited for already.
    var isAwaitingResponse = false
    /// The request as it goes on; `nil` while that is not known.
    private(set) var outgoing: OutgoingRequest?
    var waitedFor: (any OriginExchange)?

    /// - Parameters:
    ///   - head: of the request, or what came in its place.
    ///   - request: the same as a head; `nil` if it is none.
    init(
        _ head: [UInt8], _ request: RequestHead?, at startedAt: Timestamp,
        client: any ExchangeClient, origins: any OriginSource
    ) {
        self.client = client
        self.origins = origins
        self.request = request
        task = origins.task
        worker = origins.task.worker
        record = origins.task.beginExchange(head, at: startedAt)
        if let request {
            record?.watchContent(behind: request.fields, .request)
        }
    }

    /// Goes on with an exchange that began before the client's connection spoke HTTP/2.
    init(
        continuing record: ExchangeRecorder, of request: RequestHead, as outgoing: OutgoingRequest?,
        client: any ExchangeClient, origins: any OriginSource
    ) {
        self.client = client
        self.origins = origins
        self.request = request
        self.outgoing = outgoing
        self.record = record
        task = origins.task
        worker = origins.task.worker
        isRequestComplete = true
    }

    var limits: ProxyLimits { worker.limits }

    /// Whether the proxy's own page is being sent. It is no traffic of the client's, and not recorded
    /// but for its connection.
    private(set) var isOwnUnderWay = false

    /// Whether the record has been handed over, or there is none to be.
    var isOver: Bool { record?.isFinished ?? !isOwnUnderWay }

    func announce(olderThan microseconds: Int64) {
        nameAuthority()
        record?.announce(olderThan: microseconds)
    }

    /// Records what the client said, where nothing was asked for yet.
    private func nameAuthority() {
        guard let record, record.record.authority.isEmpty, let host = request?.fields.first(.host)
        else { return }
        record.record.authority = host.text
    }

    /// - Throws: why the client's connection ends with it.
    func run() async throws(ConnectionEnd) {
        if let outgoing = try await admit() { try await forward(outgoing) }
        if worker.recorder.isCongested { await worker.recorder.waitForRoom() }
    }

    /// Routes the request, and answers what does not go on.
    ///
    /// Apart, so that its frame is not held while the response is waited for.
    ///
    /// - Returns: the request as it goes on; `nil` if it has been answered.
    @inline(never)
    private func admit() async throws(ConnectionEnd) -> OutgoingRequest? {
        let step: Step
        do throws(HTTP1Violation) {
            step = try route()
        } catch {
            try await refuse(error)
            return nil
        }
        switch step {
        case .answer(let response): await answer(response)
        case .connect(let host, let port): try await connect(host, port)
        case .forward(var outgoing):
            if !worker.interceptors.probers.isEmpty { try await serveProbe(outgoing.origin) }
            if !worker.interceptors.editors.isEmpty {
                do throws(RelayFailure) {
                    outgoing = try await edited(outgoing)
                } catch {
                    try await fail(error)
                    return nil
                }
            }
            self.outgoing = outgoing
            return outgoing
        }
        return nil
    }

    /// Goes on with an exchange whose request has gone to its origin.
    func resume(_ origin: any OriginExchange) async throws(ConnectionEnd) {
        waitedFor = origin
        defer { waitedFor = nil }
        do throws(RelayFailure) {
            _ = try await receive(origin)
            origin.finish(isWhole: true)
            finish()
        } catch {
            origin.finish(isWhole: false)
            try await fail(error)
        }
    }

    /// Takes the record away, to be finished by another.
    func takeRecord() -> ExchangeRecorder? { record.take() }

    // MARK: Where it goes

    private enum Step {
        // Apart: it is large, and most requests have none.
        indirect case answer(ToolResponse)
        case connect(String, UInt16)
        case forward(OutgoingRequest)
    }

    /// Tells what is to be done.
    ///
    /// Heads are large: what suspends must not hold one in its frame.
    @inline(never)
    private func route() throws(HTTP1Violation) -> Step {
        guard let head = request else { return .answer(.notAProxyRequest) }
        let opening = client.openingHead
        if opening != nil, head.fields.all(.host).count > 1 { throw .duplicateHost }
        let entry = origins.entry
        var route = try RequestRoute.of(head, scheme: opening?.scheme, through: entry)
        let isOwn = leadsToOwn(head, &route)
        let framing = try client.framing(of: head)
        isRequestComplete = framing == .none
        // A device gets the certificate before it can log in; nothing else is behind it.
        guard isOwn || task.admits(head, through: entry) else { return .answer(.unknownClient) }
        switch route {
        case .refuse(let refusal): return .answer(refusal)
        case .connect(let host, let port): return .connect(host, port)
        case .forward(let dialled, let target, let host):
            let origin = dialled.isSecure ? dialled : task.named(dialled, by: head.hostName)
            record?.record.scheme = origin.scheme
            // Where the request goes is what counts: a false Host must not make it look local.
            record?.record.authority = origin.authority
            if case .anyOrigin = entry { task.note(origin) }
            var upgrade: StreamUpgrade?
            if let opening, opening.isExtendedConnect {
                upgrade = StreamUpgrade.webSocket([UInt8](opening.protocolName))
                guard upgrade != nil else {
                    return .answer(.unknownProtocol(opening.protocolName.text))
                }
            } else if opening != nil, head.knownMethod == .connect {
                // HTTP/1 would carry the stream's content where nobody expects any.
                return .answer(.noTunnel)
            }
            if let refusal = task.blocking(head, to: origin) { return .answer(refusal) }
            if let failure = origins.originFailure { return .answer(ToolResponse(failure.failure)) }
            return .forward(
                OutgoingRequest(
                    head: head, origin: origin, target: target, host: host, framing: framing,
                    upgrade: upgrade, isClear: task.session == nil,
                    keepsProxyFields: !entry.isProxy))
        }
    }

    /// Whether a request is for the proxy itself, which it is led to then.
    private func leadsToOwn(_ head: RequestHead, _ route: inout RequestRoute) -> Bool {
        guard worker.hasPage,
            let own = RequestRoute.own(
                head, instead: route, isSecure: task.session != nil,
                port: task.port.address.port, address: { task.channel.localAddress })
        else { return false }
        route = own
        if case .forward = own {
            forget()
            isOwnUnderWay = true
        }
        return true
    }

    /// Lets an audit serve a request in clear, and the rest of the connection, in its origin's place.
    private func serveProbe(_ origin: OriginTarget) async throws(ConnectionEnd) {
        guard client.ownsConnection, let head = request?.raw,
            case .anyOrigin = origins.entry, let machine = await task.plainProbe(origin)
        else { return }
        forget()
        let early = worker.loop.buffers.take()
        early.append(head.span.extracting(..<min(head.count, early.room)))
        try await task.serve(machine, early)
    }

    // MARK: Ends

    /// Hands the finished exchange over to be recorded.
    @inline(never)
    func finish(error: String? = nil, _ detail: String? = nil) {
        isOwnUnderWay = false
        guard let record, !record.isFinished else { return }
        nameAuthority()
        if task.isCut {
            record.record.error = "cut"
            record.record.errorDetail = "the proxy was shut down"
        }
        record.finish(error: error, detail)
    }

    /// Takes back that there was an exchange: the record of a connection tells enough.
    func forget() {
        // The store has been told of one that lasts, and is to hear of its end.
        guard let record, !record.isAnnounced else { return finish() }
        task.forgetExchange(record.record.id)
        self.record = nil
    }

    /// Sends a response of the tool's own and finishes the exchange.
    func answer(_ answer: ToolResponse, recordedAs code: String? = nil) async {
        guard !task.isCut else { return finish() }
        let message = answer.message(
            closes: closesConnection, includesContent: request?.knownMethod != .head)
        record?.note(answer, message, recordedAs: code)
        await client.send(answer, message, of: self)
        finish()
    }

    /// Whether the client's connection ends behind the exchange.
    var closesConnection: Bool {
        guard client.ownsConnection else { return false }
        return worker.isDraining || !isRequestComplete
            || !(request?.asksForAnother ?? false)
    }

    /// Answers a request that broke the protocol.
    func refuse(_ violation: HTTP1Violation) async throws(ConnectionEnd) {
        await answer(
            ToolResponse(
                violation.status, violation.code,
                "the request is malformed: \(violation.detail) (\(violation.code))"),
            recordedAs: violation.recordedCode)
        try client.end(.refused(violation))
    }

    /// Answers, or shows the client what happened, as far as the response had come.
    func fail(_ failure: RelayFailure) async throws(ConnectionEnd) {
        guard !task.isCut else {
            finish()
            return try client.end(.cut)
        }
        var failure = failure
        switch client.departure(behind: failure, of: self) {
        case .satisfied: return finish()
        case .left(let departure): failure = departure
        case nil: break
        }
        let (code, detail) = failure.words(responseHead: record?.record.responseHead ?? [])
        let mirrors = task.mirrorsOrigin
        switch failure {
        case .unanswered(let response): await answer(response)
        case .clientViolation(let violation) where !hasResponseBegun: try await refuse(violation)
        case _ where failure.isClients:
            finish(error: code, detail)
            try client.end(.client(failure))
        case _
        where failure.isUnprocessed && !client.ownsConnection && (hasTakenContent || mirrors):
            finish(error: code, detail)
            try client.end(.unprocessed)
        case _ where hasResponseBegun || mirrors && !failure.isTimeout:
            finish(error: code, detail)
            try client.end(.origin(failure, detail))
        default:
            task.note(failure, detail)
            await answer(
                ToolResponse(
                    failure.isTimeout ? 504 : 502, code, detail,
                    hint: task.policy.origins.text.hint(
                        failure.streamFailure,
                        hasShownCertificate: task.record.originTLS?.clientChain.isEmpty == false)))
        }
    }
}
