internal import Glibc

/// The packet filter of a new network namespace: TCP, DNS and the first packets of QUIC are led to our
/// sockets, other datagrams are listed, counted and refused.
///
/// It is spoken to by netlink, so that no program such as `nft` is needed. A refusal is an error of
/// the very call that sends, for sockets that are connected and others alike; leading datagrams to a
/// closed port instead would tell the connected ones only, and QUIC would wait for its timer.
struct FilterRules {
    /// Whether attempts can be listed one by one, and not only counted.
    var lists = true
    /// Whether refused datagrams are answered; else they are dropped, which tells the sender too.
    var rejects = true

    /// Sets the rules, without what this kernel cannot do.
    static func set() throws(ConfinementError) -> FilterRules {
        let socket = try NetlinkSocket(protocol: Netlink.netfilter)
        defer { socket.close() }
        var rules = FilterRules()
        while true {
            do throws(ConfinementError) {
                _ = try socket.request(rules.batch(), Self.step)
                return rules
            } catch {
                if rules.lists {
                    rules.lists = false
                } else if rules.rejects {
                    rules.rejects = false
                } else {
                    throw error
                }
            }
            // What is left of the answers to the refused batch.
            var byte: UInt8 = 0
            while unsafe recv(socket.descriptor, &byte, 1, Int32(MSG_DONTWAIT)) > 0 {}
        }
    }

    private func batch() -> NetlinkWriter {
        var writer = NetlinkWriter()
        writer.message(type: 0x10, flags: 0) { Self.header(&$0, family: 0, resource: 10) }
        message(&writer, newTable) { $0.attribute(1, text: Self.table) }
        for counter in Self.counters {
            message(&writer, Self.newObject) {
                $0.attribute(1, text: Self.table)
                $0.attribute(2, text: counter)
                $0.attribute(3, bigEndian: UInt32(1))
                $0.nested(4) { _ in }
            }
        }
        // Behind connection tracking (-200) and before what changes the destination (-100).
        chain(&writer, "refuse", type: "filter", priority: -150)
        for rule in refusals() { append(rule, to: "refuse", &writer) }
        chain(&writer, "lead", type: "nat", priority: -100)
        for rule in redirections() { append(rule, to: "lead", &writer) }
        writer.message(type: 0x11, flags: Netlink.acknowledge) {
            Self.header(&$0, family: 0, resource: 10)
        }
        return writer
    }

    private func refusals() -> [FilterRuleWriter] {
        var rules = [
            Self.rule {
                $0.matchTransport(Int(IPPROTO_TCP))
                $0.accept()
            },
            Self.rule {
                $0.matchTransport(Int(IPPROTO_UDP))
                $0.matchPort(53)
                $0.accept()
            },
        ]
        for (prefix, family) in Self.inside {
            rules.append(
                Self.rule {
                    $0.matchDestination(prefix, family: family)
                    $0.accept()
                })
        }
        // A client of QUIC is told in its own words: it leaves sooner than for an error.
        rules.append(
            Self.rule {
                $0.matchTransport(Int(IPPROTO_UDP))
                $0.matchPort(443)
                $0.matchLongHeader()
                $0.count("quic")
                if lists { $0.log(prefix: "quic") }
                $0.accept()
            })
        rules.append(
            refusal("quic") {
                $0.matchTransport(Int(IPPROTO_UDP))
                $0.matchPort(443)
            })
        // What the kernel itself tells of a port that was closed before our answer came.
        for (number, unreachable) in [(IPPROTO_ICMP, UInt8(3)), (IPPROTO_ICMPV6, 1)] {
            rules.append(
                Self.rule {
                    $0.matchTransport(Int(number))
                    $0.matchControlMessage(unreachable)
                    $0.drop()
                })
        }
        rules.append(refusal("udp") { $0.matchTransport(Int(IPPROTO_UDP)) })
        rules.append(refusal("other") { _ in })
        return rules
    }

    /// What stays inside: the command's own servers, and the errors that refusals send.
    private static let inside: [(prefix: [UInt8], family: Int32)] = [
        ([127], AF_INET), (NamespaceRoutes.four, AF_INET),
        ([UInt8](repeating: 0, count: 15) + [1], AF_INET6), (NamespaceRoutes.six, AF_INET6),
    ]

