internal import TLS
internal import Traffic

/// Makes the records of one leg anew: the handshake as it is recorded, and content under the
/// recorded secrets.
struct TLSLeg {
    private let writer: TLSHandshakeWriter
    private let suite: TLSSuite?
    private var handshake: [2 of RecordProtection?] = [nil, nil]
    private var application: [2 of RecordProtection?] = [nil, nil]
    /// Why no content can be sealed, in words for a person; `nil` if it can.
    let gap: String?
    private var isEstablished = false

    /// - Parameter keys: with the secrets of this leg; an empty one if they must not be told.
    init(_ record: TLSRecord, keys: KeyLog) {
        let suite = record.cipher.flatMap(TLSSuite.init(name:))
        self.suite = suite
        let random = keys.randoms.first ?? Digests.sha256(record.clientHello)
        writer = TLSHandshakeWriter(record, suite: suite?.number ?? 0, random: random)
        let client = writer.clientRandom
        guard let suite, let version = record.version,
            TLSSuite.Version(text: version) == suite.version
        else {
            let agreed = [record.version, record.cipher].compactMap { $0 }.joined(separator: " ")
            gap = agreed.isEmpty ? "no suite was agreed" : "records of \(agreed) are not made"
            return
        }
        var application: [2 of RecordProtection?] = [nil, nil]
        switch suite.version {
        case .tls12:
            if let master = keys.secret(.master, random: client) {
                let pair = RecordProtection.pair(
                    suite, master: master, clientRandom: client, serverRandom: writer.serverRandom)
                application = [pair.client, pair.server]
            }
        case .tls13:
            let labels: [KeyLabel] = [.clientHandshake, .serverHandshake, .client, .server]
            let protections = labels.map { label in
                keys.secret(label, random: client).map { RecordProtection(suite, secret: $0) }
            }
            handshake = [protections[0], protections[1]]
            application = [protections[2], protections[3]]
        }
        self.application = application
        gap = application[0] == nil || application[1] == nil ? "its keys are not known" : nil
    }

    /// Whether the handshake was, so that content followed.
    var isCompleted: Bool { writer.record.handshakeCompleted }

    /// What of the handshake was not recorded, and so is made up.
    var madeUp: String {
        writer.isHelloMadeUp
            ? "both hellos, signatures and Finished are made up"
            : "the ClientHello is as it came; ServerHello, signatures and Finished are made up"
    }

    /// The handshake's flights in order, as records; not the last ones if it failed.
    mutating func open() -> [(Direction, [UInt8])] {
        var flights = [(Direction.request, plain(writer.clientHello, version: 0x0301))]
        guard writer.record.version != nil, let suite else { return flights }
        if suite.version == .tls13 {
            flights += open13(suite)
        } else if writer.record.resumed {
            guard gap == nil else { return flights }
            flights.append((.response, plain(writer.serverHello) + changed(.response)))
            flights.append((.request, changed(.request)))
        } else {
            let flight = writer.serverHello + writer.plainFlight(suite.exchange)
            flights.append((.response, plain(flight)))
            guard writer.record.handshakeCompleted, gap == nil else { return flights }
            let exchange = plain(writer.clientKeyExchange(suite.exchange))
            flights.append((.request, exchange + changed(.request)))
            flights.append((.response, changed(.response)))
        }
        isEstablished = writer.record.handshakeCompleted && gap == nil
        return flights
    }

    private mutating func open13(_ suite: TLSSuite) -> [(Direction, [UInt8])] {
        var server = plain(writer.serverHello)
        let flight = writer.encryptedFlight(hash: suite.hash)
        handshake[1]?.sealAll(.handshake, flight, into: &server)
        var flights = [(Direction.response, server)]
        if writer.record.handshakeCompleted, handshake[0] != nil {
            var client: [UInt8] = []
            let finished = writer.finished(count: suite.hash.length)
            handshake[0]?.sealAll(.handshake, finished, into: &client)
            flights.append((.request, client))
        }
        return flights
    }

    /// The records that carry content; empty if none can be sealed.
    mutating func seal(_ direction: Direction, _ content: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        guard isEstablished else { return result }
        application[direction.rawValue]?.sealAll(
            .applicationData, [UInt8](content), into: &result)
        return result
    }

    /// The record of an alert (RFC 8446 §6), in the protection that there was.
    mutating func alert(_ direction: Direction, _ alert: AlertRecord) -> [UInt8] {
        guard let number = TLSAlert.code(named: alert.name) else { return [] }
        let content: [UInt8] = [alert.fatal ? 2 : 1, number]
        var result: [UInt8] = []
        if isEstablished {
            application[direction.rawValue]?.seal(.alert, content, into: &result)
        } else if suite?.version == .tls13, writer.record.version != nil,
            handshake[direction.rawValue] != nil
        {
            handshake[direction.rawValue]?.seal(.alert, content, into: &result)
        } else {
            result = TLSContentType.alert.header(count: 2) + content
        }
        return result
    }

    /// ChangeCipherSpec and the Finished of TLS 1.2 that is the first in the new protection.
    private mutating func changed(_ direction: Direction) -> [UInt8] {
        var result = TLSContentType.changeCipherSpec.header(count: 1) + [1]
        application[direction.rawValue]?.seal(
            .handshake, writer.finished(count: 12), into: &result)
        return result
    }

    private func plain(_ messages: [UInt8], version: UInt16 = 0x0303) -> [UInt8] {
        var result: [UInt8] = []
        var rest = messages[...]
        while !rest.isEmpty {
            let piece = rest.prefix(RecordProtection.contentLimit)
            rest = rest.dropFirst(piece.count)
            result += TLSContentType.handshake.header(count: piece.count, version: version)
            result += piece
        }
        return result
    }
}

extension RecordProtection {
    /// Of a record, in bytes (RFC 8446 §5.1).
    static let contentLimit = 1 << 14

    /// Appends as many records as the content needs.
    mutating func sealAll(
        _ type: TLSContentType, _ content: [UInt8], into output: inout [UInt8]
    ) {
        var rest = content[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Self.contentLimit)
            rest = rest.dropFirst(piece.count)
            seal(type, [UInt8](piece), into: &output)
        }
    }
}
