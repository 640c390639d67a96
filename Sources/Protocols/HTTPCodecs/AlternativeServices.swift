internal import Base
internal import HTTPModel

/// What an Alt-Svc field says: where else the same content is (RFC 7838 §3).
///
/// It is stricter than some senders: authorities must be quoted, as the RFC has them. What cannot
/// be read here, another recipient may still read: see `withoutHTTP3(malformed:)`.
package struct AlternativeServices: Sendable, Equatable {
    /// The alternatives in their order; `clear`, which forgets all that were told before, has none.
    package let services: [Service]
    package let isClear: Bool

    package struct Service: Sendable, Equatable {
        /// The ALPN name, percent-decoded, such as `h3`.
        package let protocolName: [UInt8]
        /// `host:port`, or `:port` for the same host; not judged.
        package let authority: [UInt8]
        /// In their order, the values without quotes; names are in lower case.
        package let parameters: [Parameter]
        /// The alternative as it came, with its parameters.
        package let raw: [UInt8]

        /// Whether it is reached over UDP, where we cannot follow.
        ///
        /// HTTP/3 and its drafts (`h3-29`, `h3-Q050`), the drafts' older name (`hq`), and Google's
        /// QUIC before there was a standard.
        package var isHTTP3: Bool { AlternativeServices.isHTTP3(protocolName[...]) }
    }

    package struct Parameter: Sendable, Equatable {
        package let name: [UInt8]
        package let value: [UInt8]
    }

    /// Reads one field's value.
    package init(_ value: ArraySlice<UInt8>) throws(AlternativeServicesViolation) {
        // The RFC has it in lower case only.
        isClear = value.trimmingWhitespace.elementsEqual("clear".utf8)
        var reader = AlternativeServicesReader(value)
        services = isClear ? [] : try reader.readList()
    }

    private static func isHTTP3(_ protocolName: ArraySlice<UInt8>) -> Bool {
        for name in ["h3", "hq", "quic"] as [StaticString] {
            let rest = protocolName.dropFirst(name.utf8CodeUnitCount)
            guard protocolName.dropLast(rest.count).equalsIgnoringCase(name) else { continue }
            if rest.isEmpty || rest.first == 0x2D { return true }
        }
        return false
    }

    /// What a value that cannot be read holds besides HTTP/3: another recipient may be able to.
    ///
    /// Each comma ends an element, also one in what may have been meant as a quoted string.
    ///
    /// - Returns: `nil` for `rest` if nothing else remains.
    package static func withoutHTTP3(
        malformed value: ArraySlice<UInt8>
    ) -> (rest: [UInt8]?, advertisesHTTP3: Bool) {
        let elements = value.split(separator: 0x2C, omittingEmptySubsequences: false)
        let others = elements.filter { element in
            let name = element.prefix { $0 != 0x3D && $0 != 0x3B }.filter {
                !$0.isBlank && $0 != 0x22
            }
            return !isHTTP3(PercentCoding.decoded(name[...])[...])
        }
        guard others.count < elements.count else { return ([UInt8](value), false) }
        let rest = others.filter { !$0.trimmingWhitespace.isEmpty }
        // A blank at either end would make the field malformed in HTTP/2 (RFC 9113 §8.2.1).
        let joined = [UInt8](rest.joined(separator: [0x2C]))[...].trimmingWhitespace
        return (rest.isEmpty ? nil : Array(joined), true)
    }

    /// Whether one of them is HTTP/3, or was on the way to it.
    package var advertisesHTTP3: Bool { services.contains(where: \.isHTTP3) }

    /// The value without HTTP/3, the others as they came; `nil` if none remains.
    ///
    /// `clear` stays, since it offers nothing.
    package var withoutHTTP3: [UInt8]? {
        if isClear { return [UInt8]("clear".utf8) }
        let others = services.filter { !$0.isHTTP3 }.map(\.raw)
        return others.isEmpty ? nil : [UInt8](others.joined(separator: [0x2C, space]))
    }
}

/// Why a value is no list of alternative services.
package enum AlternativeServicesViolation: String, Error, Sendable, CaseIterable {
    /// There is no alternative in it.
    case empty
    /// Something else stands where a protocol's name must.
    case protocolName = "protocol-name"
    /// A percent sign without two hexadecimal digits.
    case percentEncoding = "percent-encoding"
    /// The authority is not quoted, or missing.
    case authority
    /// A quoted string does not end, or holds a control character.
    case quotedString = "quoted-string"
    /// A parameter without a name or a value.
    case parameter
    /// Something stands between two alternatives that is no comma.
    case separator

    /// A stable word that programs may compare.
    package var code: String { rawValue }

    /// What is wrong, in words.
    package var detail: String {
        switch self {
        case .empty: "an Alt-Svc field without alternatives"
        case .protocolName: "an alternative service without a protocol"
        case .percentEncoding: "a protocol's name with a malformed percent-encoding"
        case .authority: "an alternative service whose authority is not quoted"
        case .quotedString: "a quoted string in Alt-Svc that does not end"
        case .parameter: "a malformed parameter of an alternative service"
        case .separator: "alternative services that no comma separates"
        }
    }
}
