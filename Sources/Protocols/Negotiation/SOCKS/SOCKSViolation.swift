/// Why a SOCKS5 server upstream does not lead to the destination.
package enum SOCKSViolation: Error, Sendable, Equatable {
    /// The first byte of an answer is not 5.
    case notSOCKS5(firstByte: UInt8)
    /// It accepts none of the authentication methods that we offered.
    case noAcceptableMethod
    /// It chose a method that was not offered.
    case methodNotOffered(UInt8)
    /// The answer to user name and password is none (RFC 1929 §2).
    case malformedLoginAnswer(UInt8)
    case loginRefused(status: UInt8)
    /// It answered with a failure, the field REP (RFC 1928 §6).
    case refused(reply: UInt8)
    /// The reserved byte is not 0.
    case malformedReply
    case unknownAddressType(UInt8)

    /// A stable word that programs may compare.
    package var code: String {
        switch self {
        case .notSOCKS5: "not-socks5"
        case .noAcceptableMethod: "no-acceptable-method"
        case .methodNotOffered: "method-not-offered"
        case .malformedLoginAnswer: "malformed-login-answer"
        case .loginRefused: "login-refused"
        case .refused: "refused"
        case .malformedReply: "malformed-reply"
        case .unknownAddressType: "unknown-address-type"
        }
    }

    /// Whether another login, or one at all, would do.
    package var wantsLogin: Bool {
        switch self {
        case .noAcceptableMethod, .loginRefused: true
        case .notSOCKS5, .methodNotOffered, .malformedLoginAnswer, .refused, .malformedReply,
            .unknownAddressType:
            false
        }
    }

    /// What happened, for people only.
    package var detail: String {
        switch self {
        case .notSOCKS5(let byte): "the upstream proxy's answer starts with \(byte), not with 5"
        case .noAcceptableMethod: "the upstream proxy accepts no way to log in that we have"
        case .methodNotOffered(let method):
            "the upstream proxy chose method \(method), which was not offered"
        case .malformedLoginAnswer(let version):
            "the upstream proxy's answer to the login says version \(version), not 1"
        case .loginRefused(let status):
            "the upstream proxy refused the user name or the password: status \(status)"
        case .refused(let reply): "the upstream proxy answered: \(Self.text(ofReply: reply))"
        case .malformedReply: "the reserved byte of the upstream proxy's reply is not 0"
        case .unknownAddressType(let type):
            "the upstream proxy's reply has an address of type \(type)"
        }
    }

    /// What the reply means for whoever asked for the connection; `nil` unless it was refused.
    package var failure: SOCKSFailure? {
        guard case .refused(let reply) = self else { return nil }
        return switch reply {
        case 2: .notAllowed
        case 3: .networkUnreachable
        case 4: .hostUnreachable
        case 5: .connectionRefused
        case 6: .timedOut
        default: .other
        }
    }

    private static func text(ofReply reply: UInt8) -> String {
        switch reply {
        case 1: "general failure"
        case 2: "not allowed"
        case 3: "network unreachable"
        case 4: "host unreachable"
        case 5: "connection refused"
        case 6: "TTL expired"
        case 7: "command not supported"
        case 8: "address type not supported"
        default: "failure \(reply)"
        }
    }
}
