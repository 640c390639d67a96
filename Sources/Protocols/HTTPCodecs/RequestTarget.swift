internal import Base
package import HTTPModel

/// What a request is for, in one of the four forms (RFC 9112 §3.2).
package enum RequestTarget: Sendable, Equatable {
    package enum Scheme: String, Sendable {
        case http
        case https

        package var defaultPort: UInt16 { self == .http ? 80 : 443 }
    }

    /// A path with its query, as it came; the host is in the Host field.
    case origin(path: ArraySlice<UInt8>)
    /// A whole URL, as proxies get it: the host in lower case and without brackets, the port or
    /// the scheme's, and the path and query as an origin gets them (`/` if there is none, `*` for
    /// OPTIONS). Userinfo is left out and only told of.
    case absolute(
        scheme: Scheme, host: String, port: UInt16, path: [UInt8], hasUserinfo: Bool)
    /// What CONNECT names: the host in lower case and without brackets.
    case authority(host: String, port: UInt16)
    /// The origin as a whole, for OPTIONS.
    case asterisk

    /// Reads the target of a request; CONNECT has the authority form and no other method has.
    ///
    /// - Throws: `invalidTarget`, or `unsupportedScheme`.
    package init(_ head: RequestHead) throws(HTTP1Violation) {
        let target = head.target
        if head.knownMethod == .connect {
            guard let (host, port) = HostField.parse(target), let port else {
                throw .invalidTarget
            }
            self = .authority(host: host, port: port)
        } else if target.first == 0x2F {
            self = .origin(path: target)
        } else if target.elementsEqual("*".utf8) {
            guard Self.isOptions(head.method) else { throw .invalidTarget }
            self = .asterisk
        } else {
            self = try Self.absolute(target, isOptions: Self.isOptions(head.method))
        }
    }

    private static func isOptions(_ method: ArraySlice<UInt8>) -> Bool {
        method.elementsEqual("OPTIONS".utf8)
    }

    private static func absolute(
        _ target: ArraySlice<UInt8>, isOptions: Bool
    ) throws(HTTP1Violation) -> RequestTarget {
        let (scheme, rest) = try scheme(of: target)
        let authorityEnd = rest.firstIndex { $0 == 0x2F || $0 == 0x3F } ?? rest.endIndex
        var authority = rest[..<authorityEnd]
        var hasUserinfo = false
        if let at = authority.firstIndex(of: 0x40) {
            guard isUserinfo(authority[..<at]) else { throw .invalidTarget }
            hasUserinfo = true
            authority = authority[(at + 1)...]
        }
        // A second `@` is no part of a host, so that what follows it cannot be taken for one.
        guard let (host, port) = HostField.parse(authority) else { throw .invalidTarget }
        var path = Array(rest[authorityEnd...])
        if path.isEmpty, isOptions {
            path = [0x2A]
        } else if path.first != 0x2F {
            path.insert(0x2F, at: 0)
        }
        return .absolute(
            scheme: scheme, host: host, port: port ?? scheme.defaultPort, path: path,
            hasUserinfo: hasUserinfo)
    }

    private static func scheme(
        of target: ArraySlice<UInt8>
    ) throws(HTTP1Violation) -> (Scheme, rest: ArraySlice<UInt8>) {
        if target.prefix(7).equalsIgnoringCase("http://") { return (.http, target.dropFirst(7)) }
        if target.prefix(8).equalsIgnoringCase("https://") { return (.https, target.dropFirst(8)) }
        guard let colon = target.firstIndex(of: 0x3A), isScheme(target[..<colon]),
            target[colon...].starts(with: "://".utf8)
        else { throw .invalidTarget }
        throw .unsupportedScheme
    }

    private static func isScheme(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.first?.isASCIILetter == true else { return false }
        return text.allSatisfy {
            $0.isASCIILetter || $0.isASCIIDigit || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E
        }
    }

    /// RFC 3986 §3.2.1: visible ASCII that opens no other part of a URL.
    private static func isUserinfo(_ text: ArraySlice<UInt8>) -> Bool {
        text.allSatisfy { $0 > 0x20 && $0 < 0x7F && !unsafeInUserinfo.contains($0) }
    }

    private static let unsafeInUserinfo = [UInt8]("\"#<>[\\]^`{|}".utf8)
}
