internal import Base

/// The server's side of SOCKS5 (RFC 1928, RFC 1929), SOCKS4 and SOCKS4a, up to the tunnel.
///
/// It holds one message at most, which has 522 bytes at most. Of the commands only CONNECT is
/// served. What the client sends behind its request is left to the tunnel.
package struct SOCKSServerMachine: Sendable {
    package enum Action: Sendable, Equatable {
        case send([UInt8])
        /// How the client introduced itself; a note, nothing is to be done.
        case login(SOCKSLogin)
        /// Connect, then call `succeed` or `fail`.
        case connect(SOCKSDestination)
        /// All that the client sends from here on is the tunnel's.
        case done
        /// Send the reply, which may be empty, and close.
        case refuse(reply: [UInt8], SOCKSRefusal)
    }

    package struct Step: Sendable, Equatable {
        /// How many of the bytes were understood; the rest is the tunnel's.
        package var consumed = 0
        /// In the order in which they are to be done.
        package var actions: [Action] = []
    }

    package enum Version: String, Sendable {
        case socks5
        case socks4
        case socks4a
    }

    private enum State {
        case version
        case methods
        case login
        case request
        case request4
        case connecting
        case ended
    }

    /// What the client speaks, `nil` before its first byte.
    package private(set) var version: Version?
    private let credentials: [SOCKSCredential]?
    private var state = State.version
    /// What there is of the current message.
    private var message: [UInt8] = []
    /// Where the user ID of SOCKS4 ends.
    private var userIDEnd: Int?

    /// - Parameter credentials: who may connect; `nil` for everybody. A client that offers no
    ///   method but user name and password is then accepted with any.
    package init(credentials: [SOCKSCredential]? = nil) {
        self.credentials = credentials
    }

    /// Takes bytes of the client, in pieces of any size.
    package mutating func receive(_ bytes: Span<UInt8>) -> Step {
        var step = Step()
        while step.consumed < bytes.count, state != .connecting, state != .ended {
            message.append(bytes[step.consumed])
            step.consumed += 1
            step.actions += take()
        }
        return step
    }

    /// The connection is there; says so to the client.
    ///
    /// - Parameter local: our own end of it, `nil` not to tell.
    package mutating func succeed(boundTo local: SOCKSDestination? = nil) -> [Action] {
        guard state == .connecting else { return [] }
        state = .ended
        return [.send(reply(field: 0, boundTo: local)), .done]
    }

    /// The connection could not be made; says so to the client.
    package mutating func fail(_ failure: SOCKSFailure) -> [Action] {
        guard state == .connecting else { return [] }
        return refuse(.failed(failure))
    }

    private mutating func take() -> [Action] {
        switch state {
        case .version: takeVersion()
        case .methods: takeMethods()
        case .login: takeLogin()
        case .request: takeRequest()
        case .request4: takeRequest4()
        case .connecting, .ended: []
        }
    }

    private mutating func takeVersion() -> [Action] {
        switch message[0] {
        case 5:
            version = .socks5
            state = .methods
            return []
        case 4:
            version = .socks4
            state = .request4
            return []
        default: return refuse(.notSOCKS(firstByte: message[0]), with: [])
        }
    }

    private mutating func refuse(_ refusal: SOCKSRefusal) -> [Action] {
        refuse(refusal, with: reply(field: refusal.replyField, boundTo: nil))
    }

    private mutating func refuse(_ refusal: SOCKSRefusal, with reply: [UInt8]) -> [Action] {
        state = .ended
        message = []
        return [.refuse(reply: reply, refusal)]
    }

    private mutating func connect(to host: SOCKSHost, port: UInt16) -> [Action] {
        guard port != 0 else { return refuse(.invalidPort) }
        state = .connecting
        message = []
        return [.connect(SOCKSDestination(host: host, port: port))]
    }

    /// A reply to a request; SOCKS4 knows but granted and rejected.
    private func reply(field: UInt8, boundTo local: SOCKSDestination?) -> [UInt8] {
        let nowhere = SOCKSDestination(host: .ipv4(0), port: 0)
        guard version == .socks5 else {
            let granted: [UInt8] = [0, field == 0 ? 0x5A : 0x5B]
            var bound = nowhere
            if let local, case .ipv4 = local.host { bound = local }
            let bytes = bound.socks5Bytes
            return granted + bytes.suffix(2) + bytes[1..<5]
        }
        return [5, field, 0] + (local ?? nowhere).socks5Bytes
    }
}

// SOCKS5
extension SOCKSServerMachine {
    private static let noAuthentication: UInt8 = 0
    private static let userAndPassword: UInt8 = 2

