internal import Base

/// Answers a client in its protocol once it has spoken, so that a program that is watched ends in
/// order: HTTP, HTTP/2, or the farewell of a protocol in which the server greets.
struct AnswerMachine {
    /// What an HTTP client is answered.
    enum Reply {
        case page
        case redirect(FollowUpPlan)
        /// To whoever asks for it, and nothing else.
        case status(StatusPlan)
    }

    private(set) var isOver = false
    private let reply: Reply
    private let host: String
    private let token: String
    private let greeting: ProbeGreeting?
    private let farewell: ProbeGreeting?
    private let isHTTP2: Bool
    private var request: [UInt8] = []
    private var bodyCount = 0

    /// Of a request's head, and of its body: a client that sends more is answered before its end.
    private static let headLimit = MachineRecord.keepLimit
    private static let bodyLimit = 1 << 20

    init(_ configuration: ProbeMachineConfiguration, reply: Reply, alpn: String?) {
        self.reply = reply
        host = configuration.host
        token = configuration.token
        isHTTP2 = alpn == "h2"
        // Who has gone over to TLS has been greeted before.
        greeting = isHTTP2 || configuration.upgrade != nil ? nil : configuration.greeting
        farewell = configuration.upgrade?.farewell ?? greeting
    }

    /// Whether the protocol is one in which the server speaks first.
    var isGreeting: Bool { greeting != nil }

    /// What is said before the client says anything; empty if it speaks first.
    ///
    /// HTTP/2 begins on both sides at once (RFC 9113 §3.4), and gRPC does not ask before it has
    /// seen the server's settings.
    func greet() -> [UInt8] {
        isHTTP2 ? frame(type: 4, flags: 0, Self.connection, []) : greeting?.text(host: host) ?? []
    }

    /// Takes what the client said, and returns the answer, which is empty until there is one.
    mutating func receive(_ bytes: [UInt8]) -> [UInt8] {
        guard !isOver else { return [] }
        bodyCount += bytes.count
        request += bytes.prefix(Self.headLimit - request.count)
        if let farewell { return end(with: farewell.farewell) }
        if isHTTP2 { return receiveHTTP2() }
        switch HTTPRequestView(request).state {
        case .foreign: return end(with: [])
        case .partial where request.count < Self.headLimit: return []
        case .head(let size, let body, let isWaiting):
            let rest = size + min(body, Self.bodyLimit) - bodyCount
            return rest > 0 && !isWaiting ? [] : end(with: answer)
        case .partial: return end(with: answer)
        }
    }

    /// Takes note that the client says no more, and returns what it is answered then.
    mutating func noteSilence() -> [UInt8] {
        guard !isOver else { return [] }
        if let farewell { return end(with: farewell.farewell) }
        return end(with: request.isEmpty || isHTTP2 ? [] : answer)
    }

    private mutating func end(with bytes: [UInt8]) -> [UInt8] {
        isOver = true
        return bytes
    }

    // MARK: HTTP

    private var answer: [UInt8] {
        var head = ["HTTP/1.1 \(status)"]
        head += fields.map { "\($0.name): \($0.value)" }
        head += ["connection: close", "", ""]
        return Array(head.joined(separator: "\r\n").utf8) + body
    }

    /// What is asked for of what is published; `nil` where nothing is, or something else is asked.
    private var published: StatusPlan? {
        guard case .status(let plan) = reply else { return nil }
        return plan.isAsked(by: HTTPRequestView(request)) ? plan : nil
    }

    private var body: [UInt8] {
        if case .status = reply { return published?.answer ?? [] }
        return Array("sallyport audit \(token)\n".utf8)
    }

    private var status: String {
        switch reply {
        case .page: "200 OK"
        case .redirect: "302 Found"
        case .status: published == nil ? "404 Not Found" : "200 OK"
        }
    }

    private var fields: [(name: String, value: String)] {
        var all = [
            ("content-type", published?.mediaType ?? "text/plain"),
            ("content-length", "\(body.count)"),
        ]
        if case .redirect(let plan) = reply {
            let port = plan.port == 80 ? "" : ":\(plan.port)"
            let host = HostPort.bracketed(plan.host)
            all.append(("location", "http://\(host)\(port)\(plan.path)"))
            if let cookie = plan.secureCookie {
                all.append(("set-cookie", "sallyport=\(cookie); Secure; Path=/"))
            }
        }
        return all
    }

    // MARK: HTTP/2

    /// The stream that stands for the connection (RFC 9113 §5.1.1).
    private static let connection: [UInt8] = [0, 0, 0, 0]
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// Answers the first request (RFC 9113 §8.1); nothing else of the protocol is looked at.
    private mutating func receiveHTTP2() -> [UInt8] {
        guard request.starts(with: Self.preface.prefix(request.count)) else { return end(with: []) }
        var place = Self.preface.count
        while place + 9 <= request.count {
            let length =
                Int(request[place]) << 16 | Int(request[place + 1]) << 8 | Int(request[place + 2])
            if request[place + 3] == 1 {
                let stream = Array(request[(place + 5)..<(place + 9)])
                return end(with: answerHTTP2(stream))
            }
            place += 9 + length
        }
        return request.count < Self.headLimit ? [] : end(with: [])
    }

    private func answerHTTP2(_ stream: [UInt8]) -> [UInt8] {
        // Literals without indexing, with the names of the static table (RFC 7541 appendix A).
        let places = ["content-length": 28, "content-type": 31, "location": 46, "set-cookie": 55]
        var block: [UInt8] = [0x08, 3] + status.utf8.prefix(3)
        for field in fields {
            guard let place = places[field.name] else { continue }
            block += [0x0F, UInt8(place - 15)] + Self.length(field.value.utf8.count)
            block += field.value.utf8
        }
        return frame(type: 4, flags: 1, Self.connection, [])
            + frame(type: 1, flags: 4, stream, block)
            + frame(type: 0, flags: 1, stream, body)
            + frame(type: 7, flags: 0, Self.connection, stream + [0, 0, 0, 0])
    }

    /// An integer with a prefix of seven bits (RFC 7541 §5.1).
    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 127 else { return [UInt8(count)] }
        var bytes: [UInt8] = [127]
        var rest = count - 127
        while rest >= 128 {
            bytes.append(UInt8(rest % 128 + 128))
            rest /= 128
        }
        return bytes + [UInt8(rest)]
    }

    private func frame(
        type: UInt8, flags: UInt8, _ stream: [UInt8], _ content: [UInt8]
    ) -> [UInt8] {
        let count = content.count
        return [UInt8(count >> 16 & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
            + [type, flags] + stream + content
    }
}
