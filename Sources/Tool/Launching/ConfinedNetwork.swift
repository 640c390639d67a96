internal import Base
package import Confinement
internal import Contents
internal import DNS
internal import Glibc
internal import Proxy
internal import Sockets
internal import Synchronization
package import TLS
internal import Traffic

/// The network of a confined command, as it is served from outside: its names are answered, its
/// connections are led to the proxy, and what it sends besides is noted.
package final class ConfinedNetwork: Sendable {
    private let process: ConfinedProcess
    private let names = NameTable()
    private let dnsSockets: [DatagramSocket]
    private let quicSockets: [DatagramSocket]
    private let dnsListeners: [MessageListener]
    /// `nil` if there is none to be had; the stop is then seen at the next look.
    private let stopped = ConfinedNetwork.makePipe()
    private let state = Mutex(State())

    private struct State {
        var isStopped = false
        var attempts: [AttemptKey: Attempt] = [:]
        /// Attempts that were not told apart any more.
        var others = 0
        var serviceQuestions = 0
        var leftRunning: [String] = []
        var counters: ConfinementCounters?
        var readers: [[UInt8]: QUICInitialReader] = [:]
        /// Where TCP went that QUIC may have gone to as well.
        var reachedByTCP: Set<[UInt8]> = []
    }

    private struct AttemptKey: Hashable {
        let kind: DatagramAttempt.Kind
        let destination: [UInt8]
        let port: UInt16
    }

    /// Datagrams to one destination.
    package struct Attempt: Sendable {
        package let kind: DatagramAttempt.Kind
        /// As a name if it was handed out for one.
        package let host: String
        package let port: UInt16
        package var count = 0
        let firstAt: Timestamp
        let source: String
        /// What a QUIC Initial asked for.
        package var hello: ClientHello?
        /// What is spoken, as far as the datagrams tell.
        fileprivate var name = DatagramProtocol.other
        /// The first ones, of a protocol that is known and not encrypted.
        fileprivate var payloads: [(at: Timestamp, bytes: [UInt8])] = []
        /// Whether TCP went to the same place: a client of QUIC that never tries it may not be able
        /// to do without.
        package fileprivate(set) var cameByTCP = false
    }

    private static let attemptLimit = 1_000
    /// Datagrams of one attempt that are recorded, of at most `FilterRules.loggedBytes` each.
    fileprivate static let datagramLimit = 8

    init(_ process: ConfinedProcess) {
        self.process = process
        dnsSockets = process.dnsSockets.map(DatagramSocket.init)
        quicSockets = process.quicSockets.map(DatagramSocket.init)
        dnsListeners = process.dnsListeners.map(MessageListener.init)
    }

    /// Where the proxy takes the command's connections.
    var ports: CapturedPorts {
        let names = names
        let process = process
        let diagnosis = SocketDiagnosis(descriptor: dup(process.diagnosis))
        let network = CapturedNetwork(
            diagnosis: diagnosis, processID: process.id,
            name: { [self] address in
                noteTCP(to: address)
                return names.name(at: address.address)
            },
            insideSocket: { address in
                guard address.isLoopback || address.isWildcard || Self.isInside(address),
                    diagnosis.isListening(at: address)
                else { return .success(nil) }
                return Result { () throws(Failure) in
                    try process.insideSocket(isIPv6: address.isIPv6)
                }
            })
        return CapturedPorts(
            ports: process.tcpListeners.compactMap { descriptor in
                SocketAddress.originalDestination(of: descriptor).map {
                    PortPlan(descriptor: descriptor, $0, .captured)
                }
            }, network: network)
    }

    /// Whether an address is the namespace's own.
    private static func isInside(_ address: SocketAddress) -> Bool {
        address.address.starts(with: [198, 19, 255])
            || address.address.starts(with: [0xFD, 0, 0, 0x19])
    }

    // MARK: Names and datagrams

    /// Answers and notes until it is stopped; blocks its thread.
    func serve() {
        let rule = DNSAnswerRule(names: names)
        let watched =
            (dnsSockets + quicSockets).map(\.descriptor) + dnsListeners.map(\.descriptor)
            + (process.attempts.map { [$0] } ?? []) + (stopped.map { [$0.reading] } ?? [])
        defer { if let stopped { close(stopped.reading) } }
        while !state.withLock(\.isStopped) {
            let ready = Set(Waiting.readable(watched, milliseconds: 100))
            for socket in dnsSockets where ready.contains(socket.descriptor) {
                socket.answerAll { self.answer($0, rule, .datagram) }
            }
            for socket in quicSockets where ready.contains(socket.descriptor) {
                socket.answerAll { QUICRefusal.answer(to: $0.span, random: .random(in: 0...255)) }
            }
            for listener in dnsListeners where ready.contains(listener.descriptor) {
                listener.serveOne { bytes in
                    guard let range = DNSStreamReader.message(in: bytes.span) else { return nil }
                    return self.answer(Array(bytes[range]), rule, .stream).map(
                        DNSStreamReader.framed)
                }
            }
            if let attempts = process.attempts, ready.contains(attempts) { noteAttempts() }
        }
        noteAttempts()
    }

    func stop() {
        let isFirst = state.withLock { state in
            defer { state.isStopped = true }
            return !state.isStopped
        }
        // Its other end is readable then, so that nobody waits for the next look.
        if isFirst, let stopped { close(stopped.writing) }
    }

    private static func makePipe() -> PipeEnds? {
        do throws(SystemError) {
            return try PipeEnds()
        } catch {
            return nil
        }
    }

    private func answer(
        _ bytes: [UInt8], _ rule: DNSAnswerRule, _ carrier: DNSAnswerRule.Carrier
    ) -> [UInt8]? {
        guard let outcome = rule.answer(bytes.span, over: carrier) else { return nil }
        if case .noService = outcome.verdict { state.withLock { $0.serviceQuestions += 1 } }
        return outcome.bytes
    }

    private func noteTCP(to address: SocketAddress) {
        guard address.port == 443 else { return }
        state.withLock { state in
            guard state.reachedByTCP.count < Self.attemptLimit else { return }
            state.reachedByTCP.insert(address.address)
        }
    }

    private func noteAttempts() {
        guard let descriptor = process.attempts else { return }
        for attempt in DatagramAttemptReader.drain(descriptor) { note(attempt) }
    }

    private func note(_ datagram: DatagramAttempt) {
        let destination = SocketAddress(
            address: datagram.destination, port: datagram.destinationPort)
        let source = SocketAddress(address: datagram.source, port: datagram.sourcePort)
        let host = names.name(at: datagram.destination) ?? destination.host
        let key = AttemptKey(
            kind: datagram.kind, destination: datagram.destination, port: datagram.destinationPort)
        state.withLock { state in
            guard state.attempts[key] != nil || state.attempts.count < Self.attemptLimit else {
                state.others += 1
                return
            }
            var attempt =
                state.attempts[key]
                ?? Attempt(
                    kind: datagram.kind, host: host, port: datagram.destinationPort,
                    firstAt: .now(), source: source.description)
            attempt.count += 1
            if datagram.kind == .quic, attempt.hello == nil {
                attempt.hello = Self.hello(in: datagram, &state.readers)
            }
            if datagram.kind == .udp || datagram.kind == .inside { attempt.add(datagram) }
            state.attempts[key] = attempt
        }
    }

    /// The ClientHello of a QUIC Initial, once it has come whole.
    private static func hello(
        in datagram: DatagramAttempt, _ readers: inout [[UInt8]: QUICInitialReader]
    ) -> ClientHello? {
        guard let header = QUICLongHeader.read(datagram.payload.span) else { return nil }
        if readers.count > 256 { readers = [:] }
        let key = datagram.source + header.destinationID
        var reader = readers[key] ?? QUICInitialReader()
        defer { readers[key] = reader }
        do throws(QUICViolation) {
            return try reader.read(datagram.payload.span)
        } catch {
            return nil
        }
    }

    // MARK: The verdict

    /// What the command tried besides TCP and DNS.
    package var attempts: [Attempt] {
        state.withLock { state in
            state.attempts.map { key, attempt in
                var attempt = attempt
                attempt.cameByTCP = state.reachedByTCP.contains(key.destination)
                return attempt
            }.sorted { $0.firstAt.microseconds < $1.firstAt.microseconds }
        }
    }

    /// How often it asked for HTTPS records, which could have led it to HTTP/3.
    package var serviceQuestions: Int { state.withLock(\.serviceQuestions) }

    /// The programs that the command left behind: what they do now is cut off.
    package var leftRunning: [String] { state.withLock(\.leftRunning) }

    package var limits: [ConfinementLimit] { process.limits }
    package var counters: ConfinementCounters? { state.withLock(\.counters) }

    /// Notes what the filter counted, and what goes on inside although the command has ended.
    func noteEnd() {
        let programs = process.programs()
        let counters = process.counters()
        state.withLock {
            $0.leftRunning = programs
            $0.counters = counters
        }
    }

    /// Ends what goes on inside although the command has ended.
    package func endLeftRunning() async -> StrayProcesses.Ended {
        let ended = OneTimeBox<StrayProcesses.Ended>()
        let process = process
        // It waits for them, which no thread may that others share.
        startThread(named: "ending") { ended.set(process.endPrograms()) }
        return await ended.get()
    }

    /// Records the attempts as connections that were refused.
    func record(in service: some RunService) {
        for attempt in attempts {
            service.record { id in attempt.events(id) }
        }
    }
}