    private func refusal(
        _ kind: String, _ match: (inout FilterRuleWriter) -> Void
    ) -> FilterRuleWriter {
        Self.rule {
            match(&$0)
            $0.count(kind)
            if lists { $0.log(prefix: kind) }
            // Nothing answers an error message, so what is neither TCP nor UDP is dropped.
            if rejects && kind != "other" { $0.reject() } else { $0.drop() }
        }
    }

    /// A chain of this type sees the first packet of each flow only.
    private func redirections() -> [FilterRuleWriter] {
        [
            Self.rule {
                $0.matchMark(Self.insideMark)
                $0.accept()
            },
            Self.rule {
                $0.matchTransport(Int(IPPROTO_TCP))
                $0.matchPort(53)
                $0.count("dns")
                $0.redirect(to: Self.dnsPort)
            },
            Self.rule {
                $0.matchTransport(Int(IPPROTO_TCP))
                $0.count("tcp")
                $0.redirect(to: Self.tcpPort)
            },
            Self.rule {
                $0.matchTransport(Int(IPPROTO_UDP))
                $0.matchPort(53)
                $0.count("dns")
                $0.redirect(to: Self.dnsPort)
            },
        ]
            + Self.inside.map { prefix, family in
                Self.rule {
                    $0.matchTransport(Int(IPPROTO_UDP))
                    $0.matchDestination(prefix, family: family)
                    $0.count("inside")
                    if lists { $0.log(prefix: "inside") }
                    $0.accept()
                }
            } + [
                // All else has been refused.
                Self.rule {
                    $0.matchTransport(Int(IPPROTO_UDP))
                    $0.matchPort(443)
                    $0.redirect(to: Self.quicPort)
                }
            ]
    }

    private static func rule(_ write: (inout FilterRuleWriter) -> Void) -> FilterRuleWriter {
        var rule = FilterRuleWriter()
        write(&rule)
        return rule
    }

    private func chain(
        _ writer: inout NetlinkWriter, _ name: String, type: String, priority: Int32
    ) {
        message(&writer, newChain) {
            $0.attribute(1, text: Self.table)
            $0.attribute(3, text: name)
            $0.nested(4) {
                $0.attribute(1, bigEndian: localOutput)
                $0.attribute(2, bigEndian: priority)
            }
            $0.attribute(7, text: type)
        }
    }

    private func append(
        _ rule: FilterRuleWriter, to chain: String, _ writer: inout NetlinkWriter
    ) {
        message(&writer, newRule, flags: Netlink.append) {
            $0.attribute(1, text: Self.table)
            $0.attribute(2, text: chain)
            $0.nested(4) { $0.append(rule.expressions.bytes) }
        }
    }

    private func message(
        _ writer: inout NetlinkWriter, _ type: UInt16, flags: UInt16 = 0,
        _ write: (inout NetlinkWriter) -> Void
    ) {
        writer.message(type: type, flags: Netlink.acknowledge | Netlink.create | flags) {
            Self.header(&$0, family: Self.allFamilies, resource: 0)
            write(&$0)
        }
    }

    /// The header that all of netfilter's messages have (struct nfgenmsg).
    static func header(_ writer: inout NetlinkWriter, family: UInt8, resource: UInt16) {
        writer.append(family)
        writer.append(UInt8(0))
        writer.append(resource.bigEndian)
    }

    /// Of the error that means that this kernel has no such filter.
    static let step = "set the packet filter"
    static let table = "sallyport"
    static let counters = ["tcp", "dns", "quic", "udp", "inside", "other"]
    /// Above the ports that the kernel gives out, so that nobody is likely to want them.
    static let tcpPort: UInt16 = 61501
    static let dnsPort: UInt16 = 61553
    static let quicPort: UInt16 = 61543
    /// The mark of sockets that reach the command's own servers.
    static let insideMark: UInt32 = 0x5A11
    static let logGroup: UInt16 = 443
    /// A whole packet, where the network is an ordinary one.
    static let loggedBytes: UInt32 = 2048

    /// `inet`: IPv4 and IPv6.
    static let allFamilies: UInt8 = 1
    /// The subsystem in the upper byte, the message in the lower.
    private let newTable: UInt16 = 10 << 8
    private let newChain: UInt16 = 10 << 8 | 3
    private let newRule: UInt16 = 10 << 8 | 6
    static let newObject: UInt16 = 10 << 8 | 18
    static let getObject: UInt16 = 10 << 8 | 19
    private let localOutput: UInt32 = 3
}
