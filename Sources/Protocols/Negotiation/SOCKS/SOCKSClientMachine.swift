internal import Base

/// The client's side of SOCKS5 (RFC 1928, RFC 1929), for a proxy upstream.
///
/// Send `start`, then give it what the proxy answers until it says that the tunnel is there.
package struct SOCKSClientMachine: Sendable {
    package struct Step: Sendable, Equatable {
        /// How many of the bytes were understood; the rest is the tunnel's.
        package var consumed = 0
        package var send: [UInt8] = []
        /// Whether the tunnel is there.
        package var isDone = false
    }

    private enum State {
        case method
        case login
        case reply
        case done
    }

    private let destination: SOCKSDestination
    private let credential: SOCKSCredential?
    private var state = State.method
    /// What there is of the current answer; 262 bytes at most.
    private var message: [UInt8] = []

    /// - Parameter credential: given only if the proxy asks for one; `nil` to offer none.
    package init(to destination: SOCKSDestination, credential: SOCKSCredential? = nil) {
        self.destination = destination
        self.credential = credential
    }

    /// What to send first.
    package var start: [UInt8] {
        credential == nil ? [5, 1, 0] : [5, 2, 0, 2]
    }

    /// Takes bytes of the proxy, in pieces of any size.
    package mutating func receive(_ bytes: Span<UInt8>) throws(SOCKSViolation) -> Step {
        var step = Step()
        while step.consumed < bytes.count, state != .done {
            message.append(bytes[step.consumed])
            step.consumed += 1
            switch state {
            case .method: step.send += try takeMethod()
            case .login: step.send += try takeLoginAnswer()
            case .reply: try takeReply()
            case .done: break
            }
        }
        step.isDone = state == .done
        return step
    }

    private mutating func takeMethod() throws(SOCKSViolation) -> [UInt8] {
        guard message[0] == 5 else { throw .notSOCKS5(firstByte: message[0]) }
        guard message.count == 2 else { return [] }
        let method = message[1]
        message = []
        switch (method, credential) {
        case (0, _):
            state = .reply
            return request
        case (2, let credential?):
            state = .login
            return [1, UInt8(credential.user.count)] + credential.user
                + [UInt8(credential.password.count)] + credential.password
        case (0xFF, _): throw .noAcceptableMethod
        default: throw .methodNotOffered(method)
        }
    }

    private mutating func takeLoginAnswer() throws(SOCKSViolation) -> [UInt8] {
        guard message[0] == 1 else { throw .malformedLoginAnswer(message[0]) }
        guard message.count == 2 else { return [] }
        guard message[1] == 0 else { throw .loginRefused(status: message[1]) }
        message = []
        state = .reply
        return request
    }

    private var request: [UInt8] { [5, 1, 0] + destination.socks5Bytes }

    /// A failure is told at once: some proxies close before the reply is whole.
    private mutating func takeReply() throws(SOCKSViolation) {
        guard message[0] == 5 else { throw .notSOCKS5(firstByte: message[0]) }
        guard message.count >= 2 else { return }
        guard message[1] == 0 else { throw .refused(reply: message[1]) }
        guard message.count >= 3 else { return }
        guard message[2] == 0 else { throw .malformedReply }
        guard message.count >= 4 else { return }
        guard [1, 3, 4].contains(message[3]) else { throw .unknownAddressType(message[3]) }
        guard message.count >= 5 else { return }
        let length =
            switch message[3] {
            case 1: 4 + 4 + 2
            case 4: 4 + 16 + 2
            default: 5 + Int(message[4]) + 2
            }
        if message.count == length {
            message = []
            state = .done
        }
    }
}
