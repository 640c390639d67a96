internal import Base

/// Answers the queries of clients that have no way out but through us.
///
/// Every name that a host can have gets an address, whether or not it exists: the name is looked up
/// when somebody connects. So a name that does not exist ends in a failure to connect, not in one
/// to resolve. What would lead a client past us is answered with nothing (RFC 2308 §2.2): IPv6
/// addresses, so that all take IPv4 ones, and HTTPS and SVCB records, which offer HTTP/3 and keys
/// for encrypted hellos. It is never "no such name", which clients take for all types.
package struct DNSAnswerRule: Sendable {
    /// How a query came.
    package enum Carrier: Sendable {
        case datagram
        case stream
    }

    private let names: NameTable

    /// How long clients may keep an answer, in seconds: addresses stay with their names, but for a
    /// table that is full.
    package static let lifetime: UInt32 = 60

    package init(names: NameTable) {
        self.names = names
    }

    /// Answers a message as it came.
    ///
    /// - Returns: `nil` if no answer is due: the bytes have no header, or are a response themselves,
    ///   to which an answer could go round for ever.
    package func answer(_ bytes: Span<UInt8>, over carrier: Carrier) -> DNSAnswerOutcome? {
        var reader = DNSMessageReader(bytes)
        var violation: DNSViolation?
        do throws(DNSViolation) {
            try reader.read()
        } catch {
            violation = error
        }
        var query = reader.message
        guard reader.hasHeader, !query.flags.contains(.response) else { return nil }
        let limit =
            switch carrier {
            case .datagram: DNSMessageWriter.datagramLimit(for: query)
            case .stream: DNSMessageWriter.streamLimit
            }
        guard let violation else { return answer(query, byteLimit: limit) }
        let question = query.questions.first
        // What was broken is not repeated.
        query.questions = []
        return DNSAnswerOutcome(
            verdict: .malformed(violation), question: question,
            response: .response(to: query, .formatError), byteLimit: limit)
    }

    private func answer(_ query: DNSMessage, byteLimit: Int) -> DNSAnswerOutcome {
        let (verdict, code, data) = judge(query)
        var answers: [DNSRecord] = []
        if let data, let question = query.questions.first {
            answers = [DNSRecord(question.name, question.type, lifetime: Self.lifetime, data)]
        }
        var response = DNSMessage.response(to: query, code, answers: answers)
        // Many questions would be a way to make us say much.
        response.questions = [DNSQuestion](query.questions.prefix(1))
        return DNSAnswerOutcome(
            verdict: verdict, question: query.questions.first, response: response,
            byteLimit: byteLimit)
    }

    private typealias Judgement = (
        verdict: DNSAnswerOutcome.Verdict, code: DNSResponseCode, data: DNSRecord.Data?
    )

    private func judge(_ query: DNSMessage) -> Judgement {
        guard query.operation == 0 else { return (.refused, .notImplemented, nil) }
        guard query.options?.version ?? 0 == 0 else { return (.refused, .badVersion, nil) }
        guard query.questions.count == 1, let question = query.questions.first else {
            return (.notOneQuestion, .formatError, nil)
        }
        guard [DNSClass.internet, DNSClass.any].contains(question.recordClass) else {
            return (.refused, .refused, nil)
        }
        let name = question.name
        if name.hasSuffix(["in-addr", "arpa"]) || name.hasSuffix(["ip6", "arpa"]) {
            return judgeReverse(question)
        }
        if Self.isLocalhost(name) { return judgeLocalhost(question.type) }
        if Self.encryptedDNSCanaries.contains(name.hostName ?? "") {
            return (.encryptedDNSDeclined, .noSuchName, nil)
        }
        return judgeForward(question)
    }

    private func judgeForward(_ question: DNSQuestion) -> Judgement {
        let hasAddress = question.name.hostName != nil && !question.name.hasSuffix(["arpa"])
        switch question.type {
        case .a:
            guard hasAddress, let name = question.name.hostName else { break }
            let address = names.address(of: name)
            return (.address(address), .noError, .address(address))
        case .aaaa where hasAddress: return (.noIPv6, .noError, nil)
        // Also of names such as `_dns.resolver.arpa`, where clients look for encrypted resolvers.
        case .https, .svcb: return (.noService, .noError, nil)
        default: break
        }
        // What no host can be called, an address literal for one, does not exist for us.
        return question.name.hostName != nil || question.name == .root
            ? (.nothing, .noError, nil) : (.noSuchName, .noSuchName, nil)
    }

    private func judgeLocalhost(_ type: DNSType) -> Judgement {
        switch type {
        case .a: (.localhost, .noError, .address([127, 0, 0, 1]))
        case .aaaa: (.localhost, .noError, .address(Self.loopback6))
        default: (.nothing, .noError, nil)
        }
    }

    /// RFC 1035 §3.5, RFC 3596 §2.5.
    private func judgeReverse(_ question: DNSQuestion) -> Judgement {
        let nothing: Judgement = (.noSuchName, .noSuchName, nil)
        guard let address = Self.address(inReverse: question.name) else { return nothing }
        let isLoopback = address == Self.loopback6 || address.count == 4 && address[0] == 127
        guard let name = isLoopback ? "localhost" : names.name(at: address),
            let target = DNSName(name)
        else { return nothing }
        guard question.type == .ptr else { return (.nothing, .noError, nil) }
        return (isLoopback ? .localhost : .name(name), .noError, .name(target))
    }

    /// The address that a name of the reverse tree stands for, `nil` if it is not a whole one.
    static func address(inReverse name: DNSName) -> [UInt8]? {
        let labels = name.labels.dropLast(2).reversed()
        if name.hasSuffix(["in-addr", "arpa"]) {
            let numbers = labels.compactMap { label in
                label.allSatisfy(\.isASCIIDigit) ? UInt8(label.text) : nil
            }
            return labels.count == 4 && numbers.count == 4 ? numbers : nil
        }
        guard name.hasSuffix(["ip6", "arpa"]), labels.count == 32,
            labels.allSatisfy({ $0.count == 1 })
        else { return nil }
        return bytes(fromHex: labels.map(\.text).joined())
    }

    /// RFC 6761 §6.3, and what older systems call this machine.
    private static func isLocalhost(_ name: DNSName) -> Bool {
        name.hasSuffix(["localhost"])
            || name.labels.count == 2 && name.hasSuffix(["localhost", "localdomain"])
    }

    private static let loopback6 = [UInt8](repeating: 0, count: 15) + [1]

    /// Firefox asks for it, and uses its own resolver if it exists: names that we would not see.
    private static let encryptedDNSCanaries: Set<String> = ["use-application-dns.net"]
}
