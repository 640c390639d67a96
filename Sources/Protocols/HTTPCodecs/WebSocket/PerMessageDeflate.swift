internal import Base
internal import HTTPModel

/// What a server agreed to with the extension permessage-deflate (RFC 7692 §7).
package struct PerMessageDeflate: Sendable, Equatable {
    /// Whether the server, or the client, packs each message without those before it.
    package var serverResets: Bool
    package var clientResets: Bool
    /// The logarithm of the LZ77 window that the server, or the client, packs with.
    package var serverWindowBits: UInt8 = 15
    package var clientWindowBits: UInt8 = 15

    package init(serverResets: Bool = false, clientResets: Bool = false) {
        self.serverResets = serverResets
        self.clientResets = clientResets
    }

    /// Reads the value of a response's Sec-WebSocket-Extensions; several fields are joined with
    /// commas (RFC 6455 §9.1).
    ///
    /// - Returns: `nil` if the extension is not there, is there twice, or has parameters that a
    ///   client must refuse (RFC 7692 §7.1).
    package init?(responseField value: ArraySlice<UInt8>) {
        var found: PerMessageDeflate?
        for element in Self.elements(of: value) where element.isDeflate {
            guard found == nil, let agreed = Self.read(element.parameters) else { return nil }
            found = agreed.values
        }
        guard let found else { return nil }
        self = found
    }

    /// One extension in a field's value.
    struct Element {
        let text: ArraySlice<UInt8>
        let name: ArraySlice<UInt8>
        let parameters: ArraySlice<ArraySlice<UInt8>>

        var isDeflate: Bool { name.equalsIgnoringCase("permessage-deflate") }
    }

    static func elements(of value: ArraySlice<UInt8>) -> [Element] {
        split(value, at: comma).map { text in
            let parts = split(text, at: semicolon).map(\.trimmingWhitespace)
            return Element(
                text: text.trimmingWhitespace, name: parts.first ?? [],
                parameters: parts.dropFirst())
        }
    }

    /// - Parameter isOffer: whether a client says it, whose window may go without a value.
    /// - Returns: what the parameters say, and which there are; `nil` if that must be refused.
    static func read(
        _ parameters: ArraySlice<ArraySlice<UInt8>>, isOffer: Bool = false
    ) -> (values: PerMessageDeflate, named: Set<Parameter>)? {
        var values = PerMessageDeflate()
        var named: Set<Parameter> = []
        for text in parameters {
            let mark = text.firstIndex(of: equals) ?? text.endIndex
            let parameter = Parameter(name: text[..<mark].trimmingWhitespace)
            guard let parameter, named.insert(parameter).inserted else { return nil }
            let value = mark == text.endIndex ? nil : unquoted(text[(mark + 1)...])
            if isOffer, parameter == .clientWindow, value == nil { continue }
            guard values.take(parameter, value) else { return nil }
        }
        return (values, named)
    }

    private mutating func take(_ parameter: Parameter, _ value: ArraySlice<UInt8>?) -> Bool {
        switch parameter {
        case .serverReset:
            serverResets = true
            return value == nil
        case .clientReset:
            clientResets = true
            return value == nil
        case .serverWindow, .clientWindow:
            guard let bits = value.flatMap(Self.windowBits) else { return false }
            if parameter == .serverWindow {
                serverWindowBits = bits
            } else {
                clientWindowBits = bits
            }
            return true
        }
    }

    /// A decimal number from 8 to 15 without leading zeros.
    private static func windowBits(_ text: ArraySlice<UInt8>) -> UInt8? {
        guard let first = text.first, let last = text.last, text.allSatisfy(\.isASCIIDigit) else {
            return nil
        }
        switch text.count {
        case 1 where first >= 0x38: return first &- 0x30
        case 2 where first == 0x31 && last <= 0x35: return 10 &+ last &- 0x30
        default: return nil
        }
    }

    /// Parts of `text` between separators that stand outside of quotes.
    private static func split(_ text: ArraySlice<UInt8>, at separator: UInt8) -> [ArraySlice<UInt8>]
    {
        var isQuoted = false
        var isEscaped = false
        return text.split(omittingEmptySubsequences: false) { byte in
            defer { isEscaped = isQuoted && byte == backslash && !isEscaped }
            if byte == quote, !isEscaped { isQuoted.toggle() }
            return byte == separator && !isQuoted
        }
    }

    /// The value, out of its quotes if it stands in some; what they hold must be a token, which
    /// needs no escapes.
    private static func unquoted(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let value = text.trimmingWhitespace
        guard value.count >= 2, value.first == quote, value.last == quote else { return value }
        return value.dropFirst().dropLast()
    }
}

extension PerMessageDeflate {
    /// RFC 7692 §7.1.
    enum Parameter {
        case serverReset
        case clientReset
        case serverWindow
        case clientWindow

        init?(name: ArraySlice<UInt8>) {
            if name.equalsIgnoringCase("server_no_context_takeover") {
                self = .serverReset
            } else if name.equalsIgnoringCase("client_no_context_takeover") {
                self = .clientReset
            } else if name.equalsIgnoringCase("server_max_window_bits") {
                self = .serverWindow
            } else if name.equalsIgnoringCase("client_max_window_bits") {
                self = .clientWindow
            } else {
                return nil
            }
        }
    }
}

private let comma: UInt8 = 0x2C
private let semicolon: UInt8 = 0x3B
private let equals: UInt8 = 0x3D
private let quote: UInt8 = 0x22
private let backslash: UInt8 = 0x5C