    private mutating func takeMethods() -> [Action] {
        guard message[1] > 0 else { return refuse(.noMethods, with: [5, 0xFF]) }
        guard message.count == 2 + Int(message[1]) else { return [] }
        let offered = Array(message[2...])
        message = []
        if credentials == nil, offered.contains(Self.noAuthentication) {
            state = .request
            return [.send([5, Self.noAuthentication])]
        }
        guard offered.contains(Self.userAndPassword) else {
            return refuse(.noAcceptableMethod(offered: offered), with: [5, 0xFF])
        }
        state = .login
        return [.send([5, Self.userAndPassword])]
    }

    /// RFC 1929 §2.
    private mutating func takeLogin() -> [Action] {
        guard message[0] == 1 else { return refuse(.malformedLogin, with: [1, 1]) }
        guard message.count > 2 else { return [] }
        let passwordStart = 2 + Int(message[1]) + 1
        guard message.count >= passwordStart,
            message.count == passwordStart + Int(message[passwordStart - 1])
        else { return [] }
        let user = message[2..<passwordStart - 1]
        let password = message[passwordStart...]
        guard user.allSatisfy(isVisible) else { return refuse(.invalidUserName, with: [1, 1]) }
        let isAccepted =
            credentials.map {
                SOCKSCredential.anyMatches($0, user: user, password: password)
            } ?? true
        let login = SOCKSLogin(
            user: user.text, gavePassword: !password.isEmpty,
            isVerified: credentials != nil && isAccepted)
        guard isAccepted else {
            return [.login(login)] + refuse(.wrongCredentials, with: [1, 1])
        }
        message = []
        state = .request
        return [.login(login), .send([1, 0])]
    }

    /// RFC 1928 §4.
    private mutating func takeRequest() -> [Action] {
        guard message[0] == 5 else { return refuse(.wrongVersion(message[0])) }
        guard message.count >= 5 else { return checkStartOfRequest() }
        let addressStart = message[3] == 3 ? 5 : 4
        let length =
            switch message[3] {
            case 1: 4
            case 4: 16
            default: Int(message[4])
            }
        guard message.count == addressStart + length + 2 else { return [] }
        let command = SOCKSCommand(field: message[1])
        guard command == .connect else { return refuse(.unsupportedCommand(command)) }
        let address = message[addressStart..<addressStart + length]
        let host: SOCKSHost? =
            switch message[3] {
            case 1: .ipv4(UInt32(truncatingIfNeeded: bigEndian(address)))
            case 4: SOCKSHost.ipv6(bytes: address)
            default: SOCKSHost(address)
            }
        guard let host else { return refuse(.invalidName) }
        return connect(to: host, port: UInt16(truncatingIfNeeded: bigEndian(message.suffix(2))))
    }

    private mutating func checkStartOfRequest() -> [Action] {
        if message.count == 3, message[2] != 0 { return refuse(.malformedRequest) }
        if message.count == 4, ![1, 3, 4].contains(message[3]) {
            return refuse(.unsupportedAddressType(message[3]))
        }
        return []
    }
}

// SOCKS4
extension SOCKSServerMachine {
    /// Version, command, port, address; then the user ID and, with SOCKS4a, the name, both with a
    /// NUL behind.
    private mutating func takeRequest4() -> [Action] {
        let start = 8
        guard message.count > start else { return [] }
        let isEnd = message[message.count - 1] == 0
        guard let userIDEnd else {
            guard isEnd else {
                let isTooLong = message.count - start > SOCKSCredential.byteLimit
                return isTooLong ? refuse(.invalidUserName) : []
            }
            userIDEnd = message.count - 1
            return takeUserID(message[start..<message.count - 1])
        }
        let name = message[(userIDEnd + 1)...]
        guard isEnd else { return name.count > SOCKSHost.nameLimit ? refuse(.invalidName) : [] }
        guard let host = SOCKSHost(name.dropLast()) else { return refuse(.invalidName) }
        return connect(to: host, port: port4)
    }

    private var port4: UInt16 { UInt16(truncatingIfNeeded: bigEndian(message[2..<4])) }

    private mutating func takeUserID(_ user: ArraySlice<UInt8>) -> [Action] {
        let address = UInt32(truncatingIfNeeded: bigEndian(message[4..<8]))
        // 0.0.0.x with an x says that a name follows.
        if address >> 8 == 0, address != 0 { version = .socks4a }
        guard user.allSatisfy(isVisible) else { return refuse(.invalidUserName) }
        var actions: [Action] = []
        if !user.isEmpty {
            let login = SOCKSLogin(user: user.text, gavePassword: false, isVerified: false)
            actions.append(.login(login))
        }
        guard credentials == nil else { return actions + refuse(.credentialsRequired) }
        let command = SOCKSCommand(field: message[1])
        guard command == .connect else { return actions + refuse(.unsupportedCommand(command)) }
        guard version == .socks4 else { return actions }
        return actions + connect(to: .ipv4(address), port: port4)
    }
}

private func isVisible(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != 0x7F
}
