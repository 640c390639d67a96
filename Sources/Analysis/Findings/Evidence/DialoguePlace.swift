package import Logins

/// Where something was seen that is no HTTP.
package struct DialoguePlace: Sendable, Hashable {
    package let protocolName: ProtocolName
    /// `nil` if it was seen at several.
    package internal(set) var port: UInt16?
    /// Whether TLS was around it, from the start or since it was switched on.
    package let isSecured: Bool

    /// What stands for the scheme of a URL, such as `smtp`, or `imap+tls` inside of TLS.
    package var scheme: String { protocolName.rawValue + (isSecured ? "+tls" : "") }
}
