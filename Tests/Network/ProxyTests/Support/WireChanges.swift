import Base
import Negotiation
import Origins
import Testing

@testable import Proxy

extension PlanChange {
    /// Several changes, one after the other.
    static func all(_ changes: PlanChange...) -> PlanChange {
        PlanChange { plan in for change in changes { change.apply(&plan) } }
    }

    static func rules(_ change: @escaping (inout DispositionRules) -> Void) -> PlanChange {
        PlanChange { change(&$0.policy.disposition) }
    }

    static func blocks(_ patterns: String...) -> PlanChange {
        rules { $0.blocked = patterns.compactMap(HostPattern.init) }
    }

    static func passes(_ patterns: String...) -> PlanChange {
        rules { $0.passed = patterns.compactMap(HostPattern.init) }
    }

    static func intercepts(_ patterns: String...) -> PlanChange {
        rules { $0.intercepted = patterns.compactMap(HostPattern.init) }
    }

    /// Clients have to give one of these.
    static func logins(_ pairs: (user: String, password: String)...) -> PlanChange {
        PlanChange { plan in
            plan.wiring.ports[0].credentials = pairs.compactMap {
                SOCKSCredential(user: $0.user, password: $0.password)
            }
        }
    }

    static func upstream(
        _ scheme: UpstreamProxy.Scheme, _ port: UInt16,
        for patterns: [String] = [], login: (user: String, password: String)? = nil
    ) -> PlanChange {
        PlanChange { plan in
            var upstream = UpstreamProxy(
                scheme, host: "127.0.0.1", port: port, hosts: patterns.compactMap(HostPattern.init))
            upstream.credential = login.flatMap {
                SOCKSCredential(user: $0.user, password: $0.password)
            }
            plan.policy.upstreams.append(upstream)
        }
    }
}

/// What a client of SOCKS says and is told (RFC 1928, RFC 1929), with nothing of the product's in it.
enum SOCKS {
    enum Host {
        case four([UInt8])
        case six([UInt8])
        case name(String)

        var bytes: [UInt8] {
            switch self {
            case .four(let bytes): [1] + bytes
            case .six(let bytes): [4] + bytes
            case .name(let name): [3, UInt8(name.utf8.count)] + name.utf8
            }
        }
    }

    static let loopback = Host.four([127, 0, 0, 1])
    static let loopback6 = Host.six([UInt8](repeating: 0, count: 15) + [1])

    static func request5(_ host: Host, _ port: UInt16, command: UInt8 = 1) -> [UInt8] {
        [5, command, 0] + host.bytes + port.bytes
    }

    static func request4(_ address: [UInt8], _ port: UInt16, user: String = "me") -> [UInt8] {
        [4, 1] + port.bytes + address + user.utf8 + [0]
    }

    static func request4a(_ name: String, _ port: UInt16, user: String = "me") -> [UInt8] {
        request4([0, 0, 0, 1], port, user: user) + name.utf8 + [0]
    }

    static func login(_ user: String, _ password: String) -> [UInt8] {
        [1, UInt8(user.utf8.count)] + user.utf8 + [UInt8(password.utf8.count)] + password.utf8
    }
}

extension UInt16 {
    var bytes: [UInt8] { [UInt8(self >> 8), UInt8(truncatingIfNeeded: self)] }
}

extension Wire {
    /// The reply to a request of SOCKS5, through its address.
    func readReply5() throws -> UInt8 {
        let head = try read(4)
        try check(head[0] == 5 && head[2] == 0, "no reply of SOCKS5: \(head)")
        switch head[3] {
        case 1: _ = try read(6)
        case 4: _ = try read(18)
        default: throw WireFailure("an address of kind \(head[3])")
        }
        return head[1]
    }

    /// - Returns: the reply's code, 90 for success.
    func readReply4() throws -> UInt8 {
        let reply = try read(8)
        try check(reply[0] == 0, "no reply of SOCKS4: \(reply)")
        return reply[1]
    }

    /// Asks for a tunnel without a password, and expects to get it.
    func tunnelBySOCKS(to host: SOCKS.Host, _ port: UInt16) throws {
        try send([5, 1, 0])
        let choice = try read(2)
        try check(choice == [5, 0], "\(choice)")
        try send(SOCKS.request5(host, port))
        let reply = try readReply5()
        try check(reply == 0, "refused with \(reply)")
    }
}
