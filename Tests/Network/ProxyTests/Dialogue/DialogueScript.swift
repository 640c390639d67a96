import Base
import Sockets
import TLS
import Traffic

@testable import Proxy

/// What a client and an origin say to each other, played by both at once.
struct DialogueScript: Sendable, CustomStringConvertible {
    enum Step: Sendable {
        case client([UInt8])
        case origin([UInt8])
        /// The client sends in one segment what passes and what must not.
        case clientInjects([UInt8], dropped: [UInt8])
        case originInjects([UInt8], dropped: [UInt8])
        /// The client sends in one segment what passes now, and what only after the origin's turn.
        case clientPipelines([UInt8], held: [UInt8], answer: [UInt8])
        /// Both do their handshakes.
        case secure

        static func client(_ text: String) -> Step { .client(text.wire) }
        static func origin(_ text: String) -> Step { .origin(text.wire) }
    }

    var description: String
    var steps: [Step]
    var protocolName: String
    /// `nil` if nothing is secured.
    var upgrade: String?
    var notes: [String] = []
    var outcome = ConnectionRecord.Outcome.completed
    /// Whether the origin ends first, and not the client.
    var originEnds = false

    init(
        _ description: String, _ protocolName: String, _ upgrade: String? = nil,
        notes: [String] = [], outcome: ConnectionRecord.Outcome = .completed,
        originEnds: Bool = false, _ steps: [Step]
    ) {
        self.description = description
        self.protocolName = protocolName
        self.upgrade = upgrade
        self.notes = notes
        self.outcome = outcome
        self.originEnds = originEnds
        self.steps = steps
    }

    /// What passes of one side, and is recorded.
    func said(_ direction: Direction) -> [UInt8] {
        steps.flatMap { step -> [UInt8] in
            switch (step, direction) {
            case (.client(let bytes), .request), (.clientInjects(let bytes, _), .request): bytes
            case (.origin(let bytes), .response), (.originInjects(let bytes, _), .response): bytes
            case (.clientPipelines(let now, let held, _), .request): now + held
            case (.clientPipelines(_, _, let answer), .response): answer
            default: []
            }
        }
    }

    func playClient(_ wire: Wire) throws {
        for step in steps {
            switch step {
            case .client(let bytes): try wire.send(bytes)
            case .origin(let bytes), .originInjects(let bytes, _): try wire.expect(bytes)
            case .clientInjects(let bytes, let dropped): try wire.send(bytes + dropped)
            case .clientPipelines(let now, let held, let answer):
                try wire.send(now + held)
                try wire.expect(answer)
            case .secure:
                try wire.secure(ProxyUnderTest.clientSession(for: "localhost", protocols: []))
            }
        }
        if originEnds {
            let rest = try wire.readToEnd()
            try check(rest.isEmpty, "client got \(rest.text)")
        } else {
            try wire.finish()
            _ = try wire.readToEnd()
        }
    }

    func playOrigin(_ wire: Wire, authority: CertificateAuthority = TestAuthority.origin) throws {
        for step in steps {
            switch step {
            case .client(let bytes), .clientInjects(let bytes, _): try wire.expect(bytes)
            case .origin(let bytes): try wire.send(bytes)
            case .originInjects(let bytes, let dropped): try wire.send(bytes + dropped)
            case .clientPipelines(let now, let held, let answer):
                try wire.expect(now)
                try wire.send(answer)
                try wire.expect(held)
            case .secure:
                let context = TLSServerContext(
                    authority: authority, versions: .modern,
                    ticketKey: [UInt8](repeating: 1, count: 80))
                try wire.secure(context.makeSession(for: "localhost", protocols: []))
            }
        }
        if originEnds { try wire.finish() }
        let rest = try wire.readToEnd()
        try check(rest.isEmpty, "origin got \(rest.text)")
    }
}

extension Wire {
    func expect(_ bytes: [UInt8]) throws {
        let came = try read(bytes.count)
        try check(came == bytes, "'\(came.text)' instead of '\(bytes.text)'")
    }
}

extension String {
    /// Text in which `~HH` stands for one byte.
    var wire: [UInt8] {
        var result: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            if byte == 0x7E, let value = UInt8(rest.prefix(2).text, radix: 16) {
                result.append(value)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }
}
