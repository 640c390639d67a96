/// A message to or from a name server (RFC 1035 §4.1, RFC 6891).
package struct DNSMessage: Sendable, Equatable {
    package var id: UInt16 = 0
    package var flags: DNSFlags = []
    /// 0 for a query, in four bits.
    package var operation: UInt8 = 0
    /// In twelve bits, of which eight are in the options, if there are any.
    package var code = DNSResponseCode.noError
    package var questions: [DNSQuestion] = []
    package var answers: [DNSRecord] = []
    package var authorities: [DNSRecord] = []
    /// Without the record of the options.
    package var additionals: [DNSRecord] = []
    /// `nil` if the sender does not speak EDNS.
    package var options: DNSOptions?

    package init() {}

    /// An answer to a query: its id, its questions and what else must be repeated.
    ///
    /// The options say no more than that EDNS is spoken; those of the query are left out.
    package static func response(
        to query: DNSMessage, _ code: DNSResponseCode, answers: [DNSRecord] = []
    ) -> DNSMessage {
        var response = DNSMessage()
        response.id = query.id
        response.flags = query.flags.intersection([.recursionDesired, .checkingDisabled])
        response.flags.formUnion([.response, .recursionAvailable])
        response.operation = query.operation
        response.code = code
        response.questions = query.questions
        response.answers = answers
        response.options = query.options.map { DNSOptions(dnssecOK: $0.dnssecOK) }
        return response
    }
}

/// The flags of RFC 1035 §4.1.1 and RFC 4035 §3.
package struct DNSFlags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let response = DNSFlags(rawValue: 0x8000)
    package static let authoritative = DNSFlags(rawValue: 0x0400)
    package static let truncated = DNSFlags(rawValue: 0x0200)
    package static let recursionDesired = DNSFlags(rawValue: 0x0100)
    package static let recursionAvailable = DNSFlags(rawValue: 0x0080)
    package static let authenticData = DNSFlags(rawValue: 0x0020)
    package static let checkingDisabled = DNSFlags(rawValue: 0x0010)

    /// The bits that are neither operation nor code.
    static let mask: UInt16 = 0x87F0
}

/// What a response says of its question (IANA, DNS RCODEs).
package struct DNSResponseCode: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let noError = DNSResponseCode(rawValue: 0)
    package static let formatError = DNSResponseCode(rawValue: 1)
    package static let serverFailure = DNSResponseCode(rawValue: 2)
    package static let noSuchName = DNSResponseCode(rawValue: 3)
    package static let notImplemented = DNSResponseCode(rawValue: 4)
    package static let refused = DNSResponseCode(rawValue: 5)
    /// The version of the options is not known (RFC 6891 §6.1.3).
    package static let badVersion = DNSResponseCode(rawValue: 16)
}

/// What is asked for, in which class.
package struct DNSQuestion: Sendable, Hashable {
    package var name: DNSName
    package var type: DNSType
    package var recordClass: UInt16

    package init(_ name: DNSName, _ type: DNSType, recordClass: UInt16 = DNSClass.internet) {
        self.name = name
        self.type = type
        self.recordClass = recordClass
    }
}

/// IANA, DNS CLASSes.
package enum DNSClass {
    package static let internet: UInt16 = 1
    /// In questions only.
    package static let any: UInt16 = 255
}

/// The type of a record (IANA, Resource Record TYPEs).
package struct DNSType: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let a = DNSType(rawValue: 1)
    package static let cname = DNSType(rawValue: 5)
    package static let ptr = DNSType(rawValue: 12)
    package static let txt = DNSType(rawValue: 16)
    package static let aaaa = DNSType(rawValue: 28)
    package static let opt = DNSType(rawValue: 41)
    package static let svcb = DNSType(rawValue: 64)
    package static let https = DNSType(rawValue: 65)

    /// The name, such as `HTTPS`, or `TYPE257` (RFC 3597 §5).
    package var description: String {
        switch self {
        case .a: "A"
        case .cname: "CNAME"
        case .ptr: "PTR"
        case .txt: "TXT"
        case .aaaa: "AAAA"
        case .opt: "OPT"
        case .svcb: "SVCB"
        case .https: "HTTPS"
        default: "TYPE\(rawValue)"
        }
    }
}

/// The options of a message (RFC 6891 §6.1.2).
package struct DNSOptions: Sendable, Equatable {
    /// The longest datagram that the sender takes, in bytes.
    package var payloadSize: UInt16
    package var version: UInt8
    /// Whether signatures are wanted (RFC 3225 §3).
    package var dnssecOK: Bool
    /// The options as they came.
    package var raw: [UInt8]

    /// What passes every path without fragments, in bytes; what the field agreed on in 2020.
    package static let usualPayloadSize: UInt16 = 1232

    package init(
        payloadSize: UInt16 = usualPayloadSize, version: UInt8 = 0, dnssecOK: Bool = false,
        raw: [UInt8] = []
    ) {
        self.payloadSize = payloadSize
        self.version = version
        self.dnssecOK = dnssecOK
        self.raw = raw
    }
}
