/// A record of a name (RFC 1035 §4.1.3).
package struct DNSRecord: Sendable, Equatable {
    package var name: DNSName
    package var type: DNSType
    package var recordClass: UInt16
    /// In seconds.
    package var lifetime: UInt32
    package var data: Data

    /// What a record says; of other classes than the Internet's always `other`.
    package enum Data: Sendable, Equatable {
        /// A: 4 bytes. AAAA: 16 bytes.
        case address([UInt8])
        /// CNAME, PTR: another name.
        case name(DNSName)
        /// SVCB, HTTPS.
        case service(DNSServiceBinding)
        case other([UInt8])
    }

    package init(
        _ name: DNSName, _ type: DNSType, recordClass: UInt16 = DNSClass.internet,
        lifetime: UInt32, _ data: Data
    ) {
        self.name = name
        self.type = type
        self.recordClass = recordClass
        self.lifetime = lifetime
        self.data = data
    }
}

/// How a service is reached, before anyone connects to it (RFC 9460 §2.2).
package struct DNSServiceBinding: Sendable, Equatable {
    /// 0 if the target is an alias.
    package var priority: UInt16
    package var target: DNSName
    /// In ascending order of their keys.
    package var parameters: [Parameter]

    package struct Parameter: Sendable, Equatable {
        package let key: UInt16
        package let value: [UInt8]

        package init(key: UInt16, value: [UInt8]) {
            self.key = key
            self.value = value
        }
    }

    /// IANA, Service Parameter Keys.
    package enum Key {
        package static let alpn: UInt16 = 1
        package static let port: UInt16 = 3
        package static let ipv4Hint: UInt16 = 4
        package static let encryptedHello: UInt16 = 5
        package static let ipv6Hint: UInt16 = 6
    }

    package init(priority: UInt16, target: DNSName, parameters: [Parameter] = []) {
        self.priority = priority
        self.target = target
        self.parameters = parameters
    }

    /// The value of a parameter, `nil` if it is not there.
    package func value(_ key: UInt16) -> [UInt8]? {
        parameters.first { $0.key == key }?.value
    }

    /// The application protocols (RFC 9460 §7.1.1); `nil` if none are named or the list is cut.
    package var protocolNames: [[UInt8]]? {
        guard var rest = value(Key.alpn)?[...] else { return nil }
        var names: [[UInt8]] = []
        while let length = rest.first {
            rest = rest.dropFirst()
            guard length > 0, rest.count >= Int(length) else { return nil }
            names.append([UInt8](rest.prefix(Int(length))))
            rest = rest.dropFirst(Int(length))
        }
        return names.isEmpty ? nil : names
    }
}
