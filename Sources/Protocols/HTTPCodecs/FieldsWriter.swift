internal import Base
internal import HTTPModel

/// Writes the fields of one head for the next hop: those that stay are copied in runs.
struct FieldsWriter {
    enum Hop {
        case request
        case response
    }

    /// How many names of Connection count; nobody has a use for more, and each is compared with
    /// every field.
    private static let namedLimit = 16

    private let fields: Fields
    private let forwarding: Forwarding
    private let hop: Hop
    // What `forwarding` says, as one bit each: they are asked for every field.
    private let replacesHost: Bool
    private let keepsFraming: Bool
    private let keepsTrailer: Bool
    private let keepsProxyFields: Bool
    private let dropsMore: Bool
    /// The names that Connection holds, but for the usual options.
    private let named: [ArraySlice<UInt8>]
    private let sendsUpgrade: Bool
    private let sendsTE: Bool
    private let joinsCookies: Bool
    /// Whether HTTP2-Settings go along with Upgrade (RFC 7540 §3.2.1).
    private let keepsSettings: Bool
    private var wroteConnection = false
    private var wroteCookies = false
    private var wroteFraming = false

    init(_ fields: Fields, _ forwarding: Forwarding, hop: Hop) {
        self.fields = fields
        self.forwarding = forwarding
        self.hop = hop
        replacesHost = hop == .request && forwarding.host != nil
        keepsFraming = forwarding.framing == .asCame
        keepsTrailer = keepsFraming || forwarding.framing == .chunked
        keepsProxyFields = forwarding.keepsProxyFields
        dropsMore = !forwarding.dropping.isEmpty
        joinsCookies = forwarding.joinsCookies
        var named: [ArraySlice<UInt8>] = []
        keepsSettings = forwarding.keepsUpgrade && fields.first(named: "http2-settings") != nil
        var hasUpgrade = false
        var hasTE = false
        for slice in fields.slices {
            switch slice.known {
            case .connection: Self.collectNames(in: fields.value(slice), into: &named)
            case .upgrade: hasUpgrade = true
            case .te: hasTE = hasTE || Self.asksForTrailers(fields.value(slice))
            default: continue
            }
        }
        self.named = named
        sendsUpgrade = hasUpgrade && forwarding.keepsUpgrade
        sendsTE = hasTE && hop == .request
    }

    /// Appends all fields and the empty line.
    mutating func write(into output: inout [UInt8]) {
        let slices = fields.slices
        // Up to where the fields were dealt with.
        var written = Int(slices.first?.nameStart ?? 0)
        for index in slices.indices where !stays(slices[index]) {
            output.append(contentsOf: fields.raw[written..<Int(slices[index].nameStart)])
            replace(slices[index], into: &output)
            written = index + 1 < slices.count ? Int(slices[index + 1].nameStart) : sectionEnd
        }
        if !slices.isEmpty { output.append(contentsOf: fields.raw[written..<sectionEnd]) }
        writeFraming(into: &output)
        writeConnection(into: &output)
        for field in forwarding.adding {
            output.append(contentsOf: field.name)
            HeadWriter.append(": ", to: &output)
            output.append(contentsOf: field.value)
            HeadWriter.append("\r\n", to: &output)
        }
        HeadWriter.append("\r\n", to: &output)
    }

    /// Where the empty line starts.
    private var sectionEnd: Int { fields.raw.count - 2 }

    /// Whether the line goes out as it came.
    @inline(__always)
    private func stays(_ slice: FieldSlice) -> Bool {
        let stays =
            switch slice.known {
            case .connection, .keepAlive, .te: false
            case .proxyConnection: keepsProxyFields
            case .proxyAuthorization: keepsProxyFields || hop != .request
            case .proxyAuthenticate: keepsProxyFields || hop != .response
            case .upgrade: sendsUpgrade
            case .host: !replacesHost
            case .cookie: !joinsCookies
            case .contentLength, .transferEncoding: keepsFraming
            case .trailer: keepsTrailer
            case .other: named.isEmpty || !isNamed(fields.name(slice)) || isSettings(slice)
            default: true
            }
        return stays && !(dropsMore && isDropped(fields.name(slice)))
    }

