package import Base
internal import HTTPCodecs
internal import HTTPModel
package import Sockets
internal import TLS
internal import Traffic
internal import Transport

/// Sends requests to origins over HTTP/1.1 and records what comes back.
///
/// `@unchecked Sendable`: everything that uses it runs on its loop's executor.
package final class HTTPClient: @unchecked Sendable {
    let configuration: ClientConfiguration
    let loop: EventLoop
    let journal: ClientJournal
    let context: TLSClientContext
    let resolver = Resolver()
    private var idle: [ClientTarget: [ClientLeg]] = [:]
    private var idleCount = 0

    /// On the loop's thread only.
    package init(_ configuration: ClientConfiguration, on loop: EventLoop, journal: ClientJournal) {
        self.configuration = configuration
        self.loop = loop
        self.journal = journal
        context = TLSClientContext(
            versions: configuration.versions, extraAuthorities: configuration.authorities)
    }

    /// Sends a request and reads its answer to the end; interim responses are recorded only.
    ///
    /// A safe request is sent once more if a connection that had been idle broke off under it.
    ///
    /// Errors: those of connecting, `origin-closed`, `origin-violation`, `timed-out`, and what the
    /// content could not be read for.
    package func send(_ request: ClientRequest) async throws(Failure) -> ClientAnswer {
        let started = Timestamp.now()
        let leg: ClientLeg
        do throws(Failure) {
            leg = try await take(request.target)
        } catch {
            let number = journal.nextExchange()
            var exchange = ClientExchange(request, number, on: 0, at: started)
            exchange.end(error, in: journal)
            throw error
        }
        let wasUsed = leg.isUsed
        leg.isUsed = true
        var exchange = ClientExchange(
            request, journal.nextExchange(), on: leg.record.id, at: started)
        do throws(Failure) {
            let answer = try await exchange.run(over: leg, configuration, journal)
            give(leg, isReusable: exchange.keepsAlive)
            return answer
        } catch {
            exchange.end(error, in: journal)
            finish(leg, .broken)
            guard wasUsed, request.isSafe, !exchange.isAnswered, error.code == "origin-closed"
            else { throw error }
            return try await send(request)
        }
    }

    /// Closes the connections that wait; no request may be under way.
    package func close() {
        for leg in idle.values.joined() { finish(leg, .completed) }
        idle = [:]
        idleCount = 0
    }

    private func take(_ target: ClientTarget) async throws(Failure) -> ClientLeg {
        while let leg = idle[target]?.popLast() {
            idleCount -= 1
            if leg.isReady { return leg }
            finish(leg, .completed)
        }
        return try await open(target)
    }

    private func give(_ leg: ClientLeg, isReusable: Bool) {
        leg.record.exchangeCount += 1
        guard isReusable, leg.isReady, idleCount < configuration.idleLimit else {
            return finish(leg, .completed)
        }
        idle[leg.target, default: []].append(leg)
        idleCount += 1
    }

    private func finish(_ leg: ClientLeg, _ outcome: ConnectionRecord.Outcome) {
        let channel = leg.stream.channel
        leg.record.originBytes = ByteCount(
            received: channel.bytesReceived, sent: channel.bytesSent)
        leg.close()
        leg.record.closedAt = .now()
        leg.record.closedBy = outcome == .completed ? .tool : .origin
        leg.record.outcome = outcome
        journal.tell(.connection(leg.record))
    }
}