extension ConfinedNetwork.Attempt {
    /// Their number in words: `1 datagram`.
    package var datagrams: String { count == 1 ? "1 datagram" : "\(count) datagrams" }

    fileprivate mutating func add(_ datagram: DatagramAttempt) {
        guard payloads.count < ConfinedNetwork.datagramLimit else { return }
        if name == .other {
            name =
                DatagramProtocol.judge(
                    datagram.payload, ports: (datagram.sourcePort, datagram.destinationPort)
                ).name
        }
        guard name != .other, !name.isEncrypted else { return }
        payloads.append((.now(), datagram.payload))
    }

    fileprivate func events(_ id: Int64) -> [TrafficEvent] {
        var record = record(id)
        record.messageCount = Int64(payloads.count)
        let messages = payloads.enumerated().map { index, payload in
            var message = MessageRecord(
                connection: id, exchange: nil, number: Int64(index + 1), at: payload.at,
                direction: .request, kind: .datagram)
            message.bytes = payload.bytes
            message.size = Int64(payload.bytes.count)
            return TrafficEvent.message(message)
        }
        return messages + [.connection(record)]
    }

    private func record(_ id: Int64) -> ConnectionRecord {
        var record = ConnectionRecord(
            id: id, openedAt: firstAt, client: source, listener: ConnectionRecord.datagramListener,
            mode: .captured)
        record.closedAt = firstAt
        record.originHost = hello?.serverName ?? host
        record.originPort = port
        record.outcome = .refused
        record.closedBy = .tool
        switch kind {
        case .quic:
            record.protocolName = "quic"
            record.cause =
                "QUIC is not intercepted: \(datagrams) refused, so that the client falls back to TCP"
            if !cameByTCP {
                record.notes.append(
                    ConnectionNote("quic-only", "the client did not come by TCP instead"))
            }
        case .udp:
            record.protocolName = name.rawValue
            record.cause = "UDP: \(datagrams) refused"
        case .inside:
            record.protocolName = name.rawValue
            record.cause = "datagrams to an address of the namespace's own stayed in it"
        case .other:
            record.listener = ConnectionRecord.packetListener
            record.protocolName = "ip"
            record.cause = "packets that are neither TCP nor UDP were dropped: \(count)"
        }
        if let hello {
            var tls = TLSRecord()
            tls.sni = hello.serverName
            tls.clientHello = hello.raw
            tls.ja4 = hello.ja4(sha256: Digests.sha256)
            record.clientTLS = tls
            if !hello.alpn.isEmpty {
                record.notes.append(
                    ConnectionNote("quic-offer", hello.alpn.joined(separator: ", ")))
            }
        }
        return record
    }
}