    private func isSettings(_ slice: FieldSlice) -> Bool {
        keepsSettings && fields.name(slice).equalsIgnoringCase("http2-settings")
    }

    private func isDropped(_ name: ArraySlice<UInt8>) -> Bool {
        forwarding.dropping.contains { name.equalsIgnoringCase($0) }
    }

    /// Writes what stands in the place of a field that does not stay.
    private mutating func replace(_ slice: FieldSlice, into output: inout [UInt8]) {
        switch slice.known {
        case .connection:
            writeConnection(into: &output)
        case .contentLength, .transferEncoding:
            writeFraming(into: &output)
        case .te where sendsTE && Self.asksForTrailers(fields.value(slice)):
            output.append(contentsOf: fields.name(slice))
            HeadWriter.append(": trailers\r\n", to: &output)
        case .cookie where !wroteCookies:
            wroteCookies = true
            output.append(contentsOf: fields.name(slice))
            HeadWriter.append(": ", to: &output)
            output.append(contentsOf: fields.all(.cookie).joined(separator: [0x3B, 0x20]))
            HeadWriter.append("\r\n", to: &output)
        case .host where hop == .request:
            guard let host = forwarding.host else { return }
            output.append(contentsOf: fields.name(slice))
            HeadWriter.append(": ", to: &output)
            output.append(contentsOf: host)
            HeadWriter.append("\r\n", to: &output)
        default: return
        }
    }

    private mutating func writeFraming(into output: inout [UInt8]) {
        guard !wroteFraming else { return }
        wroteFraming = true
        switch forwarding.framing {
        case .asCame, .untilClose: return
        case .chunked: HeadWriter.append("Transfer-Encoding: chunked\r\n", to: &output)
        case .length(let count):
            HeadWriter.append("Content-Length: ", to: &output)
            output.append(contentsOf: String(count).utf8)
            HeadWriter.append("\r\n", to: &output)
        }
    }

    private mutating func writeConnection(into output: inout [UInt8]) {
        guard !wroteConnection else { return }
        wroteConnection = true
        guard forwarding.closes || forwarding.keepsAlive || sendsUpgrade || sendsTE else { return }
        var options: [StaticString] = []
        if forwarding.closes {
            options.append("close")
        } else if forwarding.keepsAlive {
            options.append("keep-alive")
        }
        if sendsUpgrade { options.append("Upgrade") }
        if sendsUpgrade, keepsSettings { options.append("HTTP2-Settings") }
        if sendsTE { options.append("TE") }
        HeadWriter.append("Connection: ", to: &output)
        if forwarding.keepsVersion, options.count == 1, let came = fields.first(.connection),
            came.equalsIgnoringCase(options[0])
        {
            output.append(contentsOf: came)
            HeadWriter.append("\r\n", to: &output)
            return
        }
        for (index, option) in options.enumerated() {
            if index > 0 { HeadWriter.append(", ", to: &output) }
            HeadWriter.append(option, to: &output)
        }
        HeadWriter.append("\r\n", to: &output)
    }

    private static func collectNames(
        in value: ArraySlice<UInt8>, into named: inout [ArraySlice<UInt8>]
    ) {
        if value.equalsIgnoringCase("keep-alive") || value.equalsIgnoringCase("close") { return }
        for element in value.split(separator: 0x2C) {
            guard named.count < namedLimit else { return }
            let name = element.trimmingWhitespace
            // The others are fields that `stays` decides on by itself.
            if case .other = KnownField(name: name.span), !name.equalsIgnoringCase("close") {
                named.append(name)
            }
        }
    }

    private func isNamed(_ name: ArraySlice<UInt8>) -> Bool {
        named.contains { candidate in
            candidate.count == name.count
                && zip(candidate, name).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
        }
    }

    /// Whether TE lists `trailers` (RFC 9110 §10.1.4).
    private static func asksForTrailers(_ value: ArraySlice<UInt8>) -> Bool {
        value.split(separator: 0x2C).contains {
            $0.trimmingWhitespace.equalsIgnoringCase("trailers")
        }
    }
}
