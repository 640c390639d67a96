/// Why the connection that a client asked for could not be made or was not allowed.
package enum SOCKSFailure: String, Sendable, CaseIterable {
    case other = "failed"
    case notAllowed = "not-allowed"
    /// It would have led back to ourselves.
    case loopRefused = "loop-refused"
    case networkUnreachable = "network-unreachable"
    /// Also a name that does not resolve.
    case hostUnreachable = "host-unreachable"
    case connectionRefused = "connection-refused"
    case timedOut = "timed-out"

    /// A stable word that programs may compare.
    package var code: String { rawValue }

    /// The field REP (RFC 1928 §6). SOCKS has no word for time: the origin's TTL has run out.
    package var replyField: UInt8 {
        switch self {
        case .other: 1
        case .notAllowed, .loopRefused: 2
        case .networkUnreachable: 3
        case .hostUnreachable: 4
        case .connectionRefused: 5
        case .timedOut: 6
        }
    }
}

/// What a client can ask for (RFC 1928 §4).
package enum SOCKSCommand: Sendable, Equatable {
    case connect
    case bind
    case udpAssociate
    case other(UInt8)

    init(field: UInt8) {
        switch field {
        case 1: self = .connect
        case 2: self = .bind
        case 3: self = .udpAssociate
        default: self = .other(field)
        }
    }

    package var name: String {
        switch self {
        case .connect: "CONNECT"
        case .bind: "BIND"
        case .udpAssociate: "UDP ASSOCIATE"
        case .other(let field): "\(field)"
        }
    }
}

/// Why a SOCKS client was turned away.
package enum SOCKSRefusal: Sendable, Equatable {
    case notSOCKS(firstByte: UInt8)
    case wrongVersion(UInt8)
    case noMethods
    case noAcceptableMethod(offered: [UInt8])
    case malformedLogin
    case wrongCredentials
    /// A list of users is required, and SOCKS4 has no password.
    case credentialsRequired
    case invalidUserName
    case malformedRequest
    case unsupportedCommand(SOCKSCommand)
    case unsupportedAddressType(UInt8)
    case invalidName
    case invalidPort
    /// The request was sound; what came of it was not.
    case failed(SOCKSFailure)

    /// A stable word that programs may compare.
    package var code: String {
        switch self {
        case .notSOCKS: "not-socks"
        case .wrongVersion: "wrong-version"
        case .noMethods: "no-methods"
        case .noAcceptableMethod: "no-acceptable-method"
        case .malformedLogin: "malformed-login"
        case .wrongCredentials: "wrong-credentials"
        case .credentialsRequired: "credentials-required"
        case .invalidUserName: "invalid-user-name"
        case .malformedRequest: "malformed-request"
        case .unsupportedCommand: "unsupported-command"
        case .unsupportedAddressType: "unsupported-address-type"
        case .invalidName: "invalid-name"
        case .invalidPort: "invalid-port"
        case .failed(let failure): failure.code
        }
    }

    /// What happened, for people only.
    package var detail: String {
        switch self {
        case .notSOCKS(let byte): "the first byte is \(byte), neither 4 nor 5"
        case .wrongVersion(let version): "a message says version \(version)"
        case .noMethods: "the client offers no authentication method"
        case .noAcceptableMethod(let offered):
            "none of the offered authentication methods is served: "
                + offered.map(String.init).joined(separator: ", ")
        case .malformedLogin: "the message with user name and password is malformed"
        case .wrongCredentials: "the user name or the password is wrong"
        case .credentialsRequired: "a password is required, which SOCKS4 has not"
        case .invalidUserName: "the user name is too long or holds a control character"
        case .malformedRequest: "the request's reserved byte is not 0"
        case .unsupportedCommand(let command): "command not supported: \(command.name)"
        case .unsupportedAddressType(let type): "address type not supported: \(type)"
        case .invalidName: "the host's name is empty, too long or holds a byte that no name has"
        case .invalidPort: "the port is 0"
        case .failed(let failure): failure.detail
        }
    }

    /// The field REP (RFC 1928 §6).
    var replyField: UInt8 {
        switch self {
        case .unsupportedCommand: 7
        case .unsupportedAddressType: 8
        case .failed(let failure): failure.replyField
        default: 1
        }
    }
}

extension SOCKSFailure {
    /// What happened, for people only.
    package var detail: String {
        switch self {
        case .other: "the connection could not be made"
        case .notAllowed: "the connection is not allowed"
        case .loopRefused: "the connection would lead back to this proxy"
        case .networkUnreachable: "the network is not reachable"
        case .hostUnreachable: "the host is not reachable"
        case .connectionRefused: "the origin refused the connection"
        case .timedOut: "the origin did not answer in time"
        }
    }
}
